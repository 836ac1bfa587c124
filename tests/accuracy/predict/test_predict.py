"""From a model and inputs to a pool: the numbers, what is run, what is said, what is left behind."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.predict import ActivationsFile, from_predictions, predict
from fieldcheck.accuracy.predict.read_ahead import ahead
from fieldcheck.accuracy.predict.reference import limited
from fieldcheck.core.errors import DesignError, FieldcheckError, InputsError, ModelError, PoolError
from fieldcheck.core.inputs import Subset
from fieldcheck.files.whole import whole_file
from fieldcheck.models import Opening
from fieldcheck.sources import load, open_inputs, save

from .subjects import WEIGHTS, Linear, labelled, rows, softmax


def test_probabilities_predictions_and_confidence() -> None:
    items = rows(50)
    want = softmax(items @ WEIGHTS)
    pool = predict(Linear(), items)
    np.testing.assert_allclose(pool.probabilities, want, atol=1e-7)
    assert [pool.classes[code] for code in pool.predictions] == [str(code) for code in want.argmax(axis=1)]
    np.testing.assert_allclose(pool.confidence, want.max(axis=1), atol=1e-12)
    assert not pool.truth_known
    assert "a linear model" in pool.notes


@settings(max_examples=25, deadline=None)
@given(size=st.integers(1, 40), batch=st.integers(1, 50))
def test_the_batch_size_does_not_matter(size: int, batch: int) -> None:
    items, known = rows(size), labelled(20, seed=9)
    given_ = {"reference": known, "auxiliary": ["confidence", "dsa", "knn_disagreement", "entropy"]}
    whole, parts = predict(Linear(), items, **given_), predict(Linear(), items, batch=batch, **given_)
    np.testing.assert_allclose(whole.probabilities, parts.probabilities, atol=1e-6)
    for name in ("dsa", "knn_disagreement", "entropy"):
        np.testing.assert_allclose(whole.columns[name], parts.columns[name], atol=1e-6)


def test_dsa_by_hand() -> None:
    """Of the reference (-1, -1) has class 2 and (3, 0) class 0, as (1, 0) has: 2 away from it, and these √17 apart."""
    model = Linear()
    reference = np.array([[-1.0, -1.0], [3.0, 0.0]])
    pool = predict(model, np.array([[1.0, 0.0]]), reference=reference, auxiliary=["dsa"])
    assert pool.columns["dsa"][0] == pytest.approx(2.0 / np.hypot(4.0, 1.0))
    assert model.asked == {"hidden"}


def test_nothing_is_run_that_nobody_needs() -> None:
    model = Linear()
    predict(model, rows(10), reference=rows(30), auxiliary=["confidence", "margin"], batch=10)
    assert model.asked == set()
    assert sum(model.batches) < 2 * 10 + 5


def test_symmetry_by_hand() -> None:
    """The mirrored item swaps the two features, so the first two classes swap their probabilities."""
    items = np.array([[2.0, 0.0], [1.0, 1.0]])
    pool = predict(Linear(), items, symmetry=lambda batch: batch[:, ::-1])
    p = softmax(items @ WEIGHTS)
    mean = (p[0, 0] + p[0, 1]) / 2
    doubt = np.log((1 - mean) / mean)
    assert pool.columns["symmetry"][0] == pytest.approx(doubt + np.log((1 - 1e-6) / 1e-6), abs=1e-6)


def test_member_is_asked_in_the_order_of_our_classes() -> None:
    items = rows(20)
    ours, theirs = Linear(classes=("a", "b", "c")), Linear(classes=("c", "a", "b"))
    pool = predict(ours, items, member=theirs)
    p = softmax(items @ WEIGHTS)
    # Their first column is class c: what they give to our class a is their second column.
    given_ = p[:, [1, 2, 0]][np.arange(20), p.argmax(axis=1)]
    want = np.clip(np.log((1 - given_) / given_), -7, 5) + 7
    np.testing.assert_allclose(pool.columns["member"], want, atol=1e-6)
    with pytest.raises(ModelError, match="other classes"):
        predict(ours, items, member=Linear(classes=("a", "b", "x")))


def test_a_member_can_be_trained_on_the_reference() -> None:
    pool = predict(Linear(), rows(30), reference=labelled(300, seed=3), member="train")
    assert np.ptp(pool.columns["member"]) > 0
    assert any(note.startswith("member: perceptron") for note in pool.notes)
    with pytest.raises(InputsError, match="reference"):
        predict(Linear(), rows(30), member="train")


def test_features_of_an_extractor() -> None:
    """Neighbours in features that only know the second number are those whose second number is close."""
    reference = [(np.array([x, y]), int(y > 0)) for x, y in rows(60, seed=5)]
    items = np.array([[50.0, 3.0], [-50.0, -3.0]])

    def second(batch: np.ndarray) -> np.ndarray:
        return batch[:, 1:]

    pool = predict(
        Linear(), items, reference=reference, auxiliary=["knn_disagreement:k=3"], features=second, classes=list("abc")
    )
    codes = softmax(items @ WEIGHTS).argmax(axis=1)
    np.testing.assert_array_equal(pool.columns["knn_disagreement"], (codes != np.array([1, 0])).astype(float))


def test_truth_only_when_asked_for() -> None:
    items = labelled(40)
    assert predict(Linear(), items).target is None
    pool = predict(Linear(), items, labels=True)
    codes = np.array([code for _, code in items])
    np.testing.assert_array_equal(pool.failed, pool.predictions != codes)
    np.testing.assert_array_equal(predict(Linear(), items, labels=codes[::-1]).target, codes[::-1])
    with pytest.raises(InputsError, match="truth"):
        predict(Linear(), rows(3), labels=True)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [(["b", "a"], ("a", "b", "c")), ([1, 0], ("a", "b", "c")), ([1.0, 0.0], ()), (["1", "0"], ()), ([True, False], ())],
)
def test_labels_by_name_or_by_code(labels: list[object], classes: tuple[str, ...]) -> None:
    pool = predict(Linear(classes=classes), rows(2), labels=labels)
    assert pool.target.tolist() == [1, 0]


def test_classes_that_the_model_does_not_know() -> None:
    pool = predict(Linear(), rows(2), labels=["1", "horse"])
    assert pool.failed[1]
    assert any("'horse'" in note for note in pool.notes)
    with pytest.raises(InputsError, match="'cow'"):
        predict(Linear(), rows(2), labels=["cow", "horse"])


def test_labels_that_come_with_the_items_cost_no_second_reading() -> None:
    class Counting(list[tuple[np.ndarray, int]]):
        asked = 0

        def __getitem__(self, at: object) -> object:
            self.asked += 1
            return super().__getitem__(at)  # type: ignore[call-overload]

    plain, source = Counting(labelled(200)), Counting(labelled(200))
    predict(Linear(), plain, batch=50)
    pool = predict(Linear(), source, batch=50, labels=True)
    assert pool.truth_known
    assert source.asked < plain.asked + 5


def test_lengths_of_labels_are_checked_first() -> None:
    model = Linear()
    with pytest.raises(InputsError, match="3 labels for 200 items"):
        predict(model, rows(200), labels=[0, 1, 2])
    assert sum(model.batches) < 10


def test_tables_must_have_the_same_features() -> None:
    import pandas as pd

    field = pd.DataFrame(rows(5), columns=["u", "v"])
    with pytest.raises(InputsError, match="'w'"):
        predict(Linear(), field, reference=field.assign(w=1.0), auxiliary=["dsa"])


def test_names_of_classes() -> None:
    items = [(row, "xyz"[code]) for row, code in labelled(30)]
    assert predict(Linear(), items, classes=["x", "y", "z"], labels=True).classes == ("x", "y", "z")
    with pytest.raises(InputsError, match="2 class names for 3"):
        predict(Linear(), items, classes=["x", "y"])
    with pytest.raises(InputsError, match="label 'x'"):
        predict(Linear(), rows(3), reference=items, auxiliary=["knn_disagreement"])


def test_regression() -> None:
    items = rows(30)
    pool = predict(
        Linear(task="regression"), items, labels=items.sum(axis=1) + 1, reference=rows(80), auxiliary=["lsa"]
    )
    assert pool.task == "regression"
    np.testing.assert_allclose(pool.losses(), np.ones(30))
    assert pool.columns["lsa"].min() == 0
    with pytest.raises(DesignError, match="confidence"):
        predict(Linear(task="regression"), items, auxiliary=["confidence"])
    assert predict(Linear(task="regression"), items).columns == {}


def test_many_classes_are_not_kept() -> None:
    def wide(batch: np.ndarray) -> np.ndarray:
        return softmax(np.repeat(batch, 30, axis=1) * np.arange(60))

    items = rows(10)
    assert predict(wide, items).probabilities is None
    assert any("60 classes are not kept" in note for note in predict(wide, items).notes)
    assert predict(wide, items, keep_probabilities=True).probabilities.shape == (10, 60)
    assert derived.values(predict(wide, items, auxiliary=["gini"]), "gini").max() > 0


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"auxiliary": ["dsa"]}, "needs a reference"),
        ({"auxiliary": ["symmetry"]}, "symmetry"),
        ({"auxiliary": ["member"]}, "second model"),
        ({"auxiliary": ["knn_disagreement"], "reference": rows(9)}, "labels"),
        ({"symmetry": "flip"}, "only images"),
        ({"symmetry": "twist"}, "no symmetry"),
        ({"batch": 0}, "batch"),
        ({"auxiliary": ["dsa", "dsa:from_item=yes"], "reference": rows(9)}, "twice"),
        ({"reference": ["a text"]}, "kind"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_run(asked: dict[str, object], said: str) -> None:
    model = Linear()
    with pytest.raises(FieldcheckError, match=said):
        predict(model, rows(500), **asked)
    assert sum(model.batches) <= 2


def test_a_model_without_layers() -> None:
    model = Linear(layers=(), layer="")
    with pytest.raises(ModelError, match="no layers"):
        predict(model, rows(5), reference=rows(5), auxiliary=["dsa"])
    predict(model, rows(5))


def test_ids_that_repeat_are_refused_before_anything_is_run() -> None:
    import pandas as pd

    model = Linear()
    table = pd.DataFrame({"id": ["a", "a"], "u": [0.5, 1.5], "v": [1.5, 2.5]})
    with pytest.raises(PoolError, match="repeats an id"):
        predict(model, table)
    assert model.batches == []


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_activations_are_kept(tmp_path: Path, dtype: str) -> None:
    items = rows(23)
    pool = predict(Linear(), items, activations=ActivationsFile(tmp_path / "a.npy", dtype), batch=5)
    found = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, items.astype(np.float32).astype(dtype))
    assert any("23 x 2" in note for note in pool.notes)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_float16_must_hold_the_activations(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="float16"):
        predict(Linear(), np.full((3, 2), 1e5), activations=ActivationsFile(tmp_path / "a.npy", "float16"))
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_no_half_file(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"old")

    def stop(done: int, total: int) -> None:
        if done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict(Linear(), rows(30), activations=tmp_path / "a.npy", batch=5, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]
    assert (tmp_path / "a.npy").read_bytes() == b"old"


def test_whole_file_replaces_or_leaves(tmp_path: Path) -> None:
    with whole_file(tmp_path / "t.txt") as place:
        place.write_text("new")
    assert (tmp_path / "t.txt").read_text() == "new"
    with pytest.raises(FieldcheckError, match="cannot write"), whole_file(tmp_path / "gone" / "t.txt"):
        pass


def test_progress_counts_the_reference_too() -> None:
    told: list[tuple[int, int]] = []
    predict(
        Linear(),
        rows(30),
        reference=rows(20),
        auxiliary=["dsa"],
        batch=10,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(10, 50), (20, 50), (30, 50), (40, 50), (50, 50)]


def test_a_part_of_the_reference_is_drawn_by_seed() -> None:
    known = open_inputs(rows(100))
    part, notes = limited(known, 10, seed=1)
    again, _ = limited(known, 10, seed=1)
    other, _ = limited(known, 10, seed=2)
    assert isinstance(part, Subset)
    np.testing.assert_array_equal(part.batch(0, 10), again.batch(0, 10))
    assert not np.array_equal(part.batch(0, 10), other.batch(0, 10))
    np.testing.assert_array_equal(part.batch(2, 5), rows(100)[part.positions[2:5]])
    assert "10 of 100" in notes[0]
    assert limited(known, 100, seed=1)[0] is known
    pool = predict(Linear(), rows(4), reference=known, reference_limit=10, auxiliary=["dsa"])
    assert any("10 of 100" in note for note in pool.notes)


def test_the_pool_can_be_saved_and_loaded(tmp_path: Path) -> None:
    pool = predict(
        Linear(classes=("a", "b", "c")), labelled(20), labels=True, reference=rows(30), auxiliary=["dsa", "lsa"]
    )
    save(pool, tmp_path / "pool.parquet")
    again = load(tmp_path / "pool.parquet")
    np.testing.assert_array_equal(pool.failed, again.failed)
    np.testing.assert_array_equal(derived.values(pool, "combined"), derived.values(again, "combined"))
    assert again.classes == ("a", "b", "c")


def test_predictions_only() -> None:
    pool = predict(Linear(), rows(20))
    more = from_predictions(pool, ["margin", "confidence"])
    np.testing.assert_allclose(more.columns["margin"], derived.values(pool, "margin"), atol=1e-12)
    with pytest.raises(FieldcheckError, match="dsa"):
        from_predictions(pool, ["dsa"])


def test_options_are_checked() -> None:
    for wrong in ({"task": "guessing"}, {"outputs": "odds"}):
        with pytest.raises(ModelError):
            Opening(**wrong)  # type: ignore[arg-type]
    with pytest.raises(FieldcheckError):
        ActivationsFile(Path("a.txt"))


def test_reading_goes_ahead_in_order_and_stops() -> None:
    read: list[int] = []

    def one(start: int, stop: int) -> tuple[int, int]:
        read.append(start)
        return start, stop

    assert list(ahead(one, 10, batch=4)) == [(0, (0, 4)), (4, (4, 8)), (8, (8, 10))]
    before = set(threading.enumerate())
    walk = ahead(one, 1_000, batch=1)
    next(walk)
    walk.close()
    assert len(read) < 20
    assert set(threading.enumerate()) <= before


def test_what_reading_raises_arrives() -> None:
    def broken(start: int, stop: int) -> None:
        raise InputsError("a broken file")

    with pytest.raises(InputsError, match="broken"):
        list(ahead(broken, 3, batch=1))
