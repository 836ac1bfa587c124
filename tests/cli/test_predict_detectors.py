"""``fieldcheck predict --decoder``: a detector's pool from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.sources import load

from .sheets import Run

MODEL = """
import numpy as np

def finds(batch):  # one box around what is bright, with the brightness as its score; far from it where it is red
    batch = np.asarray(batch)
    found = []
    for image in batch:
        rows, columns = np.nonzero(image.max(axis=2) > 0.2)
        if not len(rows):
            found.append(np.zeros((0, 6)))
            continue
        box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        red = image[..., 0].max() > 2 * image[..., 1].max()
        found.append(np.array([[*(np.array(box) + 9 * red), image.max(), 1 + red]], dtype=np.float64))
    return found

def classes(batch):
    return np.tile([0.1, 0.9], (len(batch), 1))
"""


@pytest.fixture
def frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty pictures with a white patch; in ten of them it is red, and the detector is wrong; four have none."""
    rng = np.random.default_rng(0)
    images, boxes, ends = np.zeros((40, 24, 32, 3), dtype=np.uint8), [], [0]
    for at in range(36):
        x, y = rng.integers(0, 18), rng.integers(0, 12)
        images[at, y : y + 8, x : x + 8] = (240, 20, 20) if at < 10 else rng.integers(150, 250)
        boxes.append([x, y, x + 8, y + 8, 7])
    ends += [*range(1, 37), 36, 36, 36, 36]
    np.savez(tmp_path / "frames.npz", images=images, boxes=np.array(boxes), box_offsets=np.array(ends))
    (tmp_path / "finder.py").write_text(MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


DETECTOR = ("predict", "finder:finds", "frames.npz", "--trust", "--decoder", "boxes", "--batch", "7")


def test_the_truth_says_which_pictures_are_right(run: Run, frames: Path) -> None:
    done = run(*DETECTOR, "--truth", "--match", "7=1,2", "--out", "pool.parquet")
    assert done.code == 0, done.err
    assert "4 of 40 pictures have no true object" in done.err
    pool = load(frames / "pool.parquet")
    assert pool.failed is not None
    assert pool.failed[:10].all()
    assert not pool.failed[10:].any()
    assert json.loads(str(pool.columns["boxes"][12]))[0][5] == 0  # the first group
    assert pool.confidence is not None
    assert pool.confidence[-1] == 1.0
    assert run("simulate", "pool.parquet", "--budget", "20").code == 0


def test_classes_count_where_both_sides_have_them(run: Run, frames: Path) -> None:
    done = run(*DETECTOR, "--truth", "--out", "pool.csv")
    assert done.code == 0, done.err
    assert load(frames / "pool.csv").failed is not None
    assert load(frames / "pool.csv").failed.sum() == 36  # type: ignore[union-attr]


def test_people_say_which_are_right(run: Run, frames: Path) -> None:
    assert run(*DETECTOR, "--classes", "none,patch,red", "--out", "pool.csv").code == 0
    assert load(frames / "pool.csv").classes == ("1 patch", "1 red", "nothing")
    assert run("start", "pool.csv", "--campaign", "c.db", "--budget", "12").code == 0
    assert run("next", "c.db", "--out", "sheet.csv").code == 0
    head, *rows = (frames / "sheet.csv").read_text().splitlines()
    assert "boxes" in head
    labelled = [f"{row.split(',')[0]},{'wrong' if int(row.split(',')[0]) < 10 else 'right'}" for row in rows]
    (frames / "labels.csv").write_text("\n".join(["id,label", *labelled]))
    assert run("import", "c.db", "labels.csv").code == 0
    shown = run("estimate", "c.db", "--json")
    assert shown.code == 0, shown.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--auxiliary", "dsa"), "--auxiliary with --decoder"),
        (("--reference", "frames.npz"), "--reference with --decoder"),
        (("--check", "accuracy"), "detection or detection-f1"),
        (("--match", "7"), "classes of the truth = classes of the model"),
        (("--match", "car=1"), "no class 'car' of the data"),
        (("--match", "7=1", "--match", "8=1,2"), "class 1 of the model is in two groups"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, frames: Path, words: tuple[str, ...], said: str) -> None:
    done = run(*DETECTOR, *words, "--truth", "--out", "pool.csv")
    assert done.code != 0
    assert said in done.err
    assert not (frames / "pool.csv").exists()


def test_other_outputs_and_unknown_boxes_are_said(run: Run, frames: Path) -> None:
    images = np.load(frames / "frames.npz")["images"]
    np.save(frames / "plain.npy", images)
    done = run("predict", "finder:classes", "plain.npy", "--trust", "--decoder", "boxes", "--out", "pool.csv")
    assert "per image one row per box" in done.err
    done = run("predict", "finder:finds", "plain.npy", "--trust", "--decoder", "boxes", "--truth", "--out", "pool.csv")
    assert "the true boxes are not known here" in done.err
    done = run("predict", "finder:finds", "plain.npy", "--trust", "--decoder", "boxes", "--out", "shards")
    assert "--out FOLDER with --decoder" in done.err
