"""Two people who disagree: nobody waits for ever, and the lead's word settles it."""

from __future__ import annotations

from pathlib import Path

import pytest

import fieldcheck as fc
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.kept_state import as_text, from_text
from fieldcheck.campaign.verification import verify
from fieldcheck.core.errors import CampaignError, LabelError
from fieldcheck.core.label import Missing

from .crowd import animals, label_all, other, start, truth


def both(campaign: Campaign, *, disputes: int = 0, most: int = 1_000) -> list[str]:
    """Ann and Bob label until there is nothing left for them, at most so many items; the disputed ones, in order."""
    found: list[str] = []
    for _ in range(most):
        (items, _), told = [campaign.ask(by) for by in ("Ann", "Bob")], animals()
        if not items:
            break
        (item,) = items
        campaign.tell(item, truth(told, item), by="Ann")
        if len(found) < disputes:
            found.append(item)
        campaign.tell(item, _another(item) if item in found else truth(told, item), by="Bob")
    return found


def _another(item: str) -> str:
    return next(name for name in animals().classes if name != truth(animals(), item))


@pytest.mark.parametrize("design", ["waves", "gbs:batch=5"])
def test_the_next_wave_comes_without_the_items_in_dispute(design: str, tmp_path: Path) -> None:
    """Three disagreements in the first wave: all 60 are drawn all the same, and the three wait for the lead."""
    campaign = start(tmp_path, animals(), design, auxiliary="confidence", labels_per_item=2)
    disputed = both(campaign, disputes=3)
    progress = campaign.progress()
    assert (progress.labelled, progress.disputed, progress.open) == (57, 3, 0)
    assert not progress.complete
    assert campaign.view.unsettled() == disputed
    assert "people disagree on 3 items" in campaign.estimate().warnings[0]
    for item in disputed:
        campaign.settle(item, truth(animals(), item), by="lead")
    progress = campaign.progress()
    assert (progress.labelled, progress.disputed, progress.complete) == (60, 0, True)
    assert campaign.estimate().labels == 60
    assert campaign.estimate().warnings == ()


def test_what_was_drawn_without_them_is_drawn_again(tmp_path: Path) -> None:
    """A replay sees the disputes as the design saw them, though they are settled by then."""
    place = tmp_path / "c.db"
    campaign = Campaign.create(place, animals(), labels_per_item=2, budget=60, seed=5)
    disputed = both(campaign, disputes=4)
    campaign.settle(disputed[0], "right", by="lead")
    campaign.settle(disputed[1], "unclear", by="lead")
    campaign.disconnect()
    found = verify(place, pool=animals())
    assert found.holds, found.findings
    assert found.estimate is not None


def test_settled_at_once_or_later_the_drawn_items_are_the_same_as_without_a_word(tmp_path: Path) -> None:
    """What the lead says later does not change what was drawn before."""
    campaign = start(tmp_path, animals(), labels_per_item=2)
    both(campaign, disputes=2)
    before = list(campaign.state.items)
    for item in campaign.view.unsettled():
        campaign.settle(item, "right", by="lead")
    assert list(campaign.state.items) == before


def test_the_word_of_the_lead_counts_whatever_others_say(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=4, labels_per_item=2)
    (item,) = both(campaign, disputes=1)
    third = other(animals(), item)
    campaign.settle(item, third, by="lead")
    assert str(campaign.state.items[item].label) == third  # also where nobody else said so
    (failure,) = (one for one in campaign.failures() if one.item == item)
    assert failure.by in ("Ann", "Bob", "lead")
    for by in ("Ann", "Bob", "Cy"):
        campaign.tell(item, truth(animals(), item), by=by)
    assert str(campaign.state.items[item].label) == third
    campaign.retract(item, by="Ann")
    assert campaign.state.items[item].standing == "labelled"
    assert item not in campaign.ask("Ann", n=9)
    campaign.settle(item, "?", by="lead")
    assert (campaign.state.items[item].standing, campaign.state.items[item].label) == ("skipped", None)
    assert campaign.view.labels()[item] == Missing()


def test_an_item_can_be_settled_before_anybody_labelled_it(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=3)
    first, *_ = campaign.state.items
    campaign.settle(first, other(animals(), first), by="lead")
    (failure,) = campaign.failures()
    assert (failure.item, failure.by) == (first, "lead")
    assert first not in campaign.ask("Ann", n=3)


def test_a_flag_is_answered_by_the_word_of_the_lead(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=12)
    label_all(campaign, animals())
    first, *_ = campaign.state.items
    campaign.flag(first, "two animals", by="Ann")
    assert campaign.view.unsettled() == [first]
    campaign.settle(first, truth(animals(), first), by="lead")
    assert campaign.view.unsettled() == []
    assert campaign.progress().flagged == 0
    assert campaign.estimate().labels == 12


def test_a_word_is_said_once(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=5)
    first, second, *_ = campaign.state.items
    told = campaign.settle(first, "cat", by="lead", key="k")
    assert campaign.settle(first, "cat", by="lead", key="k") == told
    assert campaign.settle(first, "cat", by="lead") == told
    with pytest.raises(CampaignError, match="used for something else"):
        campaign.settle(second, "cat", by="lead", key="k")
    with pytest.raises(LabelError, match="is no class"):
        campaign.settle(second, "cats", by="lead")
    campaign.close()
    with pytest.raises(CampaignError, match="closed"):
        campaign.settle(second, "cat", by="lead")


def test_it_is_kept_with_the_state(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=5, labels_per_item=2)
    both(campaign, disputes=2)
    first, second = campaign.view.unsettled()
    campaign.settle(first, "cat", by="lead")
    campaign.settle(second, "?", by="lead")
    again = from_text(as_text(campaign.state))
    assert again is not None
    assert [again.items[name] for name in again.items] == list(campaign.state.items.values())


@pytest.mark.parametrize("design", ["waves", "srs"])
def test_work_in_progress_is_not_an_alarm(design: str, tmp_path: Path) -> None:
    """While Ann still has the third item, the labels of Bob wait for it without a word."""
    campaign = start(tmp_path, animals(), design)
    for by in ("Ann", "Bob") * 6:
        (item,) = campaign.ask(by)
        campaign.tell(item, truth(animals(), item), by=by)
    (kept,) = campaign.ask("Ann")
    for _ in range(3):
        (item,) = campaign.ask("Bob")
        campaign.tell(item, truth(animals(), item), by="Bob")
    found = campaign.estimate()
    assert (found.labels, campaign.progress().labelled) == (12, 15)
    assert not [text for text in found.warnings if kept in text or "labelled yet" in text]
    campaign.release(kept, by="Ann")  # now it is a gap, until the next person asks
    campaign.tell(campaign.ask("Cy")[0], "right", by="Cy")


def test_a_comparison_goes_on_while_people_disagree(tmp_path: Path) -> None:
    rival = fc.from_arrays(
        ids=[f"img_{at:03d}" for at in range(300)],
        y_pred=[animals().classes[at % 3] for at in range(300)],
        confidence=[0.5 + at % 50 / 100 for at in range(300)],
        name="rival",
    )
    campaign = Campaign.create(tmp_path / "c.db", animals(), against=[rival], labels_per_item=2, budget=40, seed=5)
    disputed = both(campaign, disputes=3)
    assert len(campaign.state.items) == 40
    assert campaign.progress().disputed == 3
    for item in disputed:
        campaign.settle(item, truth(animals(), item), by="lead")
    assert campaign.progress().complete
