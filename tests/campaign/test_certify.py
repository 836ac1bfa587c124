"""A campaign that certifies: its own draws, one at a time, decided by the wealth at any label."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.questions import AccuracyQuestion
from fieldcheck.campaign.verification import verify
from fieldcheck.core.draws import BetDraws
from fieldcheck.core.errors import DesignError, FieldcheckError
from fieldcheck.core.requirement import Requirement
from fieldcheck.numerics.betting import Bets, most_failures

from .crowd import animals, blank, houses, label_all, start, truth, work


def certifying(folder: Path, threshold: float = 0.9, **options: object) -> Campaign:
    return start(folder, animals(), certify=threshold, **{"budget": None, **options})


def wealth(campaign: Campaign) -> Bets:
    question = campaign.view.question
    assert isinstance(question, AccuracyQuestion)
    found = question.bets(campaign.view.evidence())
    assert found is not None
    return found


def test_it_ends_with_a_claim_and_is_replayed(tmp_path: Path) -> None:
    campaign = certifying(tmp_path, 0.7)
    assert campaign.view.check(Requirement("accuracy", 0.7)).word == "undecided"
    label_all(campaign, animals())
    assert len(campaign.state.items) < 100
    decision = campaign.view.check(Requirement("accuracy", 0.7))
    assert (decision.word, decision.preliminary) == ("passed", False)
    found = campaign.estimate()
    assert found.interval.low <= found.value <= found.interval.high
    assert (found.interval.kind, found.interval.basis) == ("anytime", "sequence")
    assert all(one.holds for one in verify(tmp_path / "campaign.db", pool=blank(animals())).findings)
    with Campaign.open(tmp_path / "campaign.db", pool=blank(animals())) as opened:
        assert wealth(opened).above.products.tolist() == wealth(campaign).above.products.tolist()


def test_below_is_claimed_too(tmp_path: Path) -> None:
    campaign = certifying(tmp_path, 0.97)
    label_all(campaign, animals())
    assert campaign.view.check(Requirement("accuracy", 0.97)).word == "failed"


def test_labels_after_a_gap_wait(tmp_path: Path) -> None:
    """Two people work ahead: what the second one says counts once the first one is done."""
    campaign = certifying(tmp_path)
    first, *rest = list(campaign.state.items)[:14]
    for item in rest[1:]:
        campaign.tell(item, truth(animals(), item))
    campaign.tell(first, truth(animals(), first))
    assert wealth_or_none(campaign) is None
    campaign.tell(rest[0], truth(animals(), rest[0]))
    assert len(wealth(campaign).taken) == 14


def wealth_or_none(campaign: Campaign) -> Bets | None:
    question = campaign.view.question
    assert isinstance(question, AccuracyQuestion)
    return question.bets(campaign.view.evidence())


def test_an_item_that_cannot_be_labelled_counts_against_either_claim(tmp_path: Path) -> None:
    campaign = certifying(tmp_path)
    items = list(campaign.state.items)[:15]
    for item in items:
        campaign.tell(item, truth(animals(), item))
    before = wealth(campaign)
    campaign.retract(items[3])
    campaign.skip(items[3])
    after = wealth(campaign)
    assert after.taken[3][2] is None
    assert after.above.found == before.above.found + (before.taken[3][2] == 0)
    assert after.below.found == before.below.found - (before.taken[3][2] == 1)
    assert "counted as failures" in " ".join(campaign.estimate().warnings)


def test_draws_are_single_and_their_chances_are_kept(tmp_path: Path) -> None:
    campaign = certifying(tmp_path)
    for item in islice(work(campaign), 40):
        campaign.tell(item, truth(animals(), item), by="Ann")
    draws = campaign.view.evidence().sample.drawn_as(BetDraws)
    assert draws.threshold == 0.9
    assert sum(draws.sizes) == len(campaign.state.items)
    for number, size in enumerate(draws.sizes):
        left = len(animals()) - sum(draws.sizes[:number])
        assert float(draws.count[number].sum()) == left
        assert size <= left


@pytest.mark.parametrize(
    ("size", "threshold", "most"), [(100, 0.9, 10), (300, 0.95, 15), (1000, 0.999, 1), (7, 0.5, 3)]
)
def test_failures_that_a_threshold_leaves_room_for_are_exact(size: int, threshold: float, most: int) -> None:
    """In floats, 100 · (1 - .9) is a little under 10."""
    assert most_failures(size, threshold) == most


def test_another_threshold_goes_by_the_interval(tmp_path: Path) -> None:
    campaign = certifying(tmp_path, 0.7)
    label_all(campaign, animals())
    assert campaign.view.check(Requirement("accuracy", 0.3)).word == "passed"
    assert campaign.view.check(Requirement("accuracy", 0.999)).word == "failed"


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FieldcheckError):
        certifying(tmp_path, 1.5)
    with pytest.raises(DesignError):
        start(tmp_path, animals(), certify=0.9, objective="expose")
    with pytest.raises(DesignError):
        start(tmp_path, houses(), certify=0.9)


def test_a_budget_ends_it_undecided_and_can_be_extended(tmp_path: Path) -> None:
    campaign = certifying(tmp_path, 0.87, budget=25)
    label_all(campaign, animals())
    assert len(campaign.state.items) == 25
    decision = campaign.view.check(Requirement("accuracy", 0.87))
    assert decision.word == "undecided"
    before = list(campaign.state.items)
    campaign.extend(40)
    label_all(campaign, animals())
    assert list(campaign.state.items)[:25] == before
    assert len(campaign.state.items) == 40
