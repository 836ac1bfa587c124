"""Labels that train: set apart before they are drawn, given away on record, never the ones that judge."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy import designs, estimators
from fieldcheck.accuracy.assessment import sampling
from fieldcheck.accuracy.comparison import reuse
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.training import TrainingSet
from fieldcheck.core.errors import CampaignError, DesignError, SampleError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.sample import Labelled
from fieldcheck.numerics.regression import priors

SIZE = 600

ANIMALS = np.array(["ant", "bee", "cat", "dog"])


def pool_of(wrong: np.ndarray, doubt: np.ndarray, name: str = "old") -> fc.Pool:
    """What is predicted gives nothing away: each class fails as often as the others."""
    truth = np.arange(len(wrong)) % len(ANIMALS)
    said = ANIMALS[(truth + wrong) % len(ANIMALS)]
    return fc.from_arrays(y_pred=said, y_true=ANIMALS[truth], confidence=1 - doubt / 2, name=name)


def world(size: int = SIZE, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Which items the old version fails on, and its doubts."""
    rng = np.random.default_rng(seed)
    doubt = rng.beta(1, 3, size)
    return rng.random(size) < np.clip(0.9 * doubt, 0, 1), doubt


def saved(folder: Path, pool: fc.Pool) -> Path:
    path = folder / f"{pool.name}.csv"
    fc.save(replace(pool, target=None, failed=None), path)
    return path


def label_all(campaign: Campaign) -> None:
    while items := campaign.ask("ann", n=50):
        for item in items:
            campaign.tell(item, str(ANIMALS[int(item) % len(ANIMALS)]), by="ann")


def started(folder: Path, **options: object) -> Campaign:
    wrong, doubt = world()
    campaign = Campaign.create(folder / "c.db", saved(folder, pool_of(wrong, doubt)), budget=60, seed=1, **options)  # type: ignore[arg-type]
    label_all(campaign)
    return campaign


@pytest.mark.parametrize("design", ["waves", "waves:objective=expose", "srs", "deepest"])
def test_half_of_the_labels_leave_and_the_others_never_do(tmp_path: Path, design: str) -> None:
    with started(tmp_path, train_share=0.5, design=design) as campaign:
        apart = {item.id for item in campaign.state.to_train()}
        assert 20 <= len(apart) <= 40
        given = TrainingSet.of(campaign)
        assert {one.id for one in given} == apart == set(campaign.state.exported)
        before = campaign.state.number
        assert len(TrainingSet.of(campaign)) == len(given)
        assert campaign.state.number == before, "what left is put on record once"
    with Campaign.open(tmp_path / "c.db") as again:
        assert {item.id for item in again.state.to_train()} == apart
        assert set(again.state.exported) == apart


