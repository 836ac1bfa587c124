"""The pool: what it refuses, what it derives, and what it says about itself."""

from __future__ import annotations

import hashlib
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.errors import BudgetError, FieldcheckError, PoolError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.pools.arrays import from_arrays

PROBA = np.array([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


def pool_of(size: int = 4, **more: object) -> Pool:
    given_ = {"y_pred": np.arange(size) % 2, "confidence": np.linspace(0.5, 1.0, size), **more}
    return from_arrays(**given_)  # type: ignore[arg-type]


def message(error: pytest.ExceptionInfo[Exception]) -> str:
    return str(error.value)


class TestClassification:
    def test_losses_are_one_where_the_prediction_is_not_the_target(self) -> None:
        pool = from_arrays(y_pred=["cat", "dog", "cat"], y_true=["cat", "cat", "cow"])
        assert pool.task == "classification"
        assert pool.classes == ("cat", "cow", "dog")
        assert pool.predictions is not None
        assert pool.predictions.dtype == np.int32
        assert pool.losses().tolist() == [0.0, 1.0, 1.0]
        assert pool.truth_known

    def test_whole_floats_are_the_same_classes_as_integers(self) -> None:
        pool = from_arrays(y_pred=np.array([1, 2, 10]), y_true=np.array([1.0, 3.0, 10.0]))
        assert pool.classes == ("1", "2", "3", "10")
        assert pool.losses().tolist() == [0.0, 1.0, 0.0]

    def test_truth_values_compare_with_zero_and_one(self) -> None:
        pool = from_arrays(y_pred=np.array([True, False]), y_true=np.array([1, 1]))
        assert pool.losses().tolist() == [0.0, 1.0]

    def test_truth_values_among_themselves_keep_their_names(self) -> None:
        assert from_arrays(y_pred=np.array([True, False])).classes == ("false", "true")

    def test_text_against_numbers_is_refused(self) -> None:
        with pytest.raises(PoolError, match="target") as error:
            from_arrays(y_pred=["cat", "dog"], y_true=[0, 1])
        assert "'cat'" in message(error)

    def test_fractions_are_no_classes(self) -> None:
        with pytest.raises(PoolError, match=r"0\.5.*row 2"):
            from_arrays(y_pred=[1.0, 0.5], task="classification")

    def test_unknown_task_is_refused(self) -> None:
        with pytest.raises(PoolError, match="clustering"):
            from_arrays(y_pred=[1, 2], task="clustering")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "words",
        [
            ["Pass", "FAIL"],
            ["right", "wrong"],
            ["correct", "incorrect"],
            [True, False],
            [1, 0],
            ["yes", "no"],
            [1.0, 0.0],
        ],
    )
    def test_outcome_words(self, words: list[object]) -> None:
        pool = from_arrays(outcome=words)
        assert pool.losses().tolist() == [0.0, 1.0]
        assert pool.predictions is None

    def test_other_words_are_no_outcome(self) -> None:
        with pytest.raises(PoolError, match="maybe"):
            from_arrays(outcome=["maybe", "Pass"])

    def test_outcome_that_contradicts_the_target_is_refused(self) -> None:
        with pytest.raises(PoolError, match=r"1 of 2 items.*row 2"):
            from_arrays(y_pred=[1, 2], y_true=[1, 2], outcome=["Pass", "Fail"])

    def test_truth_unknown(self) -> None:
        pool = pool_of()
        assert not pool.truth_known
        with pytest.raises(PoolError, match="truth"):
            pool.losses()

    def test_nothing_said_by_the_model_is_refused(self) -> None:
        with pytest.raises(PoolError, match="prediction"):
            from_arrays(confidence=[0.5])


class TestRegression:
    def test_losses(self) -> None:
        pool = from_arrays(y_pred=[0.5, 1.0], y_true=[0.0, 4.0])
        assert pool.task == "regression"
        assert pool.losses().tolist() == [0.25, 9.0]
        assert pool.losses("absolute").tolist() == [0.5, 3.0]

    def test_unknown_loss(self) -> None:
        with pytest.raises(FieldcheckError, match="cubic"):
            from_arrays(y_pred=[0.5], y_true=[1.5]).losses("cubic")

    def test_numbers_beyond_exact_integers_are_no_classes(self) -> None:
        assert from_arrays(y_pred=[2.0**60, 1.0]).task == "regression"

    def test_whole_predictions_of_a_fractional_truth_are_regression(self) -> None:
        assert from_arrays(y_pred=[1, 2], y_true=[1.5, 2.5]).task == "regression"

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_numbers_are_finite(self, bad: float) -> None:
        with pytest.raises(PoolError, match=f"'b' with {bad} "):
            from_arrays(y_pred=[0.5, bad], ids=["a", "b"])

    def test_text_is_no_number(self) -> None:
        with pytest.raises(PoolError, match=r"'0,5'.*row 1"):
            from_arrays(y_pred=["0,5", "1"], task="regression")


class TestIds:
    def test_numbered_where_there_are_none(self) -> None:
        pool = pool_of(3)
        assert pool.ids.tolist() == [0, 1, 2]
        assert "numbered" in pool.notes[0]

    def test_whole_floats_are_integers(self) -> None:
        assert pool_of(2, ids=[0.0, 7.0]).id_of(1) == "7"

    @pytest.mark.parametrize(("ids", "who"), [([3, 1, 3, 3], "3"), (["a", "b", "a", "a"], "a")])
    def test_duplicates_are_refused(self, ids: list[object], who: str) -> None:
        with pytest.raises(PoolError, match=f"2 of 4 items.*{who}.*row 3"):
            pool_of(4, ids=ids)

    @pytest.mark.parametrize("ids", [["a", None, "b"], ["a", "", "b"], [1.0, np.nan, 2.0]])
    def test_missing_ids_are_refused(self, ids: list[object]) -> None:
        with pytest.raises(PoolError, match=r"'id'.*1 of 3.*row 2"):
            pool_of(3, ids=ids)

    @given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20, unique=True), st.data())
    def test_positions_of_integers(self, ids: list[int], data: st.DataObject) -> None:
        pool = pool_of(len(ids), ids=np.array(ids, dtype=np.int64))
        at = data.draw(st.lists(st.integers(0, len(ids) - 1)))
        assert pool.position_of([ids[i] for i in at]).tolist() == at
        assert pool.position_of([pool.id_of(i) for i in at]).tolist() == at

    @given(st.lists(st.text(min_size=1), min_size=1, max_size=20, unique=True), st.data())
    def test_positions_of_text(self, ids: list[str], data: st.DataObject) -> None:
        pool = pool_of(len(ids), ids=ids)
        at = data.draw(st.lists(st.integers(0, len(ids) - 1)))
        assert pool.position_of([pool.id_of(i) for i in at]).tolist() == at

    @pytest.mark.parametrize("ids", [[1, 2, 3], ["a", "b", "c"]])
    def test_unknown_ids_are_named(self, ids: list[object]) -> None:
        with pytest.raises(PoolError, match="'zebra'"):
            pool_of(3, ids=ids).position_of([ids[0], "zebra"])  # type: ignore[list-item]


