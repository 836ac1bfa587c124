"""From a field to a better model, on the command line only but for the training itself."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import fieldcheck as fc

from .sheets import Run
from .test_questions import label_everything

SEEN = 150
"""Digits that the first version was trained on; all others are the field."""


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    images, labels = load_digits(return_X_y=True)
    return images / 16, labels


def write_pool(path: Path, model: LogisticRegression, images: np.ndarray) -> Path:
    chances = model.predict_proba(images)
    said, sure = model.classes_[chances.argmax(axis=1)], chances.max(axis=1)
    ids = [f"digit-{at}" for at in range(len(images))]
    fc.save(fc.from_arrays(y_pred=said.astype(str), confidence=sure, ids=ids, name=path.stem), path)
    return path


def test_the_whole_loop(run: Run, digits: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    images, labels = digits
    field, truth = images[SEEN:], {f"digit-{at}": str(label) for at, label in enumerate(labels[SEEN:])}
    first = LogisticRegression(max_iter=500).fit(images[:SEEN], labels[:SEEN])
    old = write_pool(tmp_path / "v1.csv", first, field)

    done = run("start", old, "--campaign", "v1.db", "--budget", 120, "--train-share", 0.5, "--objective", "balanced")
    assert done.code == 0, done.err
    refused = run("export", "v1.db", "--for-training", "out", "--format", "xml")
    assert refused.code == 2
    assert "csv or jsonl" in refused.err
    label_everything(run, "v1.db", truth)
    done = run("export", "v1.db", "--for-training", "out")
    assert done.code == 0, done.err
    assert "kept to judge the next version" in done.out
    with Path("out/training.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    taught = [int(row["id"].removeprefix("digit-")) for row in rows]
    assert 45 <= len(taught) <= 75

    more = (
        np.concatenate([images[:SEEN], field[taught]]),
        np.concatenate([labels[:SEEN], [int(r["label"]) for r in rows]]),
    )
    second = LogisticRegression(max_iter=500).fit(*more)
    new = write_pool(tmp_path / "v2.csv", second, field)
    done = run("start", new, "--reuse", "v1.db", "--campaign", "v2.db", "--budget", 30)
    assert done.code == 0, done.err
    assert "kept labels do not show gains under about" in done.err, "said before people hope"
    label_everything(run, "v2.db", truth)
    found = run("estimate", "v2.db", "--json").json
    left = np.setdiff1d(np.arange(len(field)), taught)
    right = float((second.predict(field[left]) == labels[SEEN:][left]).mean())
    assert found["population"] == len(left)
    assert found["interval"]["low"] <= right <= found["interval"]["high"]
    assert found["change"]["labels"] == found["labels"]
    said = run("estimate", "v2.db").out
    assert "Against the version before" in said
    assert "Failures that are gone" not in said
    assert "fieldcheck extend" not in said, "it is one wave: that command would be refused"
    check_change(run, found["change"], truth, (first, second), field)
    assert run("start", new, "--reuse", "v1.db", "--labels-seen", "--campaign", "no.db").code == 2
    assert not Path("no.db").exists()


def check_change(
    run: Run, change: dict[str, Any], truth: dict[str, str], models: tuple[Any, Any], field: np.ndarray
) -> None:
    """Failures that are gone are failures that are gone, in every place that lists them."""
    assert change["mended"]
    for one in change["mended"]:
        before, now = (str(model.predict(field[[int(one["id"].removeprefix("digit-"))]])[0]) for model in models)
        assert (one["truth"], one["before"], one["now"]) == (truth[one["id"]], before, now)
        assert before != now == truth[one["id"]]
    parts = run("estimate", "v2.db", "--by", "prediction", "--json").json["change"]["cuts"][0]["parts"]
    assert sum(part["labels"] for part in parts) == change["labels"]
    assert sum(part["mended"] for part in parts) == len(change["mended"])
    assert sum(part["broken"] for part in parts) == len(change["broken"])
    said = run("estimate", "v2.db", "--verbose", "--by", "prediction").out
    assert run("report", "v2.db", "--out", "v2.html").code == 0
    page = Path("v2.html").read_text()
    for text in ("Against the version before", "Failures that are gone", "by prediction", change["mended"][0]["id"]):
        assert text in said
        assert text in page


def test_ids_that_were_trained_on_too(run: Run, digits: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    images, labels = digits
    field, truth = images[SEEN:], {f"digit-{at}": str(label) for at, label in enumerate(labels[SEEN:])}
    model = LogisticRegression(max_iter=500).fit(images[:SEEN], labels[:SEEN])
    pool = write_pool(tmp_path / "v1.csv", model, field)
    assert run("start", pool, "--campaign", "c.db", "--budget", 40, "--train-share", 0.5, "--design", "srs").code == 0
    label_everything(run, "c.db", truth)
    given = run("export", "c.db", "--for-training", "out", "--json").json
    drawn = run("estimate", "c.db", "--json").json["labels"]
    assert given["items"] + given["kept"] == drawn
    Path("ids.csv").write_text("id,why\ndigit-1600,tuned\nelsewhere,bought\n")
    done = run(
        "start", pool, "--reuse", "c.db", "--trained-on", "ids.csv", "--campaign", "d.db", "--budget", 10, "--json"
    )
    assert done.code == 0, done.err
    assert done.json["population"] in (len(field) - given["items"], len(field) - given["items"] - 1)
