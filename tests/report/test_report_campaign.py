"""The report of a campaign: what it says, what it shows, and that nothing in it runs."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from fieldcheck.accuracy.assessment.requirement import decide, too_early
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import FieldcheckError, LabelError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.requirement import Decision, Requirement
from fieldcheck.report import Card, Commands, Gallery, Section, campaign_page, junit_error, junit_xml, page
from fieldcheck.report.thumbnail import thumbnail
from fieldcheck.sources.pools.arrays import from_arrays

EVIL = "<script>document.title='broken'</script><img src=x onerror=alert(1)>\"'&"


class Found(HTMLParser):
    """The elements of a page, and the text outside of its style sheet."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data


def make(tmp_path: Path, *, size: int = 60, budget: int | None = 40, **options: Any) -> Campaign:
    """Every fifth item is wrong; texts to look at, and groups to cut by."""
    names = [f"item {at}" for at in range(size)]
    pool = from_arrays(
        y_pred=["cat" if at % 2 else "dog" for at in range(size)],
        confidence=np.linspace(0.5, 0.99, size),
        ids=names,
        metadata={"text": [f"text of {at}" for at in range(size)], "site": ["N", "S"] * (size // 2)},
    )
    return Campaign.create(tmp_path / "c.db", pool, budget=budget, seed=1, title="Cats", **options)


def label(campaign: Campaign, *, skips: int = 0, by: str = "") -> None:
    while items := campaign.ask(by, n=100):
        for name in items:
            at = campaign.state.items[name].position
            if at < skips:
                campaign.skip(name, "too dark", by=by)
            else:
                campaign.tell(name, "wrong" if at % 10 == 0 else "dog" if at % 5 == 0 else "right", by=by)


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with make(tmp_path) as made:
        label(made, skips=12)
        yield made


def words_of(text: str) -> str:
    return " ".join(Found(text).text.split())


def test_the_answer_comes_first_and_is_that_of_the_campaign(campaign: Campaign) -> None:
    estimate, text = campaign.estimate(), words_of(campaign_page(campaign))
    number = f"{100 * estimate.value:.1f} %"
    assert text.index("Cats") < text.index(number) < text.index("Of the 60 items") < text.index("The promise")
    assert f"between {100 * estimate.interval.low:.1f} % and {100 * estimate.interval.high:.1f} %" in text
    assert estimate.beside is not None
    assert estimate.beside.note in text
    assert estimate.interval.note in text


@pytest.mark.parametrize(
    ("answer", "size", "words"),
    [("right", 12_000, "Of 10,000 items"), ("wrong", 12_000, "Of 1,000 items"), ("right", 2_000, "Of the 2,000 items")],
)
def test_failures_are_counted_in_thousands_or_in_a_smaller_pool(
    tmp_path: Path, answer: str, size: int, words: str
) -> None:
    with make(tmp_path, size=size, budget=12) as campaign:
        while items := campaign.ask(n=50):
            for name in items:
                campaign.tell(name, answer)
        assert words in words_of(campaign_page(campaign))


def test_parts_with_too_few_labels_are_grey(tmp_path: Path) -> None:
    with make(tmp_path, size=400, budget=60) as campaign:
        label(campaign)
        assert '<tr class="grey">' in campaign_page(campaign, by=["text"])


def test_what_was_to_be_proven_is_in_the_headline(tmp_path: Path) -> None:
    with make(tmp_path, size=400, budget=None, certify=0.5) as campaign:
        label(campaign)
        assert "Passed: accuracy at least 50 %" in words_of(campaign_page(campaign))


def test_everything_that_belongs_to_a_campaign_is_there(campaign: Campaign) -> None:
    text = words_of(campaign_page(campaign, by=["site"]))
    skipped = campaign.progress().skipped
    assert skipped > 0
    for part in (
        "How it developed",
        "Where it fails",
        "Accuracy by site",
        f"{skipped} items were asked for, but could not be labelled",
        "too dark",
        "the model is wrong on all of them",
        "fieldcheck start",
        "--seed 1",
        campaign.settings.pool_digest,
        campaign.estimate().paper,
        f"numpy {np.__version__}",
    ):
        assert part in text, part


def test_the_command_to_start_again_names_the_pool_where_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    was, now = tmp_path / "data" / "pool.csv", tmp_path / "elsewhere.csv"
    was.write_text(
        "id,text,prediction,confidence\n"
        + "".join(f"i{at},t,{'cat' if at % 2 else 'dog'},0.{at + 10}\n" for at in range(40))
    )
    Campaign.create(tmp_path / "c.db", was, "srs", budget=10).disconnect()
    was.rename(now)
    for pool in (now, None):
        with Campaign.open(tmp_path / "c.db", pool=pool) as campaign:
            label(campaign)
            text = words_of(campaign_page(campaign))
        assert f"fieldcheck start {now.resolve()} " in text
        assert str(was) not in text


def test_items_in_dispute_are_named_where_the_bounds_are(tmp_path: Path) -> None:
    with make(tmp_path, design="srs", labels_per_item=2) as campaign:
        for by in ("Ann", "Bob"):
            label(campaign, by=by)
        first = next(iter(campaign.state.items.values()))
        campaign.tell(first.id, "cat" if str(first.label) != "cat" else "dog", by="Bob")
        text = words_of(campaign_page(campaign))
    assert "On 1 item people disagree. The estimate takes it to be like the labelled ones" in text
    assert "1 items in dispute" not in text
    assert "No answer" in text
    assert "(no reason given)" not in text


def test_the_verdict_is_that_of_the_check(campaign: Campaign) -> None:
    interval = campaign.estimate(level=0.96).protected or campaign.estimate(level=0.96).interval
    middle = (interval.low + interval.high) / 2
    for bound, words in ((interval.low - 0.01, "Passed"), (middle, "Undecided"), (0.999, "Failed")):
        requirement = Requirement("accuracy", bound)
        text = campaign_page(campaign, requirement=requirement)
        assert f"{words}: {requirement}" in words_of(text)
        assert campaign.view.check(requirement).word == re.findall(r'class="decision (\w+)"', text)[0]
    assert "(first look, at 4 % error)" in words_of(campaign_page(campaign, requirement=requirement))
    assert "decision" not in {part.get("class") for _, part in Found(campaign_page(campaign)).elements}


def test_slices_that_cannot_be_shown_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    with make(tmp_path, size=200, design="ssrs", auxiliary="confidence") as campaign:
        label(campaign)
        assert "Parts of the pool" not in campaign_page(campaign)
        with pytest.raises(FieldcheckError):
            campaign_page(campaign, by=["site"])


def test_a_campaign_without_an_estimate_has_a_page_too(tmp_path: Path) -> None:
    with make(tmp_path) as campaign:
        text = words_of(campaign_page(campaign, requirement=Requirement("accuracy", 0.9)))
    assert "There is no estimate yet" in text
    assert "still running" in text


def test_people_and_their_agreement_are_shown(tmp_path: Path) -> None:
    with make(tmp_path, budget=6, labels_per_item=2) as campaign:
        label(campaign, by="Ada")
        label(campaign, by="Bob")
        text = words_of(campaign_page(campaign))
    assert "all agree on 100 % of them" in text
    assert "Ada" in text
    assert "Bob" in text


def test_numbers_are_sorted_by_how_wrong_they_are(tmp_path: Path) -> None:
    pool = from_arrays(y_pred=np.arange(30) + 0.5, metadata={"size": np.arange(30.0), "room": ["x"] * 30})
    with Campaign.create(tmp_path / "c.db", pool, "srs", budget=10, seed=1, threshold=0.3) as campaign:
        for rank, name in enumerate(campaign.ask(n=10)):
            at = campaign.state.items[name].position
            campaign.tell(name, at + 0.5 + rank)
        text = campaign_page(campaign, requirement=Requirement("rmse", 1.0))
    first = re.findall(r'<p class="name">([^<]+)</p>', text)
    assert first == list(campaign.state.items)[:0:-1]
    assert "Estimated rmse" in words_of(text)
    assert '<dl class="row"' in text


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Campaign]:
    """Markup wherever somebody may write something."""
    names = [f"{EVIL} {at}" for at in range(20)]
    pool = from_arrays(y_pred=[EVIL] * 20, ids=names, metadata={"text": [EVIL] * 20, EVIL: ["a", "b"] * 10}, name=EVIL)
    made = Campaign.create(
        tmp_path / "<b>c.db", pool, "srs", budget=10, seed=1, title=EVIL, new_classes=["<i>other</i>"]
    )
    with made:
        for rank, name in enumerate(made.ask("<u>Ada", n=10)):
            by = "<u>Ada" if rank % 2 else "Bob"
            made.skip(name, EVIL, by=by) if rank == 0 else made.tell(name, "<i>other</i>", by=by)
        yield made


def test_that_predictions_were_shown_is_said(hostile: Campaign) -> None:
    assert "saw what the model said" not in campaign_page(hostile)
    hostile.show_predictions()
    assert "saw what the model said" in campaign_page(hostile)


def test_nothing_that_people_wrote_becomes_markup(hostile: Campaign) -> None:
    text = campaign_page(hostile, by=[EVIL])
    found = Found(text)
    assert {tag for tag, _ in found.elements}.isdisjoint(
        {"script", "iframe", "object", "embed", "link", "u", "i", "b "}
    )
    assert not [name for _, part in found.elements for name in part if name.startswith("on")]
    sources = [part["src"] or "" for tag, part in found.elements if tag == "img"]
    assert all(source.startswith("data:image/") for source in sources)
    assert EVIL in found.text


def image_bytes(kind: str, size: tuple[int, int], mode: str = "RGB") -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise(size, 50).convert(mode).save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "mode"), [("PNG", "RGBA"), ("JPEG", "RGB"), ("GIF", "P"), ("BMP", "L"), ("WEBP", "RGB")]
)
def test_thumbnails_are_small_whatever_the_picture(kind: str, mode: str) -> None:
    from PIL import Image

    small = thumbnail(image_bytes(kind, (900, 600), mode))
    assert max(Image.open(io.BytesIO(small.content)).size) == 320
    assert not small.tiny
    assert thumbnail(image_bytes(kind, (8, 8), mode)).tiny


