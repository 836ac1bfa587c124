"""One campaign for every question: comparisons, and old labels for a new version, go the way of all campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.sampling import auxiliary_names, build_design
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.comparison.simulate import simulate_comparison, simulate_reuse
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import CampaignError, DesignError, LabelError, SampleError
from fieldcheck.core.sample import Labelled

WORDS = np.array(["ant", "bee", "cat", "dog"])


@cache
def models(skill: tuple[float, ...] = (0.85, 0.6, 0.5), size: int = 300) -> tuple[fc.Pool, ...]:
    """Classifiers with confidence; the share that each gets right."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, size)
    pools = []
    for number, share in enumerate(skill):
        doubt = rng.beta(1, 3, size)
        wrong = rng.random(size) < np.clip((1 - share) * doubt / doubt.mean(), 0, 1)
        said = np.where(wrong, (truth + rng.integers(1, 4, size)) % 4, truth)
        pools.append(
            fc.from_arrays(y_pred=WORDS[said], y_true=WORDS[truth], confidence=1 - doubt / 2, name=f"m{number}")
        )
    return tuple(pools)


@cache
def numbers(size: int = 300) -> tuple[fc.Pool, ...]:
    rng = np.random.default_rng(2)
    truth = rng.normal(0, 3, size)
    return tuple(
        fc.from_arrays(y_pred=truth + rng.normal(0, spread, size), y_true=truth, name=f"r{at}")
        for at, spread in enumerate((0.5, 1.5))
    )


def saved(folder: Path, pools: Sequence[fc.Pool]) -> list[Path]:
    """The pools as people have them: files without the truth."""
    paths = [folder / f"{pool.name}.csv" for pool in pools]
    for pool, path in zip(pools, paths, strict=True):
        fc.save(replace(pool, target=None, failed=None), path)
    return paths


def true_label(pool: fc.Pool, item: str) -> str:
    assert pool.target is not None
    said = pool.target[pool.position_of([item])[0]]
    return pool.classes[int(said)] if pool.task == "classification" else repr(float(said))


def label_all(campaign: Campaign, pool: fc.Pool, people: Sequence[str] = ("Ann", "Bob")) -> None:
    """Everybody in turn, a few items each, until there is nothing left."""
    idle = 0
    while idle < len(people):
        by = people[idle % len(people)]
        idle += 1
        for item in campaign.ask(by, n=7):
            campaign.tell(item, true_label(pool, item), by=by)
            idle = 0
        people = (*people[1:], people[0])


def told(found: object) -> list[dict[str, object]]:
    assert isinstance(found, Comparison)
    return [replace(one, truth=None).to_dict() for one in found.differences]


@pytest.mark.parametrize("pools", [models(), numbers()], ids=["classes", "numbers"])
@pytest.mark.parametrize("budget", [90, None])
def test_people_and_simulation_compare_alike(pools: tuple[fc.Pool, ...], budget: int | None, tmp_path: Path) -> None:
    """To the last bit, over files, with two people, and opened again at the end."""
    first, *others = saved(tmp_path, pools)
    expected = simulate_comparison(pools, budget=budget, certify=budget is None, seed=7)
    with Campaign.create(tmp_path / "c.db", first, against=others, budget=budget, seed=7) as campaign:
        label_all(campaign, pools[0])
        assert campaign.progress().complete
    with Campaign.open(tmp_path / "c.db") as again:
        found = again.estimate()
        assert isinstance(found, Comparison)
        assert found.labels == expected.labels
        assert told(found) == told(expected)
        assert set(again.progress().annotators) == {"Ann", "Bob"}


def test_a_comparison_ends_when_it_is_decided(tmp_path: Path) -> None:
    pools = models((0.85, 0.6, 0.3), size=600)
    with Campaign.create(tmp_path / "c.db", pools[0], against=pools[1:], seed=1) as campaign:
        with pytest.raises(LabelError, match="labelled"):
            campaign.estimate()
        label_all(campaign, pools[0])
        found = campaign.estimate()
        assert isinstance(found, Comparison)
        assert (found.decided, found.best(), found.beaten("m1"), found.beaten("m0")) == (True, "m0", True, False)
        assert found.labels < found.contested
        assert campaign.ask("Ann") == []
        with pytest.raises(SampleError, match="compares models"):
            campaign.view.labelled()


