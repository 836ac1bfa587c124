"""A real browser opens the pages: nothing is requested, nothing overflows, everything can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import Exhibit, Table
from fieldcheck.files.whole import write_text
from fieldcheck.report import Card, Commands, Gallery, ImageStrip, Picture, estimate_page

pytestmark = pytest.mark.browser

LEAST_CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const paper = element => {
    for (let at = element; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  let least = [21, ""];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.getClientRects().length || element.matches("title, desc, .in-cell")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(rgb(element.matches("text") ? style.fill : style.color)), light(paper(element))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < least[0]) least = [ratio, element.outerHTML.slice(0, 120)];
  }
  return least;
}"""


@pytest.fixture
def report(
    tmp_path: Path,
    exhibits_with: Callable[[str], tuple[Exhibit, ...]],
    estimate_with: Callable[[str], Estimate],
    png: bytes,
) -> Path:
    """A page with everything in it, with long words and hostile ones."""
    text = "deepest:weights=selected<script>document.title='broken'</script>" + "x" * 60
    wide = Table("wide/t", "Wide", tuple(f"column {c}" for c in range(20)), ((text, *[1.5] * 19),) * 20)
    strip = ImageStrip("pictures/p", "Pictures", (Picture(png, text),) * 7)
    cards = [Card(text, ((text, text),), picture=png, tiny=True), Card(text, (), text=text * 9)]
    cards += [Card(text, ((text, text),), row=((text, text),) * 9)] * 14
    more = (Gallery("items/g", "Items", tuple(cards)), Commands("commands/c", "Commands", (text * 3,)))
    blocks = (*exhibits_with(text), wide, strip, *more)
    return write_text(tmp_path / "r.html", estimate_page(estimate_with(text), exhibits=blocks, title="Report"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_a_page_in_chromium(browser: Any, report: Path, scheme: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    said, asked = list[str](), list[str]()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    ratio, where = page.evaluate(LEAST_CONTRAST)
    shown = page.evaluate("[...document.querySelectorAll('svg.chart')].filter(s => s.clientWidth).length")
    title = page.title()
    page.close()
    assert said == []
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert overflow <= 0
    assert ratio >= 4.5, where
    assert shown == 5  # one for the answer and one of each kind, each in one of its two widths
    assert title == "Report"


def test_paper_is_white_and_nothing_is_folded_away(browser: Any, report: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    height = page.evaluate("document.querySelector('details table').getBoundingClientRect().height")
    page.close()
    assert paper == "rgb(255, 255, 255)"
    assert height > 0
