"""What people say: how it is read, what counts when they disagree, and what becomes of what nobody can say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.item_state import Annotation, settled
from fieldcheck.core.errors import CampaignError, LabelError
from fieldcheck.core.label import Missing, Outcome, TrueClass, Value

from .crowd import NAMES, animals, blank, houses, label_all, other, prediction, start, truth


@pytest.mark.parametrize(
    ("typed", "counts"),
    [("cat", "cat"), (" Dog ", "dog"), ("OWL", "owl"), ("wrong", "wrong"), ("FAIL", "wrong"), ("incorrect", "wrong")],
)
def test_labels_are_kept_as_typed_and_as_they_count(typed: str, counts: str, tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    campaign.tell(item, typed, by="Ann")
    (annotation,) = campaign.state.items[item].labels
    assert (str(annotation.label), annotation.typed) == (counts, typed.strip())
    assert campaign.state.items[item].label == annotation.label


@pytest.mark.parametrize("typed", ["right", "Correct", "pass", "ok", "TRUE"])
def test_right_is_what_the_model_said(typed: str, tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    campaign.tell(item, typed, by="Ann")
    assert campaign.state.items[item].label == TrueClass(prediction(animals(), item))
    assert campaign.failures() == []


def test_classes_and_outcomes_may_be_mixed(tmp_path: Path) -> None:
    """Whatever way the labels are given, the estimate is the same."""
    campaign = start(tmp_path, animals())
    for number in range(60):
        (item,) = campaign.ask("Ann")
        true = truth(animals(), item)
        right = true == prediction(animals(), item)
        campaign.tell(item, true if number % 2 else "right" if right else "wrong", by="Ann")
    simulated = fc.simulate(animals(), "waves", budget=60, seed=5)
    found = campaign.estimate()
    assert (found.value, found.interval, found.warnings) == (simulated.value, simulated.interval, simulated.warnings)
    assert len(campaign.failures()) == simulated.failures


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("cats", "cat"), ("dig", "dog"), ("cow", "owl"), ("1", ""), ("0", ""), ("cat,dog", ""), ("<b>cat</b>", "")],
)
def test_an_unknown_class_is_refused_with_those_like_it(typed: str, hint: str, tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    with pytest.raises(LabelError, match="is no class") as caught:
        campaign.tell(item, typed, by="Ann")
    assert hint in caught.value.hint
    assert campaign.state.items[item].labels == ()


def test_more_classes_may_be_named_beforehand(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), budget=20, new_classes=["cow", "cat"])
    assert campaign.settings.classes == (*NAMES, "cow")
    for item in campaign.ask("Ann", n=20):
        campaign.tell(item, "Cow", by="Ann")
    found = campaign.estimate()
    assert (found.failures, found.warnings) == (20, ())


def test_a_class_that_is_called_right(tmp_path: Path) -> None:
    pool = fc.from_arrays(y_pred=["left", "right"] * 20, confidence=np.linspace(0.5, 1, 40))
    campaign = Campaign.create(tmp_path / "c.db", pool, "srs", budget=40)
    for item in campaign.ask(n=40):
        campaign.tell(item, "right")
    assert campaign.estimate().failures == 20
    assert {failure.label for failure in campaign.failures()} == {TrueClass("right")}


def test_a_class_that_is_called_skip(tmp_path: Path) -> None:
    pool = fc.from_arrays(y_pred=["skip", "go"] * 20)
    campaign = Campaign.create(tmp_path / "c.db", pool, "srs", budget=40)
    first, second, *rest = campaign.ask(n=40)
    assert campaign.tell(first, "skip").kind == "labelled"
    assert campaign.skip(second).kind == "skipped"
    for item in rest:
        campaign.tell(item, "go")
    assert campaign.view.labels()[second] == Missing()
    assert campaign.estimate().labels == 39


def test_classes_that_are_numbers(tmp_path: Path) -> None:
    pool = fc.from_arrays(y_pred=[0, 1] * 20)
    campaign = Campaign.create(tmp_path / "c.db", pool, "srs", budget=40)
    for item, label in zip(campaign.ask(n=40), [1, 1.0, "1", "1.0"] * 10, strict=True):
        campaign.tell(item, label)
    assert {item.label for item in campaign.state.items.values()} == {TrueClass("1")}
    assert campaign.estimate().failures == 20


def test_a_pool_of_outcomes_is_right_or_wrong(tmp_path: Path) -> None:
    pool = fc.from_arrays(confidence=np.linspace(0, 1, 40), outcome=[True] * 40)
    campaign = Campaign.create(tmp_path / "c.db", replace(pool, failed=None), "srs", budget=40)
    given = campaign.ask(n=40)
    with pytest.raises(LabelError, match="neither right nor wrong"):
        campaign.tell(given[0], "cat")
    for item, label in zip(given, ["right", "wrong", "1", "0"] * 10, strict=True):
        campaign.tell(item, label)
    assert campaign.estimate().failures == 20
    assert campaign.failures()[0].prediction is None


@pytest.mark.parametrize("typed", ["three", "1,5", "nan", "inf", "right"])
def test_numbers_are_finite_and_have_a_point(typed: str, tmp_path: Path) -> None:
    campaign = start(tmp_path, houses())
    (item,) = campaign.ask("Ann")
    with pytest.raises(LabelError, match="is not a number"):
        campaign.tell(item, typed, by="Ann")


def test_a_number_may_be_a_number(tmp_path: Path) -> None:
    campaign = start(tmp_path, houses())
    (item,) = campaign.ask("Ann")
    assert campaign.tell(item, np.float64(0.1), by="Ann").data == {"label": {"value": 0.1}, "typed": "0.1"}
    assert campaign.tell(item, " 1e1 ", by="Ann").data["label"] == {"value": 10.0}


def test_items_that_are_not_there(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    with pytest.raises(LabelError, match="no item 'img_3000'") as caught:
        campaign.tell("img_3000", "cat")
    assert "img_" in caught.value.hint
    undrawn = next(name for at in range(300) if (name := animals().id_of(at)) not in campaign.state.items)
    with pytest.raises(LabelError, match="was not asked for"):
        campaign.tell(undrawn, "cat")
    with pytest.raises(LabelError, match="says something"):
        campaign.tell(campaign.ask()[0], "  ")


@pytest.mark.parametrize("name", ["x" * 201, "a\nb", "a\0b"])
def test_names_and_keys_are_short_and_plain(name: str, tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    for call in (lambda: campaign.ask(name), lambda: campaign.tell(item, "cat", by=name)):
        with pytest.raises(CampaignError, match="printable"):
            call()
    with pytest.raises(CampaignError, match="printable"):
        campaign.tell(item, "cat", by="Ann", key=name)


@pytest.mark.parametrize("key", ["fieldcheck:drawn:20", "fieldcheck:closed"])
def test_keys_of_what_nobody_sends_cannot_be_sent(key: str, tmp_path: Path) -> None:
    """Else a label could stand in the way of the next wave."""
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    for call in (lambda: campaign.tell(item, "cat", by="Ann", key=key), lambda: campaign.close(key=key)):
        with pytest.raises(CampaignError, match="the key"):
            call()


def test_whole_documents_are_refused(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask("Ann")
    for call in (campaign.tell, campaign.skip, campaign.flag):
        with pytest.raises(LabelError, match="2,001 letters"):
            call(item, "x" * 2001, by="Ann")
    with pytest.raises(CampaignError, match="at least one"):
        campaign.ask("Ann", n=0)


def test_a_name_has_no_blanks_around_it(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    (item,) = campaign.ask(" Ann ")
    campaign.tell(item, "cat", by="Ann ")
    campaign.retract(item, by=" Ann")
    campaign.release(item, by="Ann  ")


def said(labels: str, *, first: int = 1) -> tuple[Annotation, ...]:
    """One per letter, by different people."""
    kinds = [Missing() if letter == "s" else TrueClass(letter) for letter in labels]
    return tuple(Annotation("i", label, f"{first}-{at}", number=first + at) for at, label in enumerate(kinds))


@pytest.mark.parametrize(
    ("needed", "labels", "skips", "expected"),
    [
        (1, "", "", ("open", "")),
        (1, "a", "", ("labelled", "a")),
        (1, "", "s", ("skipped", "")),
        (1, "ab", "", ("disputed", "")),
        (1, "abb", "", ("labelled", "b")),
        (1, "a", "s", ("labelled", "a")),
        (2, "a", "", ("open", "")),
        (2, "", "s", ("open", "")),
        (2, "a", "s", ("disputed", "")),
        (2, "a", "ss", ("skipped", "")),
        (2, "aa", "s", ("labelled", "a")),
        (2, "aa", "ss", ("labelled", "a")),
        (2, "", "ss", ("skipped", "")),
        (2, "aa", "", ("labelled", "a")),
        (2, "ab", "", ("disputed", "")),
        (2, "aba", "", ("labelled", "a")),
        (2, "abc", "", ("disputed", "")),
        (2, "ab", "s", ("skipped", "")),
        (3, "ab", "", ("open", "")),
        (3, "aab", "", ("labelled", "a")),
        (3, "aa", "s", ("disputed", "")),
        (3, "", "ss", ("open", "")),
        (3, "abc", "", ("disputed", "")),
        (4, "aabb", "", ("disputed", "")),
        (4, "aabbc", "", ("disputed", "")),
    ],
)
def test_what_counts(needed: int, labels: str, skips: str, expected: tuple[str, str]) -> None:
    standing, label = settled(said(labels), said(skips, first=100), needed, "classification")
    assert (standing, str(label or "")) == expected


def test_a_tie_waits_for_one_more_label_though_somebody_skipped_before() -> None:
    early = said("s", first=1)
    assert settled(said("ab", first=10), early, 2, "classification") == ("disputed", None)


def test_of_numbers_the_median_counts() -> None:
    numbers = tuple(Annotation("i", Value(number), str(number)) for number in (1.0, 10.0, 2.0))
    assert settled(numbers, (), 2, "regression") == ("labelled", Value(2.0))
    assert settled(numbers[:2], (), 2, "regression") == ("labelled", Value(5.5))


def test_several_labels_for_each_item(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=10, labels_per_item=2)
    order = list(campaign.state.items)
    for by in ("Ann", "Bob"):
        assert campaign.ask(by, n=20) == order
        for item in order:
            campaign.tell(item, truth(animals(), item), by=by)
        assert campaign.progress().complete == (by == "Bob")
    assert campaign.ask("Cy", n=20) == []
    progress = campaign.progress()
    assert (progress.labelled, progress.agreement, progress.annotators) == (10, 1.0, {"Ann": 10, "Bob": 10})


def test_several_people_have_an_item_at_once_as_many_as_it_wants(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=3, labels_per_item=2)
    order = list(campaign.state.items)
    assert campaign.ask("Ann", n=9) == campaign.ask("Bob", n=9) == campaign.ask("Ann", n=9) == order
    assert campaign.ask("Cy", n=9) == []
    campaign.tell(order[0], "right", by="Ann")
    assert campaign.ask("Cy", n=9) == []
    campaign.release(order[1], by="Bob")
    assert campaign.ask("Cy", n=9) == [order[1]]
    campaign.tell(order[1], "right", by="Cy")
    campaign.tell(order[1], "right", by="Ann")
    assert campaign.state.items[order[1]].standing == "labelled"
    assert campaign.progress().leased == 2


def test_a_skip_leaves_an_item_for_another_person(tmp_path: Path) -> None:
    """Until as many have labelled it as wanted, or as many have skipped it."""
    campaign = start(tmp_path, animals(), "srs", budget=12, labels_per_item=2)
    order = list(campaign.state.items)
    for by in ("Ann", "Bob"):
        for item in campaign.ask(by, n=20):
            if (item, by) in ((order[0], "Ann"), (order[1], "Bob")):
                campaign.skip(item, "blurred", by=by)
            else:
                campaign.tell(item, "right", by=by)
    progress = campaign.progress()
    assert (progress.labelled, progress.disputed, progress.skipped, progress.complete) == (10, 2, 0, False)
    assert campaign.estimate().labels == 10
    assert campaign.ask("Ann") == campaign.ask("Bob") == []
    assert campaign.ask("Cy", n=9) == order[:2]
    campaign.tell(order[0], "right", by="Cy")
    campaign.skip(order[1], "blurred", by="Cy")
    progress = campaign.progress()
    assert (progress.labelled, progress.disputed, progress.skipped, progress.complete) == (11, 0, 1, True)


def test_a_name_in_other_letters_is_the_same_person(tmp_path: Path) -> None:
    """The first spelling is shown, whatever is typed later; and one person is not two."""
    campaign = start(tmp_path, animals(), "srs", budget=3, labels_per_item=2)
    order = campaign.ask("Zoë", n=3)
    assert campaign.ask("ZOË", n=3) == campaign.ask(" zoe\u0308 ", n=3) == order
    told = campaign.tell(order[0], "right", by="zoë", key="k")
    assert campaign.tell(order[0], "right", by="Zoë", key="k") == told
    assert campaign.tell(order[0], "right", by="ZOË") == told
    campaign.tell_all(
        [Annotation(item, Outcome(right=True), by) for item, by in ((order[1], "bob"), (order[2], "Bob"))]
    )
    assert campaign.progress().annotators == {"Zoë": 1, "bob": 2}
    campaign.retract(order[0], by="zoë")
    campaign.release(order[0], by="ZOË")
    assert campaign.close(by="BOB").by == "bob"


def test_a_tie_goes_back_for_one_more(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=20, labels_per_item=2)
    order = list(campaign.state.items)
    for by in ("Ann", "Bob"):
        for item in campaign.ask(by, n=40):
            campaign.tell(item, "wrong" if (item, by) == (order[3], "Bob") else "right", by=by)
    progress = campaign.progress()
    assert (progress.labelled, progress.disputed, progress.complete, progress.agreement) == (19, 1, False, 0.95)
    estimate = campaign.estimate()
    assert estimate.labels == 19
    assert "people disagree on 1 item" in estimate.warnings[0]
    assert campaign.ask("Ann") == campaign.ask("Bob") == []
    assert campaign.ask("Cy", n=5) == [order[3]]
    campaign.tell(order[3], "wrong", by="Cy")
    assert campaign.progress().complete
    assert [failure.item for failure in campaign.failures()] == [order[3]]
    campaign.tell(order[3], "right", by="Cy")
    assert campaign.failures() == []


def test_a_late_label_is_not_thrown_away_and_counts_once(tmp_path: Path) -> None:
    """Somebody else took the item meanwhile; both labels are kept, and a disagreement is one."""
    campaign = start(tmp_path, animals(), "srs", budget=10)
    (item,) = campaign.ask("Ann")
    campaign.tell(item, "right", by="Bob")
    campaign.tell(item, "right", by="Ann")
    assert campaign.progress().labelled == 1
    assert [mark.by for mark in campaign.state.items[item].labels] == ["Bob", "Ann"]
    campaign.tell(item, "wrong", by="Ann")
    assert campaign.state.items[item].standing == "disputed"
    assert campaign.ask("Cy") == [item]


def test_flags_change_nothing_else(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=10)
    label_all(campaign, animals())
    found = campaign.estimate()
    (item, *_) = campaign.state.items
    campaign.flag(item, " look again ", by="Ann")
    campaign.flag(item, "really", by="Ann")
    assert campaign.estimate() is found
    assert [flag.note for flag in campaign.state.items[item].flags] == ["really"]
    assert campaign.progress().flagged == 1


def told(campaign: Campaign, words: Sequence[str]) -> list[str]:
    """A simple random sample labelled with these words, in order."""
    given = campaign.ask("Ann", n=len(words))
    for item, word in zip(given, words, strict=True):
        campaign.tell(item, word, by="Ann")
    return given


def test_nonresponse_by_hand(tmp_path: Path) -> None:
    """Of twelve items two are lost, two others fail: 8/10; 10/12 if the model is right on both, 8/12 if wrong."""
    campaign = start(tmp_path, animals(), "srs", budget=12)
    assert campaign.view.nonresponse() is None
    told(campaign, ["right", "unclear", "right", "wrong", "?", "right", "right", "wrong", *["right"] * 4])
    found = campaign.view.nonresponse()
    assert found is not None
    assert found.estimate is not None
    assert found.if_wrong is not None
    assert (found.count, found.reasons) == (2, {"unclear": 1, "": 1})
    assert found.estimate.value == campaign.estimate().value == pytest.approx(8 / 10, abs=1e-12)
    assert (found.if_right.value, found.if_wrong.value) == pytest.approx((10 / 12, 8 / 12), abs=1e-12)
    assert found.if_wrong.interval.low < found.estimate.interval.low
    assert found.if_right.labels == 12
    assert "2 items could not be labelled" in campaign.estimate().warnings[0]
    assert campaign.progress().skipped == 2


def test_items_in_dispute_are_counted_with_those_that_nobody_could_label(tmp_path: Path) -> None:
    """Of twenty items one is lost and one disputed: what is said about the bounds counts both, as the bounds do."""
    campaign = start(tmp_path, animals(), "srs", budget=20)
    items = told(campaign, ["right"] * 19 + ["unclear"])
    campaign.tell(items[0], other(animals(), items[0]), by="Bob")
    found = campaign.view.nonresponse()
    assert found is not None
    assert (found.count, found.disputed, found.reasons) == (2, 1, {"unclear": 1})
    assert found.if_wrong is not None
    assert found.if_wrong.value == pytest.approx(18 / 20, abs=1e-12)
    assert campaign.estimate().warnings[0] == (
        "1 item could not be labelled, and people disagree on 1 item: the estimate takes them to be like the labelled "
        "ones; 100.0 % if the model is right on all of them, 90.0 % if wrong"
    )
    campaign.tell(items[-1], "right", by="Ann")
    found = campaign.view.nonresponse()
    assert found is not None
    assert (found.count, found.disputed, found.reasons) == (1, 1, {})
    assert campaign.estimate().warnings[0].startswith("people disagree on 1 item: the estimate takes it to be like")


def test_what_one_of_two_people_labelled_is_begun(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=4, labels_per_item=2)
    first, second, third, _ = campaign.ask("Ann", n=4)
    campaign.tell(first, "cat", by="Ann")
    campaign.skip(second, by="Ann")
    campaign.tell(third, "cat", by="Ann")
    campaign.tell(third, "cat", by="Bob")
    progress = campaign.progress()
    assert (progress.begun, progress.open, progress.labelled) == (2, 3, 1)


def test_nonresponse_of_numbers_has_no_worst_case(tmp_path: Path) -> None:
    campaign = start(tmp_path, houses(), "srs", budget=12)
    told(campaign, ["1", "2", "skip", *["3"] * 9])
    found = campaign.view.nonresponse()
    assert found is not None
    assert found.if_wrong is None
    assert found.estimate is not None
    assert found.if_right.value > found.estimate.value


def test_nonresponse_where_every_label_is_needed(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "rhc", budget=10)
    told(campaign, ["right", "skip", *["right"] * 8])
    found = campaign.view.nonresponse()
    assert found is not None
    assert found.estimate is None
    assert found.if_wrong is not None
    assert found.if_right.value == pytest.approx(1.0)
    assert found.if_wrong.value < 1
    with pytest.raises(LabelError, match="could not be labelled"):
        campaign.estimate()


def test_waves_go_on_over_skipped_items(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    for number in range(60):
        (item,) = campaign.ask("Ann")
        campaign.tell(item, "?" if number % 7 == 0 else truth(animals(), item), by="Ann")
    progress = campaign.progress()
    assert (progress.complete, progress.skipped, progress.labelled) == (True, 9, 51)
    assert campaign.estimate().labels == 51
    assert campaign.view.development()[-1].value == campaign.estimate().value


def test_a_skip_is_undone_by_a_label(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=10)
    (item,) = campaign.ask("Ann")
    campaign.skip(item, "blurred", by="Ann")
    assert campaign.state.items[item].standing == "skipped"
    campaign.tell(item, "right", by="Ann")
    entry = campaign.state.items[item]
    assert (entry.standing, entry.skips) == ("labelled", ())
    campaign.skip(item, by="Ann")
    assert campaign.state.items[item].standing == "skipped"
    campaign.retract(item, by="Ann")
    assert campaign.state.items[item].standing == "open"


def test_failures_say_who_and_when(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs", budget=10, clock=lambda: 77.0)
    first, second = campaign.ask("Ann", n=2)
    campaign.tell(first, other(animals(), first), by="Ann")
    campaign.tell(second, "right", by="Ann")
    (failure,) = campaign.failures()
    assert (failure.item, failure.by, failure.at) == (first, "Ann", 77.0)
    assert failure.position == animals().position_of([first])[0]
    assert (str(failure.label), failure.prediction) == (other(animals(), first), prediction(animals(), first))


def test_too_few_labels(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals())
    for expected in range(10):
        with pytest.raises(LabelError):
            campaign.estimate()
        assert campaign.progress().labelled == expected
        campaign.tell(campaign.ask("Ann")[0], "right", by="Ann")
    assert campaign.estimate().labels == 10
    assert math.isnan(campaign.progress().agreement)


def test_true_classes_are_known_unless_somebody_only_said_wrong(tmp_path: Path) -> None:
    from fieldcheck.accuracy.assessment.metrics import true_classes_of

    campaign = start(tmp_path, animals(), "srs", budget=10)
    (last, *_) = told(campaign, ["right"] * 9 + ["cat"])
    labelled, _ = campaign.view.labelled()
    found = true_classes_of(labelled, blank(animals()), campaign.view.labels())
    assert found is not None
    assert found[0] == prediction(animals(), last)
    campaign.tell(last, "wrong", by="Ann")
    labelled, _ = campaign.view.labelled()
    assert true_classes_of(labelled, blank(animals()), campaign.view.labels()) is None