@pytest.mark.parametrize(("margin", "word"), [(0.0, "passed"), (0.05, "passed")])
def test_not_worse_by_more_than_a_margin(margin: float, word: str, tmp_path: Path) -> None:
    """The better model is not worse; the worse one is worse by more than a small margin."""
    pools = models((0.85, 0.6))
    for at, (first, second, expected) in enumerate([(pools[0], pools[1], word), (pools[1], pools[0], "failed")]):
        with Campaign.create(tmp_path / f"{at}.db", first, against=[second], not_worse=margin, seed=1) as campaign:
            assert campaign.view.check_best(None)[0] == "undecided"
            label_all(campaign, first)
            found, sentence, look = campaign.view.check_best(None)
            assert look.words() == "looked at after every wave, at 5 % error in all"
            assert found == expected
            assert ("is not worse" in sentence) == (expected == "passed")
            statement = campaign.estimate()
            assert isinstance(statement, Comparison)
            (one,) = statement.differences
            assert one.future.low <= one.interval.low <= one.interval.high <= one.future.high


def test_a_margin_needs_a_rival(tmp_path: Path) -> None:
    with pytest.raises(CampaignError):
        Campaign.create(tmp_path / "c.db", models()[0], not_worse=0.01)


def test_a_label_serves_all_models(tmp_path: Path) -> None:
    """Right and wrong are about one of them; a class that only a rival says may be named."""
    first = fc.from_arrays(y_pred=["cat", "dog"] * 20, name="a")
    second = fc.from_arrays(y_pred=["cat", "owl"] * 20, name="b")
    with Campaign.create(tmp_path / "c.db", first, against=[second], budget=20) as campaign:
        item, *_ = campaign.ask("Ann")
        for word in ("right", "wrong", "ok"):
            with pytest.raises(LabelError, match="says whether one model was right"):
                campaign.tell(item, word, by="Ann")
        assert str(campaign.read(campaign.state.items[item], "Owl")) == "owl"
        assert campaign.tell(item, "owl", by="Ann").kind == "labelled"


def test_a_corrected_label_does_not_change_what_a_comparison_drew(tmp_path: Path) -> None:
    pools = models()
    with Campaign.create(tmp_path / "c.db", pools[0], against=pools[1:], seed=1) as campaign:
        order = list(campaign.state.items)
        for item in order:
            campaign.tell(item, "ant", by="Ann")
        assert campaign.draw()
        drawn = list(campaign.state.items)
        for item in order:
            campaign.tell(item, true_label(pools[0], item), by="Ann")
        label_all(campaign, pools[0])
        assert list(campaign.state.items)[: len(drawn)] == drawn


def test_other_rivals_are_noticed(tmp_path: Path) -> None:
    first, second, third = saved(tmp_path, models())
    Campaign.create(tmp_path / "c.db", first, against=[second], budget=20).disconnect()
    second.write_bytes(third.read_bytes())
    with pytest.raises(CampaignError, match="not the one"):
        Campaign.open(tmp_path / "c.db")
    second.unlink()
    with pytest.raises(CampaignError, match="is not found"):
        Campaign.open(tmp_path / "c.db")


def played(pool: fc.Pool, spec: str, *, budget: int, seed: int) -> Labelled:
    design = build_design(spec)
    return play(Field.of(pool, auxiliary=auxiliary_names(design, pool)), design, budget=budget, seed=seed)


@pytest.mark.parametrize("pools", [models((0.7, 0.8)), numbers()], ids=["classes", "numbers"])
@pytest.mark.parametrize("spec", ["waves", "srs"])
def test_people_and_simulation_re_use_alike(pools: tuple[fc.Pool, ...], spec: str, tmp_path: Path) -> None:
    old, new = pools
    place, other = saved(tmp_path, pools)
    expected = simulate_reuse(played(old, spec, budget=80, seed=4), new, labels_unseen=True, seed=6)
    with Campaign.create(tmp_path / "old.db", place, spec, budget=80, seed=4) as before:
        label_all(before, old)
    with Campaign.create(tmp_path / "new.db", other, reuse=tmp_path / "old.db", labels_unseen=True, seed=6) as after:
        early = after.estimate()
        assert (early.labels, len(after.state.items)) == (80, 20)
        label_all(after, old)
    with Campaign.open(tmp_path / "new.db") as again:
        found = again.estimate()
        assert found.value == pytest.approx(expected.value, rel=1e-9)
        assert found.interval.low == pytest.approx(expected.interval.low, rel=1e-9)
        assert found.labels == expected.labels == 100