class TestConfidence:
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -0.25, 1.5])
    def test_out_of_range(self, bad: float) -> None:
        with pytest.raises(PoolError) as error:
            pool_of(3, confidence=[0.5, bad, 1.0], ids=["a", "b", "c"])
        for fact in ("'confidence'", "1 of 3 items", "'b'", str(bad), "row 2"):
            assert fact in message(error)

    def test_single_precision_may_exceed_one(self) -> None:
        pool = pool_of(2, confidence=np.array([1.0 + 2e-7, 0.5], dtype=np.float32))
        assert derived.values(pool, "confidence").tolist() == [0.0, 0.5]

    def test_largest_probability_where_it_is_not_given(self) -> None:
        pool = from_arrays(y_proba=PROBA)
        assert pool.confidence is not None
        assert pool.confidence.tolist() == [0.7, 0.5, 1.0]
        assert pool.predictions is not None
        assert pool.predictions.tolist() == [0, 0, 2]


class TestProbabilities:
    def test_must_sum_to_one(self) -> None:
        with pytest.raises(PoolError, match=r"sum.*with 0\.9 .*row 2"):
            from_arrays(y_proba=[[0.5, 0.5], [0.5, 0.4]])

    @pytest.mark.parametrize("bad", [np.nan, -0.5, 1.5])
    def test_must_be_in_range(self, bad: float) -> None:
        with pytest.raises(PoolError, match=f"{bad}.*row 2"):
            from_arrays(y_proba=[[0.5, 0.5], [bad, 0.5]])

    def test_must_be_a_matrix(self) -> None:
        with pytest.raises(PoolError, match=r"\(3,\)"):
            from_arrays(y_proba=[0.1, 0.5, 0.4])

    def test_columns_are_classes_in_order_as_in_scikit_learn(self) -> None:
        pool = from_arrays(y_pred=["b", "a"], y_proba=[[0.2, 0.8], [0.9, 0.1]])
        assert pool.classes == ("a", "b")

    def test_columns_of_unknown_class_are_refused(self) -> None:
        with pytest.raises(PoolError, match="classes="):
            from_arrays(y_pred=["b", "a", "a"], y_proba=PROBA)

    def test_prediction_outside_the_classes_is_refused(self) -> None:
        with pytest.raises(PoolError, match=r"7.*row 2"):
            from_arrays(y_pred=[0, 7, 1], y_proba=PROBA)

    def test_target_outside_the_classes_is_a_failure(self) -> None:
        pool = from_arrays(y_pred=[0, 1, 2], y_true=[0, 9, 2], y_proba=PROBA)
        assert pool.classes == ("0", "1", "2", "9")
        assert pool.losses().tolist() == [0.0, 1.0, 0.0]

    def test_names_must_fit(self) -> None:
        with pytest.raises(PoolError, match="2 class names"):
            from_arrays(y_proba=PROBA, classes=["a", "b"])


