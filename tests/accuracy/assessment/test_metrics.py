"""Precision, recall, F1 and the confusion matrix: exact where all is known, and honest where little is."""

from __future__ import annotations

import numpy as np
import pytest

import fieldcheck as fc
from fieldcheck.accuracy.assessment.confusion import Crosstab
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.metrics import metrics, true_classes_of
from fieldcheck.accuracy.assessment.scores import ClassScore
from fieldcheck.accuracy.assessment.simulate import play
from fieldcheck.core.draws import EqualDraws
from fieldcheck.core.label import Label, Outcome, TrueClass

RNG = np.random.default_rng(5)
SIZE = 4_000
NAMES = np.array(["a", "b", "c", "d"])
TRUE = RNG.choice(4, SIZE, p=[0.4, 0.3, 0.2, 0.1])
CONFIDENCE = RNG.beta(4, 1, SIZE)
WRONG = RNG.random(SIZE) > CONFIDENCE
SAID = np.where(WRONG, (TRUE + 1 + (RNG.random(SIZE) < 0.3)) % 4, TRUE)
POOL = fc.from_arrays(y_pred=NAMES[SAID], y_true=NAMES[TRUE], confidence=CONFIDENCE)
FIELD = Field.of(POOL, auxiliary=["confidence"])
DESIGNS = [fc.designs.Waves(), fc.designs.Srs()]


def truth() -> dict[tuple[str, str], float]:
    matrix = np.zeros((4, 4))
    np.add.at(matrix, (SAID, TRUE), 1)
    hits, said, are = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    by = {"precision": hits / said, "recall": hits / are, "f1": 2 * hits / (said + are)}
    found = {(metric, str(NAMES[at])): float(values[at]) for metric, values in by.items() for at in range(4)}
    found |= {(metric, "macro"): float(values.mean()) for metric, values in by.items()}
    return found | {("accuracy", "all"): float((SAID == TRUE).mean())}


def campaign(design: fc.Design, budget: int, seed: int) -> tuple[fc.Labelled, list[str]]:
    labelled = play(FIELD, design, budget=budget, seed=seed)
    return labelled, NAMES[TRUE[labelled.sample.items]].tolist()


@pytest.mark.parametrize("design", DESIGNS)
def test_with_all_labels_only_the_shrinkage_is_left(design: fc.Design) -> None:
    """Everything is labelled: failures are exact, and their classes but for one failure that each row borrows."""
    labelled, classes = campaign(design, SIZE, 0)
    found = metrics(labelled, POOL, classes)
    for score in found.scores:
        assert score.value == pytest.approx(truth()[score.metric, score.name], abs=0.003)
    assert found.confusion is not None
    matrix = np.zeros((4, 4))
    np.add.at(matrix, (SAID, TRUE), 1)
    assert np.abs(np.array(found.confusion.counts) - matrix).max() <= 1.5


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("seed", range(3))
def test_the_matrix_holds_every_item_once(design: fc.Design, seed: int) -> None:
    labelled, classes = campaign(design, 200, seed)
    found = metrics(labelled, POOL, classes, ("confusion",)).confusion
    assert found is not None
    assert np.sum(found.counts, axis=1) == pytest.approx(np.bincount(SAID), abs=1e-9)
    assert np.min(found.counts) >= 0
    assert all(low <= items <= high for *_, items, low, high in found.largest)


def test_rows_of_shares_add_up_and_leave_out_the_diagonal() -> None:
    labelled, classes = campaign(fc.designs.Waves(), 200, 0)
    table = Crosstab.of(labelled, POOL, classes)
    assert table.share.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.diag(table.share) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("metric", ["precision", "recall", "f1"])
def test_the_expansion_is_that_of_the_metric(metric: str) -> None:
    """A few more failures of one predicted class move the macro mean as the weights of the variance say."""
    labelled, classes = campaign(fc.designs.Waves(), 400, 0)
    table = Crosstab.of(labelled, POOL, classes)
    value, lost, missed = table._pieces(metric)
    step = 1e-4
    for row in range(4):
        failing = table.failing.copy()
        failing[row] += step
        moved = Crosstab(**{**vars(table), "failing": failing})._pieces(metric)[0].mean()
        slope = -(lost[row] + table.share[row] @ missed) / 4
        assert (moved - value.mean()) / step == pytest.approx(slope, rel=1e-3)


def test_precision_and_accuracy_need_no_classes() -> None:
    labelled, classes = campaign(fc.designs.Waves(), 200, 0)
    with_classes = metrics(labelled, POOL, classes, ("accuracy", "precision"))
    assert metrics(labelled, POOL, None, ("accuracy", "precision")).to_dict() == with_classes.to_dict()


