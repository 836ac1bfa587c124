"""The demo: a campaign that narrows, a comparison, a small tomography, one report, and digits left to label."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.cli.demo import BUDGET, LABELLED, demo
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.tomography.answers.run import Run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo") / "demo"
    demo(out=out, seed=0)
    return out


def test_it_leaves_digits_to_label_with_their_pictures(folder: Path) -> None:
    with Campaign.open(folder / "campaign.db") as campaign:
        progress = campaign.progress()
        assert (progress.labelled, progress.budget, progress.complete) == (LABELLED, BUDGET, False)
        assert campaign.settings.design.startswith("waves")
        (item,) = campaign.ask("Ada")
        content = campaign.view.content(campaign.state.items[item].position)
        assert content.kind == "image"
        assert content.data.startswith(b"\x89PNG")
        campaign.release(item, by="Ada")


def test_one_report_tells_the_story(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    for part in ("How it developed", "Where it fails", "Is another network better?", "Where does it break?"):
        assert part in text
    assert text.count("data:image/png") > 10


def test_what_was_measured_can_be_asked_further(folder: Path) -> None:
    assert 0 < Run.open(folder / "run").ask("noise >= 3 and zoom = 0").robustness < 1


def test_labels_of_people_are_not_overwritten(folder: Path) -> None:
    with Campaign.open(folder / "campaign.db") as campaign:
        (item,) = campaign.ask("Ada")
        campaign.tell(item, "7", by="Ada")
    with pytest.raises(FieldcheckError, match="holds labels of Ada"):
        demo(out=folder, seed=0)