def bomb() -> bytes:
    """A PNG whose header claims two billion pixels."""
    content = bytearray(image_bytes("PNG", (8, 8)))
    content[16:24] = struct.pack(">II", 50_000, 50_000)
    return bytes(content)


@pytest.mark.parametrize(
    "content", [b"", b"no picture", b"<svg onload='alert(1)'/>", image_bytes("PNG", (9, 9))[:60], bomb()]
)
def test_what_is_no_picture_is_not_shown(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert thumbnail(content).content == b""


def test_pictures_are_in_the_page_itself(tmp_path: Path) -> None:
    folder = tmp_path / "items"
    folder.mkdir()
    for at in range(10):
        (folder / f"{at}.png").write_bytes(image_bytes("PNG", (8, 8)))
    (folder / "3.png").write_bytes(b"broken")
    pool = from_arrays(y_pred=["cat", "dog"] * 5, ids=[f"{at}.png" for at in range(10)])
    with Campaign.create(tmp_path / "c.db", pool, "srs", budget=10, seed=1, items=folder) as campaign:
        for name in campaign.ask(n=10):
            campaign.tell(name, "wrong")
        text = campaign_page(campaign)
    images = [part for tag, part in Found(text).elements if tag == "img"]
    assert len(images) == 9
    assert all((part["src"] or "").startswith("data:image/png;base64,") and part["class"] == "tiny" for part in images)
    assert "cannot be shown" in text


def test_a_page_stays_light(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldcheck.report.failures.SHOWN", 3)
    text = campaign_page(campaign)
    assert text.count('<p class="name">') == 3
    assert f"{len(campaign.failures()) - 3} more: fieldcheck failures" in words_of(text)


def test_long_galleries_are_folded_and_commands_are_kept_as_they_are() -> None:
    cards = tuple(Card(f"c{at}", (("truth", "a"),), text="t") for at in range(15))
    text = page("t", sections=[Section("s", (Gallery("g", "G", cards), Commands("c", "C", ("a <b>", "  c"))))])
    assert "<summary>3 more</summary>" in text
    assert "a &lt;b&gt;\n  c" in text
    with pytest.raises(FieldcheckError):
        page("t", sections=[Section("s", (Gallery("g", "G", (Card("x", (), picture=b"<svg/>"),)),))])


def decisions(estimate: Estimate) -> list[Decision]:
    trusted = replace(estimate, interval=replace(estimate.interval, trusted=True))
    return [
        *(decide(trusted, Requirement("accuracy", bound)) for bound in (0.5, 0.9, 0.99)),
        too_early(Requirement("mse", 1), EVIL),
    ]


def test_junit_has_one_case_per_requirement(estimate_with: Callable[[str], Estimate]) -> None:
    root = Xml.fromstring(junit_xml(EVIL, decisions(estimate_with(EVIL + "\x00\x1b"))))  # noqa: S314 -- our own
    (suite,) = root
    assert (root.tag, suite.get("name")) == ("testsuites", EVIL)
    assert [suite.get(name) for name in ("tests", "failures", "skipped", "errors")] == ["4", "1", "2", "0"]
    assert [[child.tag for child in case] for case in suite] == [["system-out"], ["skipped"], ["failure"], ["skipped"]]
    assert next(case.get("name") for case in suite) == "accuracy at least 50 %"


def test_junit_tells_errors_from_failures() -> None:
    root = Xml.fromstring(junit_error("s", ["a", "b"], LabelError(EVIL)))  # noqa: S314 -- our own
    assert root.get("errors") == "2"
    assert [one.get("message") for one in root.iter("error")] == [EVIL, EVIL]
