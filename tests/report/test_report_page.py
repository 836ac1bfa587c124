"""Pages: complete in themselves, the answer first, and safe whatever the user's files say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import BarChart, Exhibit, Table
from fieldcheck.report import ImageStrip, Picture, Section, bench_page, estimate_page, page, sections_of

HOSTILE = "<script>alert(1)</script>\"'><img src=http://evil.example/x onerror=alert(1)>{{ 7*7 }}\x00\ud800"

Make = Callable[[str], tuple[Exhibit, ...]]


class Reader(HTMLParser):
    """What a browser would see: elements with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words += data


def pages(exhibits: Make, estimate: Callable[[str], Estimate], png: bytes, text: str) -> list[str]:
    """Every kind of page, with the text in every place that takes one."""
    strip = ImageStrip(text, text, (Picture(png, text),), note=text)
    blocks = (*exhibits(text), strip)
    result = {
        "rows": [{"design": text, "subject": text, "budget": 5, "rmse": 0.1}],
        text: text,
        "command": text,
    }
    return [
        estimate_page(estimate(text), exhibits=blocks, title=text, lead=[text]),
        bench_page({**result, "versions": {text: text}, "warnings": [text]}, blocks, title=text),
        page(text, sections=[Section(text, blocks, text)], facts={text: text}, version=text),
    ]


def test_hostile_text_adds_no_element_and_loads_nothing(
    exhibits_with: Make, estimate_with: Callable[[str], Estimate], png: bytes
) -> None:
    harmless = pages(exhibits_with, estimate_with, png, "harmless")
    for hostile, plain in zip(pages(exhibits_with, estimate_with, png, HOSTILE), harmless, strict=True):
        seen = Reader(hostile).elements
        names = Counter(name for name, _ in seen)
        assert not set(names) & {
            "script",
            "link",
            "iframe",
            "object",
            "embed",
            "base",
            "form",
            "use",
            "image",
        }
        assert names["img"] == Counter(name for name, _ in Reader(plain).elements)["img"]
        assert not [key for _, attributes in seen for key in attributes if key.startswith("on")]
        hostile.encode("utf-8")


def test_nothing_is_fetched(exhibits_with: Make, estimate_with: Callable[[str], Estimate], png: bytes) -> None:
    for text in pages(exhibits_with, estimate_with, png, "plain"):
        for _, attributes in Reader(text).elements:
            for key in ("src", "href", "srcset", "action", "data", "xlink:href"):
                assert re.match(r"$|#|data:", attributes.get(key, ""))
        assert not re.search(r"url\((?!#)|@import", text)
        assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text


def test_identifiers_do_not_repeat(exhibits_with: Make, estimate_with: Callable[[str], Estimate], png: bytes) -> None:
    for text in pages(exhibits_with, estimate_with, png, "same"):
        ids = Counter(a["id"] for _, a in Reader(text).elements if "id" in a)
        links = {a["href"][1:] for name, a in Reader(text).elements if a.get("href", "").startswith("#")}
        assert max(ids.values()) == 1
        assert links <= set(ids)


def test_the_answer_comes_first_then_figures_then_tables_then_how(
    exhibits_with: Make, estimate_with: Callable[[str], Estimate]
) -> None:
    *charts, table = exhibits_with("some exhibit")
    text = estimate_page(estimate_with("some text"), exhibits=(table, *charts), title="The title")
    order = ["91.3 %", "between 87.2 % and 94.4 %", "Please note", "<figure", "<table", "How it was made"]
    body = text[text.index("<body>") :]
    places = [body.index(words) for words in order]
    assert places == sorted(places)


def test_an_interval_that_is_not_trusted_is_never_shown_as_a_promise(
    estimate_with: Callable[[str], Estimate],
) -> None:
    words = Reader(estimate_page(estimate_with("weights too uneven"))).words
    assert "not to be trusted" in words
    assert "the interval is not trusted: weights too uneven" in words
    assert "% confidence" not in words


def test_exhibits_are_grouped_by_the_first_part_of_their_names() -> None:
    tables = [Table(name, name, ("a",), ()) for name in ("overview/a", "top three/b", "overview/c", "alone")]
    sections = sections_of(tables)
    assert [(s.title, [b.name for b in s.blocks]) for s in sections] == [
        ("overview", ["overview/a", "overview/c"]),
        ("top three", ["top three/b"]),
        ("", ["alone"]),
    ]
    assert sections_of([Table("rmse/x", "", (), ())])[0].title == "RMSE"


def test_a_comparison_says_how_much_was_compared_and_who_won() -> None:
    errors = {("a", 50): 0.1, ("b", 50): 0.2, ("a", 200): 0.05, ("b", 200): 0.01}
    rows = [
        {"subject": "s", "design": design, "budget": budget, "rmse": rmse, "repetitions": 30}
        for (design, budget), rmse in errors.items()
    ]
    result = {"rows": rows, "seed": 0, "versions": {"fieldcheck": "9.9"}, "nested": [{"not": "a fact"}]}
    words = Reader(bench_page(result, ())).words
    assert "2 techniques on 1 subject with 2 budgets, 30 repetitions of each." in words
    assert "over 2 pairs of subject and budget: a in 1, b in 1." in words
    assert "fieldcheck 9.9" in words
    assert "not a fact" not in words
    assert "nested" not in words


def test_a_comparison_without_rows_is_still_a_page() -> None:
    assert "<h1>Sampling techniques compared</h1>" in bench_page({}, ())


def test_long_tables_are_folded_and_all_can_be_saved() -> None:
    short, long = (Table(f"t/{n}", f"{n} rows", ("a", "b"), (("=x", 1.5),) * n) for n in (3, 40))
    text = page("T", sections=sections_of([short, long]))
    files = [a for name, a in Reader(text).elements if name == "a" and "download" in a]
    assert text.count("<details>") == 1
    assert [a["download"] for a in files] == ["t-3.csv", "t-3.tex", "t-40.csv", "t-40.tex"]
    assert "'%3Dx" in files[0]["href"] or "%27=x" in files[0]["href"]


def test_a_chart_is_drawn_for_the_screen_and_for_the_phone() -> None:
    chart = BarChart("b", "Bars", "x", "y", ("a",), ("s",), ((1.0,),))
    boxes = [a["viewbox"] for name, a in Reader(page("T", sections=sections_of([chart]))).elements if name == "svg"]
    assert [box.split()[2] for box in boxes] == ["760", "358"]


def test_a_picture_must_be_a_png(png: bytes) -> None:
    assert "data:image/png;base64,iVBOR" in page(
        "T", sections=sections_of([ImageStrip("i", "I", (Picture(png, "seven"),))])
    )
    with pytest.raises(FieldcheckError):
        page("T", sections=sections_of([ImageStrip("i", "I", (Picture(b"<svg onload=alert(1)>", "x"),))]))