@pytest.mark.parametrize("which", ["recall", "f1", "confusion"])
def test_outcomes_do_not_tell_which_class_is_missed(which: str) -> None:
    labelled, _ = campaign(fc.designs.Waves(), 100, 0)
    with pytest.raises(fc.LabelError, match=which):
        metrics(labelled, POOL, None, ("accuracy", which))


def test_bad_requests_are_refused() -> None:
    labelled, classes = campaign(fc.designs.Srs(), 100, 0)
    with pytest.raises(fc.FieldcheckError, match="no metric 'auc'"):
        metrics(labelled, POOL, classes, ("auc",))
    with pytest.raises(fc.LabelError, match="99 true classes"):
        metrics(labelled, POOL, classes[1:], ("recall",))
    with pytest.raises(fc.LabelError, match="disagree"):
        metrics(labelled, POOL, ["a"] * 100, ("recall",))
    stratified = play(FIELD, fc.designs.Ssrs(), budget=100, seed=0)
    with pytest.raises(fc.SampleError):
        metrics(stratified, POOL, NAMES[TRUE[stratified.sample.items]].tolist(), ("recall",))


def test_few_failures_say_nothing_about_recall() -> None:
    right = fc.from_arrays(y_pred=NAMES[TRUE], y_true=NAMES[TRUE], confidence=CONFIDENCE)
    labelled = play(Field.of(right, auxiliary=["confidence"]), fc.designs.Srs(), budget=200, seed=0)
    found = metrics(labelled, right, NAMES[TRUE[labelled.sample.items]].tolist(), ("recall", "f1"))
    assert all(score.value is None and score.interval is None for score in found.scores)
    assert "0 failures found" in found.scores[-1].remark


def test_a_class_without_a_miss_gets_a_bound_that_holds() -> None:
    """Class a is never missed here; the bound lies under its recall of 1 and is no number for it."""
    said = np.where(TRUE == 0, 0, np.where(WRONG, 0, TRUE))
    pool = fc.from_arrays(y_pred=NAMES[said], y_true=NAMES[TRUE], confidence=CONFIDENCE)
    labelled = play(Field.of(pool, auxiliary=["confidence"]), fc.designs.Waves(), budget=300, seed=0)
    found = metrics(labelled, pool, NAMES[TRUE[labelled.sample.items]].tolist(), ("recall",))
    score: ClassScore = found.scores[0]
    assert score.name == "a"
    assert score.value is None
    assert score.interval is not None
    assert 0.5 < score.interval.low < 1.0 == score.interval.high
    assert "bound" in score.remark


def test_a_class_that_is_never_predicted_has_a_column_and_counts_in_the_mean() -> None:
    labelled, classes = campaign(fc.designs.Waves(), 300, 1)
    strange = ["e" if name != said else name for name, said in zip(classes, _said(labelled), strict=True)]
    found = metrics(labelled, POOL, strange, ("recall", "confusion"))
    assert found.confusion is not None
    assert found.confusion.true == ("a", "b", "c", "d", "e")
    macro = next(score for score in found.scores if score.name == "macro")
    assert macro.value is not None
    assert macro.value < 0.85


def _said(labelled: fc.Labelled) -> list[str]:
    return NAMES[SAID[labelled.sample.items]].tolist()


def test_true_classes_are_those_of_the_labels_unless_one_only_says_wrong() -> None:
    pool = fc.from_arrays(y_pred=["Ant", "7", "bee"], ids=["x", "y", "z"])
    sample = fc.Sample(3, np.arange(3), "mean", EqualDraws(replacement=False))
    labelled = fc.Labelled(sample, np.array([0.0, 0.0, 1.0]), np.array([False, False, True]))

    def classes(*labels: Label) -> list[str] | None:
        return true_classes_of(labelled, pool, dict(zip("xyz", labels, strict=True)))

    known = TrueClass("Ant"), TrueClass("7")
    assert classes(*known, TrueClass("wasp")) == ["Ant", "7", "wasp"]
    assert classes(*known, Outcome(right=False)) is None


@pytest.mark.parametrize("design", DESIGNS)
def test_scores_cover(design: fc.Design) -> None:
    """100 campaigns: what is shown misses at most as often as 8 % would with probability 1e-6.

    Scores of one campaign share its labels, so campaigns are counted: each contributes the share that it covers.
    """
    right = truth()
    shares = []
    for seed in range(100):
        labelled, classes = campaign(design, 250, seed)
        scores = metrics(labelled, POOL, classes, ("precision", "recall", "f1")).scores
        inside = [right[one.metric, one.name] in one.interval for one in scores if one.interval is not None]
        shares.append(np.mean(inside))
    assert np.mean(shares) >= 0.92 - 4.76 * np.std(shares) / np.sqrt(len(shares))