@pytest.mark.parametrize("budget", [40, None])
def test_a_comparison_takes_the_labels_of_an_earlier_campaign(budget: int | None, tmp_path: Path) -> None:
    """Its labelled disagreements are not asked for again, and it is decided with fewer new labels."""
    pools = models((0.8, 0.65), size=800)
    place, other = saved(tmp_path, pools)
    with Campaign.create(tmp_path / "old.db", place, budget=150, seed=4) as before:
        label_all(before, pools[0])
        known = set(before.state.items)
    with pytest.raises(SampleError, match="trained or tuned"):
        Campaign.create(tmp_path / "x.db", place, against=[other], reuse=tmp_path / "old.db")
    asked = {"against": [other], "budget": budget, "seed": 7}
    with Campaign.create(
        tmp_path / "new.db", place, reuse=tmp_path / "old.db", labels_unseen=True, **asked
    ) as campaign:
        early = campaign.estimate()
        label_all(campaign, pools[0])
        assert not known & set(campaign.state.items)
        new = len(campaign.state.items)
    with Campaign.open(tmp_path / "new.db") as again, Campaign.create(tmp_path / "alone.db", place, **asked) as alone:
        found = again.estimate()
        label_all(alone, pools[0])
        without = alone.estimate()
        assert isinstance(found, Comparison)
        assert isinstance(early, Comparison)
        assert isinstance(without, Comparison)
        assert found.labels == early.labels + new
        assert early.labels > 20
        assert "re-used" in str(found)
        width = found.differences[0].interval.high - found.differences[0].interval.low
        if budget is None:
            assert found.decided
            assert new < len(alone.state.items)
        else:
            assert new == budget
            assert width < without.differences[0].interval.high - without.differences[0].interval.low


def test_later_labels_of_the_old_campaign_do_not_count(tmp_path: Path) -> None:
    """What is re-used is what was known at the start: the top-up was drawn for it."""
    old, new = models((0.7, 0.8))
    place, other = saved(tmp_path, (old, new))
    with Campaign.create(tmp_path / "old.db", place, "srs", budget=30, seed=4) as before:
        order = list(before.state.items)
        for item in order[:20]:
            before.tell(item, true_label(old, item))
        with Campaign.create(tmp_path / "new.db", other, reuse=tmp_path / "old.db", labels_unseen=True) as after:
            found = after.estimate()
        for item in order[20:]:
            before.tell(item, true_label(old, item))
    with Campaign.open(tmp_path / "new.db") as again:
        assert again.estimate().value == found.value
        assert again.estimate().labels == 20


def test_what_cannot_be_re_used(tmp_path: Path) -> None:
    old, new = models((0.7, 0.8))
    with Campaign.create(tmp_path / "old.db", saved(tmp_path, [old])[0], "srs", budget=10, seed=4) as before:
        for item in before.ask("Ann", n=10):
            before.tell(item, true_label(old, item), by="Ann")
        with pytest.raises(SampleError, match="trained or tuned"):
            Campaign.create(tmp_path / "x.db", new, reuse=tmp_path / "old.db")
        with pytest.raises(DesignError, match="for this question"):
            Campaign.create(tmp_path / "x.db", new, "srs", reuse=tmp_path / "old.db", labels_unseen=True)
        before.tell(item, "wrong", by="Ann")
    with pytest.raises(LabelError, match="says whether one model was right"):
        Campaign.create(tmp_path / "x.db", new, reuse=tmp_path / "old.db", labels_unseen=True)
    assert not (tmp_path / "x.db").exists()


def test_a_class_is_declared_once(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "c.db", models()[0], "srs", budget=10) as campaign:
        (item,) = campaign.ask("Ann")
        with pytest.raises(LabelError, match="is no class") as error:
            campaign.tell(item, "zebra", by="Ann")
        assert "--new-class" in error.value.hint
        campaign.declare("zebra")
        campaign.declare("zebra")
        campaign.tell(item, "Zebra", by="Ann")
        assert [event.kind for event in campaign.log.events()].count("declared") == 1
    with Campaign.open(tmp_path / "c.db", pool=models()[0]) as again:
        assert again.state.classes[-1] == "zebra"
        assert str(again.state.items[item].label) == "zebra"
