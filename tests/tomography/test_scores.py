"""Scores of quality against their definitions, worked out by hand or written naively."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.measures.likeness import corpus_bleu, sentence_bleu, words
from fieldcheck.tomography.quality.fid import frechet
from fieldcheck.tomography.quality.kid import kid
from fieldcheck.tomography.quality.ssim import ssim
from fieldcheck.tomography.quality.token_f1 import token_f1, unit


def features(items: int, columns: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(items, columns))


def kernel(one: Any, other: Any) -> float:
    return float((sum(a * b for a, b in zip(one, other, strict=True)) / len(one) + 1) ** 3)


def test_kid_by_hand() -> None:
    # k(0, ·) = 1, k(1,1) = 8, k(1,2) = 27. Within: 1 and 27. Across, (0,1) (0,2) (1,1) (1,2): 1, 1, 8, 27.
    first, second = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    assert kid(first, second, paired=False) == 1 + 27 - 2 * (1 + 1 + 8 + 27) / 4
    assert kid(first, second, paired=True) == 1 + 27 - 2 * (1 + 8) / 2


@pytest.mark.parametrize("paired", [True, False])
def test_kid_is_the_double_sum_of_its_definition(paired: bool) -> None:
    first, second = features(7, 3), features(7, 3, seed=1) + 0.5
    apart = [(i, j) for i in range(7) for j in range(7) if i != j]
    pairs = apart if paired else [(i, j) for i in range(7) for j in range(7)]
    within = sum(kernel(rows[i], rows[j]) for rows in (first, second) for i, j in apart) / len(apart)
    across = sum(kernel(first[i], second[j]) for i, j in pairs) / len(pairs)
    assert kid(first, second, paired=paired) == pytest.approx(within - 2 * across, rel=1e-12)


def test_kid_of_unequally_many_items() -> None:
    first, second = features(5, 2), features(9, 2, seed=1)
    assert kid(first, second, paired=False) == pytest.approx(kid(second, first, paired=False), rel=1e-12)


def test_paired_kid_of_inputs_with_themselves_is_0() -> None:
    assert kid(features(50, 8), features(50, 8), paired=True) == pytest.approx(0, abs=1e-12)


def test_paired_kid_is_unbiased_also_where_pairs_depend() -> None:
    # A population of three pairs; all 9 samples of two pairs with replacement: the expectation is the population's
    # MMD², to rounding. The other estimator is too low here, because it compares each item with itself.
    clean, moved = np.array([[-1.0], [0.5], [2.0]]), np.array([[-0.8], [0.9], [2.5]])
    samples = [[i, j] for i in range(3) for j in range(3)]
    means = [
        sum(kernel(a, b) for a in one for b in other) / 9
        for one, other in [(clean, clean), (moved, moved), (clean, moved)]
    ]
    truth = means[0] + means[1] - 2 * means[2]
    paired, unpaired = (np.mean([kid(clean[at], moved[at], paired=flag) for at in samples]) for flag in (True, False))
    assert paired == pytest.approx(truth, rel=1e-12)
    assert unpaired < truth


def test_frechet_by_hand() -> None:
    # One feature: (m1 - m2)² + (s1 - s2)². Means 1 and 5, variances 2 and 8.
    assert frechet(np.array([[0.0], [2.0]]), np.array([[3.0], [7.0]])) == pytest.approx(16 + 2 + 8 - 2 * 4, rel=1e-12)


def test_frechet_is_its_definition_with_a_square_root_of_a_matrix() -> None:
    from scipy.linalg import sqrtm

    first, second = features(40, 4), features(60, 4, seed=1) @ features(4, 4, seed=2) + 0.3
    one, two = np.cov(first.T), np.cov(second.T)
    gap = ((first.mean(axis=0) - second.mean(axis=0)) ** 2).sum()
    wanted = gap + np.trace(one + two - 2 * np.real(sqrtm(one @ two)))
    assert frechet(first, second) == pytest.approx(wanted, rel=1e-9)


def test_frechet_of_fewer_items_than_features() -> None:
    # All spread along one direction of fifty: what one feature gives.
    flat = np.zeros((2, 50))
    flat[:, 7] = [0.0, 2.0]
    moved = np.zeros((2, 50))
    moved[:, 7] = [3.0, 7.0]
    assert frechet(flat, moved) == pytest.approx(18, rel=1e-12)
    assert frechet(features(5, 50), features(5, 50)) == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("score", [frechet, lambda one, other: kid(one, other, paired=False)])
def test_one_item_is_too_few(score: Any) -> None:
    with pytest.raises(SpaceError):
        score(features(1, 3), features(5, 3))


def naive_ssim(one: Any, other: Any, size: int) -> float:
    """The formula of the paper, window by window, two-dimensional weights."""
    offsets = np.arange(size) - size // 2
    weights = np.exp(-(offsets[:, None] ** 2 + offsets[None, :] ** 2) / (2 * 1.5**2))
    weights /= weights.sum()
    found = []
    for row in range(one.shape[0] - size + 1):
        for column in range(one.shape[1] - size + 1):
            x, y = (image[row : row + size, column : column + size] for image in (one, other))
            mx, my = (weights * x).sum(), (weights * y).sum()
            vx, vy = (weights * (x - mx) ** 2).sum(), (weights * (y - my) ** 2).sum()
            shared = (weights * (x - mx) * (y - my)).sum()
            found.append(
                (2 * mx * my + 0.01**2) * (2 * shared + 0.03**2)
                / ((mx**2 + my**2 + 0.01**2) * (vx + vy + 0.03**2))
            )  # fmt: skip
    return float(np.mean(found))


@pytest.mark.parametrize(("shape", "window"), [((8, 9), 7), ((10, 14), 9), ((13, 11), 11)])
def test_ssim_is_its_definition(shape: tuple[int, int], window: int) -> None:
    rng = np.random.default_rng(0)
    images = rng.random((3, *shape, 2))
    others = np.clip(images + 0.2 * rng.normal(size=images.shape), 0, 1)
    wanted = [
        np.mean([naive_ssim(one[..., channel], other[..., channel], window) for channel in range(2)])
        for one, other in zip(images, others, strict=True)
    ]
    assert ssim(images, others) == pytest.approx(wanted, abs=1e-9)
    assert ssim(images[..., 0], others[..., 0])[0] == pytest.approx(
        naive_ssim(images[0, ..., 0], others[0, ..., 0], window), abs=1e-9
    )


def test_ssim_of_bytes_is_that_of_fractions() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 12, 12), dtype=np.uint8)
    others = images // 2
    assert ssim(images, others) == pytest.approx(ssim(images / 255, others / 255), abs=1e-12)
    assert ssim(images, images) == pytest.approx([1, 1], abs=1e-12)


def test_ssim_refuses_what_it_cannot_compare() -> None:
    with pytest.raises(SpaceError):
        ssim(np.zeros((1, 7, 9)), np.zeros((1, 7, 9)))
    with pytest.raises(SpaceError):
        ssim(np.zeros((1, 9, 9)), np.zeros((1, 9, 10)))


REFERENCE = "the cat is on the mat"


def test_bleu_by_hand() -> None:
    # the cat the cat on the mat: 5 of 7 words ("the" counts twice at most, "cat" once), pairs the-cat, on-the, the-mat:
    # 3 of 6, on-the-mat: 1 of 5, and none of 4. Longer than the reference: no penalty.
    candidate = "the cat the cat on the mat"
    assert corpus_bleu([candidate], [REFERENCE]) == 0
    assert sentence_bleu(candidate, REFERENCE) == pytest.approx((5 / 7 * 3 / 6 * 1 / 5 * 0.5 / 4) ** 0.25)


def test_halving_goes_on_from_order_to_order() -> None:
    # cat on: both words match, the pair does not; the longer orders have no n-grams. Penalty exp(1 - 6/2).
    assert sentence_bleu("cat on", REFERENCE) == pytest.approx(math.exp(-2) * (1 * 0.5) ** 0.5)
    # mat cat on the: 4 of 4, on-the 1 of 3, then 1/2 of 2 and 1/4 of 1.
    assert sentence_bleu("mat cat on the", REFERENCE) == pytest.approx(
        math.exp(1 - 6 / 4) * (1 * 1 / 3 * 0.5 / 2 * 0.25 / 1) ** 0.25
    )


def test_corpus_bleu_adds_matches_up_before_it_divides() -> None:
    # Second text: 2 of 3 words, no pair. Words (6+2)/9, pairs (5+0)/7, 4/5 of three, 3/3 of four; lengths 9 and 9.
    found = corpus_bleu([REFERENCE, "a b c"], [REFERENCE, "c x a"])
    assert found == pytest.approx((8 / 9 * 5 / 7 * 4 / 5 * 3 / 3) ** 0.25)


@given(st.text(max_size=60), st.text(max_size=60))
def test_bleu_is_a_share_and_1_for_the_same_text(one: str, other: str) -> None:
    assert 0 <= sentence_bleu(one, other) <= 1 + 1e-12
    assert sentence_bleu(one, one) == pytest.approx(1)


def test_texts_without_words() -> None:
    assert words("Don't  stop!") == ["Don", "'", "t", "stop", "!"]
    assert sentence_bleu("", "") == 1
    assert sentence_bleu("", "a") == sentence_bleu("a", "") == 0


def test_token_f1_by_hand() -> None:
    # Similarities: token 1 has (1, .6), token 2 (0, .8). Precision (1 + .8) / 2; recall (1 + .8 + 0) / 3.
    candidate = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    reference = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    precision, recall = 0.9, 0.6
    assert token_f1(candidate, reference) == pytest.approx(2 * precision * recall / (precision + recall))


def test_token_f1_at_its_limits() -> None:
    rows, none = unit(features(4, 3)), np.zeros((0, 3))
    assert token_f1(rows, rows) == pytest.approx(1)
    assert token_f1(none, none) == 1
    assert token_f1(none, rows) == token_f1(rows, none) == 0
    assert token_f1(np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])) == 0


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 999))
def test_token_f1_does_not_depend_on_order_or_direction(one: int, other: int, seed: int) -> None:
    first, second = unit(np.abs(features(one, 4, seed))), unit(np.abs(features(other, 4, seed + 1)))
    assert token_f1(first, second) == pytest.approx(token_f1(second[::-1], first), rel=1e-12)