class TestAuxiliary:
    def test_by_hand(self) -> None:
        pool = from_arrays(y_proba=PROBA)
        ln2 = np.log(2)
        assert derived.values(pool, "margin") == pytest.approx([0.5, 1.0, 0.0], abs=1e-12)
        assert derived.values(pool, "gini") == pytest.approx([0.46, 0.5, 0.0], abs=1e-12)
        by_hand = -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1))
        assert derived.values(pool, "entropy") == pytest.approx([by_hand, ln2, 0.0], abs=1e-12)
        assert derived.names(pool) == ("confidence", "margin", "entropy", "gini")

    def test_an_own_column_goes_first(self) -> None:
        pool = from_arrays(y_proba=PROBA, auxiliary={"Margin": [1.0, 2.0, 3.0]})
        assert derived.values(pool, "margin").tolist() == [1.0, 2.0, 3.0]

    def test_combined_by_definition(self) -> None:
        pool = pool_of(2, confidence=[0.5, 1.0], auxiliary={"DSA": [2.0, 1.0]})
        assert derived.values(pool, "combined").tolist() == [1.0, 0.5]

    def test_combined_without_surprise_is_lack_of_confidence(self) -> None:
        pool = pool_of(2, confidence=[0.5, 1.0], auxiliary={"dsa": [0.0, 0.0]})
        assert derived.values(pool, "combined").tolist() == [0.5, 0.0]

    def test_combined_as_published_is_a_probability_of_being_right(self) -> None:
        pool = pool_of(2, auxiliary={"dsa": [2.0, 1.0], "conf*(1-norm_dsa)": [0.75, 0.5]})
        assert derived.values(pool, "combined").tolist() == [0.25, 0.5]
        assert derived.values(pool, "conf*(1-norm_dsa)").tolist() == [0.25, 0.5]
        assert "conf*(1-norm_dsa)" not in derived.names(pool)

    def test_what_cannot_be_used_is_not_offered(self) -> None:
        columns = {"LSA": [1, 2], "neg": [-1, 2], "gap": [1.0, np.nan], "uniform": [1, 1], "text": ["a", "b"]}
        assert derived.names(pool_of(2, auxiliary=columns)) == ("confidence", "lsa")

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -3.5])
    def test_refused_where_negative_or_not_finite(self, bad: float) -> None:
        pool = pool_of(3, ids=["a", "b", "c"], auxiliary={"lsa": [1.0, 2.0, bad]})
        with pytest.raises(PoolError) as error:
            derived.values(pool, "LSA")
        for fact in ("LSA", "1 of 3 items", "'c'", str(bad), "row 3", "--shift"):
            assert fact in message(error)

    def test_shift_subtracts_the_minimum(self) -> None:
        pool = pool_of(3, auxiliary={"lsa": [-1.0, 2.0, 0.0]}).shifted(["LSA"])
        assert derived.values(pool, "lsa").tolist() == [0.0, 3.0, 1.0]
        assert "-1" in pool.notes[-1]

    def test_names_that_differ_in_case_only(self) -> None:
        pool = pool_of(2, auxiliary={"DSA": [1, 2], "dsa": [3, 4]})
        assert derived.names(pool) == ("confidence",)
        with pytest.raises(PoolError, match="differ only in case"):
            derived.values(pool, "dsa")

    def test_unknown_names_what_there_is(self) -> None:
        with pytest.raises(PoolError, match="confidence") as error:
            derived.values(pool_of(), "dsa")
        assert "'dsa'" in message(error)

    @given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
    def test_confidence_turns_around(self, values: list[float]) -> None:
        chi = derived.values(pool_of(len(values), confidence=values), "Confidence")
        assert np.all((chi >= 0) & (chi <= 1))
        assert chi == pytest.approx(1 - np.array(values))


