"""Second models that are trained here."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from fieldcheck.accuracy.auxiliary import AUGMENTATIONS, Member, train_member
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.auxiliary.training.augmentations import TABLE, augmented
from fieldcheck.core.errors import InputsError


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.images))
    learn, check = order[:900], order[900:1_500]
    return data.images[learn], data.target[learn], data.images[check], data.target[check]


def accuracy(member, inputs, labels):
    probabilities = member(inputs)
    assert probabilities.shape == (len(inputs), 10)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    return (probabilities.argmax(axis=1) == labels).mean()


def test_images(digits) -> None:
    images, labels, others, truth = digits
    told = []
    member = train_member(
        images, labels, 10, augmentations=("shift", "noise"), seed=1, epochs=12, progress=lambda *at: told.append(at)
    )
    # Without training, one in ten is right.
    assert accuracy(member, others, truth) > 0.8
    assert told == [(epoch, 12) for epoch in range(1, 13)]
    assert member.notes[0].startswith(
        "member: convolutional network trained on 810 reference items, augmentations: shift, noise; "
    )
    moved = np.roll(others, 1, axis=2)
    plain = train_member(images, labels, 10, augmentations=(), seed=1, epochs=12)
    assert accuracy(member, moved, truth) > accuracy(plain, moved, truth) + 0.1


@pytest.mark.parametrize(
    "form", [lambda x: x[:, None], lambda x: x[..., None], lambda x: np.repeat(x[..., None], 3, 3)]
)
def test_channels_may_be_anywhere(digits, form) -> None:
    images, labels, others, _ = digits
    one = train_member(form(images[:100]), labels[:100], 10, seed=2, epochs=1)(form(others[:20]))
    if form(images[:1]).size == 64:
        np.testing.assert_array_equal(one, train_member(images[:100], labels[:100], 10, seed=2, epochs=1)(others[:20]))
    assert one.shape == (20, 10)


def test_rows(digits) -> None:
    images, labels, others, truth = digits
    member = train_member(images.reshape(-1, 64), labels, 10, seed=1, epochs=20)
    assert accuracy(member, others.reshape(-1, 64), truth) > 0.9
    assert "perceptron" in member.notes[0]
    assert "augmentations: noise, occlusion;" in member.notes[0]


def test_texts() -> None:
    rng = np.random.default_rng(3)
    words = (["good", "fine", "nice", "great"], ["bad", "poor", "awful", "dull"])
    fill = ["film", "plot", "the", "a", "was", "very"]
    labels = rng.integers(0, 2, 300)
    texts = [" ".join([*rng.choice(fill, 5), *rng.choice(words[label], 2)]) for label in labels]
    member = train_member(texts, labels, ("good", "bad", "never seen"), seed=0)
    probabilities = member(["the plot was nice", "a very dull film", ""])
    assert probabilities.shape == (3, 3)
    assert list(probabilities[:2].argmax(axis=1)) == [0, 1]
    assert member.held_out_accuracy > 0.9
    assert "hashed words" in member.notes[0]
    assert "augmentations: occlusion;" in member.notes[0]


@pytest.mark.parametrize("form", [lambda x: x, lambda x: x.reshape(-1, 64), lambda x: [str(one) for one in x]])
def test_same_seed_same_member(digits, form) -> None:
    images, labels, others, _ = digits
    first, again, other = (
        train_member(form(images[:90]), labels[:90], 10, seed=seed, epochs=2)(form(others[:9])) for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_its_probabilities_are_what_the_variable_needs(digits) -> None:
    images, labels, others, truth = digits
    probabilities = train_member(images.reshape(-1, 64), labels, 10, seed=1)(others.reshape(-1, 64))
    wrong = (truth + 1) % 10
    fitted = Member().fit(None, seed=0)
    right, false = (fitted.values(Trace("classification", said, member=probabilities)) for said in (truth, wrong))
    assert np.median(false) - np.median(right) > 5


def test_images_of_another_form_are_refused(digits) -> None:
    member = train_member(digits[0][:20], digits[1][:20], 10, seed=0, epochs=1)
    with pytest.raises(InputsError, match="trained on"):
        member(np.zeros((2, 9, 9)))


def test_tiny_images_and_two_items() -> None:
    member = train_member(np.array([[[0, 1]], [[1, 0]]], np.uint8), np.array([0, 1]), 2, seed=0, epochs=1)
    assert np.isfinite(member(np.zeros((3, 1, 2), np.uint8))).all()


@pytest.mark.parametrize(
    ("inputs", "labels", "classes", "augmentations"),
    [
        (np.zeros((4, 2)), np.zeros(3, int), 2, ()),
        (np.zeros((4, 2)), np.zeros(4, int), 2, ("rotate",)),
        (np.zeros((4, 2)), np.full(4, 2), 2, ()),
        (np.zeros((4, 2)), np.full(4, -1), 2, ()),
        (np.zeros((4, 2)), np.full(4, 0.5), 2, ()),
        (np.zeros((1, 2)), np.zeros(1, int), 2, ()),
        (np.zeros(4), np.zeros(4, int), 2, ()),
    ],
)
def test_what_cannot_be_trained_on_is_refused(inputs, labels, classes, augmentations) -> None:
    with pytest.raises(InputsError):
        train_member(inputs, labels, classes, augmentations=augmentations, seed=0)


def test_every_augmentation_is_there() -> None:
    assert set(TABLE) == set(AUGMENTATIONS)


def images(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_an_augmentation_meets_about_half(name) -> None:
    given = images(400, 3, 12, 9)
    seen = augmented(torch, given, [name], torch.Generator().manual_seed(1))
    assert seen.shape == given.shape
    assert torch.isfinite(seen).all()
    met = (seen != given).flatten(1).any(dim=1).float().mean()
    # Binomial(400, 1/2) leaves .35 to .62 with a probability below 1e-6; a shift by nothing, one in nine, changes none.
    assert 0.32 < met < 0.62


def test_no_augmentation_changes_nothing() -> None:
    given = images(5, 1, 4, 4)
    assert torch.equal(augmented(torch, given, [], torch.Generator()), given)


def test_augmentations_by_hand() -> None:
    ramp = torch.arange(8.0).repeat(8, 1)[None, None] / 8
    noise = torch.Generator().manual_seed(2)
    assert torch.equal(TABLE["flip"](torch, ramp, noise), ramp.flip(3))
    moved = {tuple(TABLE["shift"](torch, ramp, noise)[0, 0, 0].tolist()) for _ in range(50)}
    row = ramp[0, 0, 0]
    assert moved == {
        tuple(row.tolist()),
        (*row[1:].tolist(), row[-1].item()),
        (row[0].item(), *row[:-1].tolist()),
    }
    flat = torch.full((1, 1, 6, 6), 0.5)
    assert torch.equal(TABLE["blur"](torch, flat, noise), flat)
    covered = (TABLE["occlusion"](torch, images(200, 1, 16, 16) + 2, noise) < 2).float().mean(dim=(1, 2, 3))
    # A rectangle of 4 to 8 pixels a side of 16, give or take one.
    assert covered.min() >= 9 / 256
    assert covered.max() <= 81 / 256
