"""A campaign that goes on until its interval is narrow enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldcheck.accuracy.assessment.simulate import simulate_until
from fieldcheck.accuracy.assessment.stopping import HalfWidth
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.verification import verify
from fieldcheck.core.errors import CampaignError, FieldcheckError
from fieldcheck.core.requirement import Requirement

from .crowd import animals, blank, houses, label_all, start


def narrowing(folder: Path, half_width: float = 0.09, **options: object) -> Campaign:
    return start(folder, animals(), half_width=half_width, **{"budget": None, **options})


def test_it_stops_where_the_simulation_does_and_is_replayed(tmp_path: Path) -> None:
    campaign = narrowing(tmp_path)
    assert len(campaign.state.items) == 40
    assert campaign.view.question.until == "until the interval is ±9 points"
    assert campaign.view.check(Requirement("accuracy", 0.7)).preliminary
    label_all(campaign, animals())
    simulated = simulate_until(animals(), HalfWidth(0.09), seed=campaign.settings.seed)
    found = campaign.estimate()
    assert (found.labels, found.value) == (simulated.labels, simulated.estimate.value)
    assert found.interval == simulated.estimate.interval
    assert found.interval.width / 2 <= 0.09
    assert campaign.progress().complete
    assert not campaign.view.check(Requirement("accuracy", 0.7)).preliminary
    assert all(one.holds for one in verify(tmp_path / "campaign.db", pool=blank(animals())).findings)


def test_a_budget_is_where_it_gives_up(tmp_path: Path) -> None:
    campaign = narrowing(tmp_path, 0.01, budget=55)
    label_all(campaign, animals())
    assert len(campaign.state.items) == 55
    assert campaign.progress().complete


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"half_width": 0.5}, "a half-width of 0.5 for an accuracy"),
        ({"half_width": 0}, "a half-width of 0"),
        ({"certify": 0.9}, "together with another question"),
        ({"design": "ssrs"}, "ssrs until a half-width"),
    ],
)
def test_what_it_cannot_do_is_refused(tmp_path: Path, options: dict[str, object], problem: str) -> None:
    with pytest.raises(FieldcheckError, match=problem):
        narrowing(tmp_path, **{"half_width": 0.1, **options})  # type: ignore[arg-type]


def test_errors_have_half_widths_in_their_own_unit(tmp_path: Path) -> None:
    campaign = start(tmp_path, houses(), half_width=0.2, budget=None)
    assert campaign.view.question.until == "until the interval is ±0.2"


def test_a_comparison_has_none(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="together with another question"):
        narrowing(tmp_path, against=(animals(),))


def test_it_goes_on_beyond_the_half_width_that_was_reached(tmp_path: Path) -> None:
    """An extension then says when it ends, and what was decided at the stop stands."""
    campaign = narrowing(tmp_path, budget=200)
    label_all(campaign, animals())
    stop = len(campaign.state.items)
    assert stop < 200
    wanted = Requirement("accuracy", 0.6)
    first = campaign.view.check(wanted)
    assert (first.word, first.look and first.look.error) == ("passed", pytest.approx(0.04))
    drawn = list(campaign.state.items)
    campaign.extend("+30")
    assert campaign.settings.budgets == (stop, stop + 30)
    label_all(campaign, animals())
    assert list(campaign.state.items)[:stop] == drawn
    assert len(campaign.state.items) == stop + 30
    assert campaign.progress().complete
    found = campaign.view.check(wanted)
    assert (found.word, found.look) == ("passed", first.look)
    assert all(one.holds for one in verify(tmp_path / "campaign.db", pool=blank(animals())).findings)
    with Campaign.open(tmp_path / "campaign.db", pool=blank(animals())) as opened:
        assert opened.estimate().interval == campaign.estimate().interval


def test_it_is_extended_towards_the_half_width_where_it_gave_up(tmp_path: Path) -> None:
    campaign = narrowing(tmp_path, budget=50)
    label_all(campaign, animals())
    campaign.extend(300)
    label_all(campaign, animals())
    assert 50 < len(campaign.state.items) < 300
    assert campaign.progress().complete
    assert campaign.settings.budgets == (50, 300)
