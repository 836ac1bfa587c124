"""What labels say about the signals is told wherever the estimate is shown, one sentence for each worry."""

from __future__ import annotations

import html
import random
from pathlib import Path

import pytest

from fieldcheck.campaign.campaign import Campaign

from .sheets import Run, truth_of, write

SIZE = 400


def pool(path: Path, worry: str) -> Path:
    """A pool of two classes whose signals have this worry; a quarter of the items fail."""
    dice = random.Random(3)  # noqa: S311 -- made-up data
    rows: list[list[object]] = []
    for item in range(SIZE):
        doubt = dice.random() ** 2
        chance = {"useless": 0.25, "reversed": 0.6 * (1 - doubt) ** 4}.get(worry, 0.75 * doubt)
        fails = dice.random() < chance
        sure = 1 - doubt / (20 if worry == "over-confident" else 2)
        lsa = {"leaking": fails + 0.1 * dice.random(), "constant": 1.0}.get(worry, doubt + dice.random())
        rows.append([f"i{item}", "yes", round(sure, 5), round(lsa, 4), "no" if fails else "yes"])
    return write(path, ["id", "prediction", "confidence", "lsa", "target"], rows)


@pytest.mark.parametrize(
    ("worry", "words"),
    [
        ("useless", "useless here"),
        ("reversed", "reversed"),
        ("leaking", "'lsa' separates right from wrong (nearly) perfectly"),
        ("over-confident", "the model is over-confident"),
        ("constant", "lsa: the same for all items"),
    ],
)
def test_every_face_says_it(run: Run, tmp_path: Path, worry: str, words: str) -> None:
    items = pool(tmp_path / "pool.csv", worry)
    labels = truth_of(items)
    with Campaign.create("c.db", items, budget=120) as campaign:
        while given := campaign.ask("Ann", n=20):
            for item in given:
                campaign.tell(item, labels[item], by="Ann")
    for verb in ("estimate", "status"):
        assert words in " ".join(run(verb, "c.db").out.split())
    assert any(words in text for text in run("status", "c.db", "--json").json["estimate"]["warnings"])
    assert run("report", "c.db", "--out", "report.html").code == 0
    assert words in html.unescape(" ".join(Path("report.html").read_text(encoding="utf-8").split()))