def test_what_is_written(tmp_path: Path) -> None:
    with started(tmp_path, train_share=0.5) as campaign:
        given = TrainingSet.of(campaign)
        given.write(tmp_path / "out")
        given.write(tmp_path / "out", "jsonl")
        failed = {one.item for one in campaign.failures()}
    rows = list(csv.DictReader((tmp_path / "out" / "training.csv").read_text().splitlines()))
    lines = [json.loads(line) for line in (tmp_path / "out" / "training.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [line["id"] for line in lines] == [one.id for one in given]
    assert all(row["label"] == ANIMALS[int(row["id"]) % len(ANIMALS)] for row in rows)
    assert {line["id"] for line in lines if line["failed"]} == {one.id for one in given} & failed
    assert given.to_list() == lines


def test_nothing_leaves_where_nothing_was_set_apart(tmp_path: Path) -> None:
    with started(tmp_path) as campaign, pytest.raises(CampaignError, match="set apart"):
        TrainingSet.of(campaign)


@pytest.mark.parametrize(("share", "design", "error"), [(1.0, "waves", CampaignError), (0.5, "ssrs", DesignError)])
def test_what_cannot_be_set_apart(tmp_path: Path, share: float, design: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        started(tmp_path, train_share=share, design=design, auxiliary="confidence" if design == "ssrs" else None)
    assert not (tmp_path / "c.db").exists()


def next_version(folder: Path, name: str, mended: set[str], left: float = 0.6) -> Path:
    """Right on what it was trained on, and on a part of the rest."""
    wrong, doubt = world()
    still = wrong & (np.random.default_rng(7).random(SIZE) < left)
    still[[int(one) for one in mended]] = False
    return saved(folder, pool_of(still, doubt, name))


def test_three_rounds(tmp_path: Path) -> None:
    """Each round judges the version by what was kept, on items that it has not seen, and tells what changed."""
    with started(tmp_path, train_share=0.5) as campaign:
        first = {one.id for one in TrainingSet.of(campaign)}
        kept = set(campaign.state.items) - first
    gone, last = set(first), tmp_path / "c.db"
    for number in range(2):
        path = next_version(tmp_path, f"v{number}", gone, left=0.6 - 0.4 * number)
        with Campaign.create(
            tmp_path / f"c{number}.db", path, reuse=last, budget=20, seed=number, train_share=0.5
        ) as campaign:
            assert len(campaign.pool) == SIZE - len(gone)
            assert not gone & set(campaign.state.items), "what was trained on is not asked for again"
            label_all(campaign)
            found = campaign.estimate()
            assert isinstance(found, Estimate)
            assert found.labels == len(kept) + 20
            assert found.population == SIZE - len(gone)
            change = campaign.view.change()
            assert change is not None
            assert change.difference > 0
            assert change.mended
            assert any("on all 600 items" in note for note in found.notes)
            more = {one.id for one in TrainingSet.of(campaign)}
            assert not more & kept
        with Campaign.open(tmp_path / f"c{number}.db") as again:
            assert again.estimate() == found
        kept |= set(again.state.items) - more
        gone, last = gone | more, tmp_path / f"c{number}.db"


def test_a_version_that_saw_what_judges_it_is_refused(tmp_path: Path) -> None:
    with started(tmp_path, train_share=0.5) as campaign:
        given = {one.id for one in TrainingSet.of(campaign)}
        kept = next(name for name in campaign.state.items if name not in given)
        never = next(str(at) for at in range(SIZE) if str(at) not in campaign.state.items)
    path = next_version(tmp_path, "v", given)
    begin = partial(Campaign.create, pool=path, reuse=tmp_path / "c.db", budget=10)
    with pytest.raises(SampleError, match="judge it"):
        begin(tmp_path / "d.db", trained_on=[kept])
    with begin(tmp_path / "d.db", trained_on=[never, "elsewhere"]) as campaign:
        assert len(campaign.pool) == SIZE - len(given) - 1
        assert any(
            "1 of the items it was trained on are not in this pool" in note for note in campaign.view.question.notes
        )  # type: ignore[attr-defined]


def test_without_an_export_it_has_to_be_said_that_nothing_was_seen(tmp_path: Path) -> None:
    with started(tmp_path, train_share=0.5):
        pass
    path = next_version(tmp_path, "v", set())
    with pytest.raises(SampleError, match="trained or tuned"):
        Campaign.create(tmp_path / "d.db", path, reuse=tmp_path / "c.db", budget=10)


NEAR = 8
"""Neighbours in the order of the doubts, on each side, that become right with an item that is trained on."""


@pytest.mark.parametrize("objective", ["estimate", "balanced", "expose"])
def test_kept_labels_judge_a_version_that_learnt_the_neighbours_too(objective: str) -> None:
    """Bias within 4 standard errors over 60 campaigns; re-use of all labels is far outside in the same test."""
    size, labels, campaigns = 1_500, 120, 60
    wrong, doubt = world(size, seed=5)
    old, place = pool_of(wrong, doubt), np.argsort(np.argsort(doubt, kind="stable"))
    design = designs.Waves(objective=objective, train=0.5)  # type: ignore[arg-type]
    frame, errors, naive = sampling.frame_for(old, design, None), [], []
    for seed in range(campaigns):
        sample = design.draw(frame, wrong.astype(float), budget=labels, seed=seed)
        assert sample.train is not None
        chance = reuse.old_chances(Labelled(sample, wrong[sample.items].astype(float), wrong[sample.items]))
        taught = sample.items[sample.train]
        near = (np.abs(place[:, None] - place[taught][None, :]) <= NEAR).any(axis=1)
        new = wrong & ~near
        history = reuse.History.first(sample.items, sample.train, chance, train_share=0.5)
        for found, kept in ((errors, history.kept(taught[:0], population=size)), (naive, history.all())):
            left = np.arange(size) if kept.left is None else kept.left
            version = pool_of(new, doubt, "new").select(left)
            carried = reuse.Carried(kept.items, new[left][kept.items].astype(float), kept.chance)
            frame_new = reuse.frame_of(version)
            top = reuse.TopUp.none(priors.model_of(frame_new))
            pooled = reuse.pooled(frame_new, carried, top, np.zeros(0), measure=version.measure())
            found.append(estimators.estimate(pooled).value - float(new[left].mean()))
    spread = np.std(errors, ddof=1) / np.sqrt(campaigns)
    assert abs(np.mean(errors)) < 4 * spread + 0.003
    assert np.mean(naive) < -0.02, "failures that were trained away are missing among all labels"