class TestFrame:
    def test_holds_what_was_named_and_no_truth(self) -> None:
        pool = pool_of(4, auxiliary={"LSA": [1, 2, 3, 4]}, y_true=[0, 1, 0, 0])
        frame = derived.frame(pool, ["LSA"])
        assert set(frame.auxiliary) == {"lsa"}
        assert frame.size == 4
        assert frame.values("lsa").dtype == np.float64

    @pytest.mark.parametrize("shape", [(3, 2), (4,), (4, 2, 1)])
    def test_activations_have_one_row_per_item(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(PoolError, match="4 items"):
            derived.frame(pool_of(4), [], np.zeros(shape))

    def test_activations_are_finite(self) -> None:
        activations = np.zeros((4, 2))
        activations[2, 1] = np.nan
        with pytest.raises(PoolError, match=r"'2' \(row 3\), neuron 2"):
            derived.frame(pool_of(4), [], activations)

    @pytest.mark.parametrize("budget", [-1, 0, 1, 5])
    def test_budget(self, budget: int) -> None:
        with pytest.raises(BudgetError, match=str(budget)):
            pool_of(4).check_budget(budget)

    def test_budget_that_can_be_spent(self) -> None:
        pool_of(4).check_budget(2)
        pool_of(4).check_budget(4)


class TestShape:
    def test_empty(self) -> None:
        with pytest.raises(PoolError, match="empty"):
            from_arrays(y_pred=np.array([], dtype=int))

    def test_lengths_differ(self) -> None:
        with pytest.raises(PoolError, match="'confidence' has 3 values, 'prediction' has 4"):
            pool_of(4, confidence=[0.1, 0.2, 0.3])

    def test_mixed_values(self) -> None:
        with pytest.raises(PoolError, match="not one kind"):
            from_arrays(y_pred=["a", 1])

    def test_no_sequence(self) -> None:
        with pytest.raises(PoolError, match="'prediction'"):
            from_arrays(y_pred=3)

    def test_masked_values_are_missing(self) -> None:
        with pytest.raises(PoolError, match=r"missing for 1 of 2.*row 2"):
            from_arrays(y_pred=np.ma.masked_array([1, 2], [False, True]))

    def test_two_dimensions(self) -> None:
        with pytest.raises(PoolError, match="2 dimensions"):
            from_arrays(y_pred=np.zeros((2, 2)))

    def test_select(self) -> None:
        pool = pool_of(4, ids=["a", "b", "c", "d"], metadata={"m": ["w", "x", "y", "z"]}, y_true=[0, 0, 0, 0])
        part = pool.select([3, 1])
        assert [part.id_of(i) for i in range(2)] == ["d", "b"]
        assert part.column("M").to_pylist() == ["z", "x"]
        assert part.losses().tolist() == [1.0, 1.0]

    def test_goes_to_another_process(self) -> None:
        pool = pickle.loads(pickle.dumps(pool_of(3, ids=["a", "b", "c"])))  # noqa: S301 -- our own
        assert pool.id_of(2) == "c"


class TestDigest:
    def test_same_for_the_same_pool_however_stored(self) -> None:
        ids = ["a", "bc", "d"]
        chunks = pa.chunked_array([["a"], ["bc", "d"]])
        assert pool_of(3, ids=ids).digest() == pool_of(3, ids=chunks).digest()

    def test_boundaries_of_ids_count(self) -> None:
        assert pool_of(2, ids=["ab", "c"]).digest() != pool_of(2, ids=["a", "bc"]).digest()

    def test_truth_does_not_count(self) -> None:
        assert pool_of(4).digest() == pool_of(4, y_true=[9, 1, 0, -5]).digest()

    @pytest.mark.parametrize(
        "change", [{"y_pred": [1, 1, 0, 1]}, {"ids": [0, 1, 2, 4]}, {"confidence": [0.5, 0.6, 0.7, 0.8]}]
    )
    def test_everything_else_counts(self, change: dict[str, object]) -> None:
        assert derived.digest(pool_of(4), ["confidence"]) != derived.digest(pool_of(4, **change), ["confidence"])

    def test_renamed_classes_count(self) -> None:
        assert from_arrays(y_pred=["a", "b"]).digest() != from_arrays(y_pred=["a", "c"]).digest()

    def test_stays_the_same_between_versions(self) -> None:
        """A sidecar written today must know its pool tomorrow, so the bytes are spelled out here."""
        names = [hashlib.sha256(name).digest()[:8] for name in (b"0", b"1")]
        parts = [
            np.array([0, 1, 2, 3], dtype="<i8").tobytes(),
            np.array([0.5, 0.25, 0.125, 0.0], dtype="<f8").tobytes(),
            names[0] + names[1] + names[0] + names[1],
        ]
        rows = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
        block = hashlib.blake2b(rows, digest_size=32).digest()
        pool = pool_of(4, confidence=[0.5, 0.75, 0.875, 1.0])
        assert derived.digest(pool, ["confidence"]) == hashlib.sha256(b"confidence" + block).hexdigest()[:16]


class TestPandas:
    def test_columns_are_recognised_and_the_index_is_the_id(self) -> None:
        frame = pd.DataFrame({"y_pred": ["a", "b"], "Conf": [0.5, 0.75], "y_true": ["a", "a"]}, index=["x", "y"])
        pool = sources.load(frame)
        assert pool.id_of(1) == "y"
        assert pool.losses().tolist() == [0.0, 1.0]
        assert derived.values(pool, "confidence").tolist() == [0.5, 0.25]

    def test_mapped(self) -> None:
        frame = pd.DataFrame({"yhat": pd.Categorical(["a", "b"]), "key": [5, 6], "ok": [True, False]})
        pool = sources.load(frame, columns={"prediction": "yhat", "id": "key"}, truth="ok", name="mine")
        assert pool.name == "mine"
        assert pool.ids.tolist() == [5, 6]
        assert pool.losses().tolist() == [0.0, 1.0]

    def test_unknown_column(self) -> None:
        with pytest.raises(PoolError, match="'y_hat'"):
            sources.load(pd.DataFrame({"y_hat": [1]}), columns={"prediction": "yhat"})
