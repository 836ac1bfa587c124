"""The page of a run says how little it takes, and where its numbers come from."""

from __future__ import annotations

from fieldcheck.core.space import Answer
from fieldcheck.report import tomography_page


def answer(query: str) -> Answer:
    return Answer(query, tests=6, measured=4, rows=90, robustness=0.7, low=0.6, high=0.8, level=0.95, base=0.9)


def test_the_page_of_a_run() -> None:
    text = tomography_page(
        answer("all"),
        answers=[answer("zoom > <1>")],
        lead=["Smallest combination under 80.0%: zoom 2."],
        origin={"run": "runs/<a>", "seed": "3"},
    )
    body = text[text.index("<body>") :]
    wanted = ["70.0 %", "Smallest combination", "Mean robustness of each query", "runs/&lt;a&gt;", "all tests weigh"]
    places = [body.index(words) for words in wanted]
    assert places == sorted(places)
    assert "zoom &gt; &lt;1&gt;" in body
    assert "<1>" not in body
    assert "right on 70.0\u00a0% of the inputs" in body  # a number and its sign stay on one line
