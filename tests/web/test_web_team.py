"""A team in real browsers: two people who disagree and their lead, every size of screen, keyboard only, axe-core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.pools.arrays import from_arrays

from .sites import CLASSES, Site, Start, truth_of
from .test_web_browser import Visit, answer, desk_of, shown, visit, wait_saved, wait_text, wait_until

pytestmark = pytest.mark.browser

__all__ = ["visit"]  # a fixture

SIZES = [(1280, 800), (390, 844), (2560, 1300)]

SEEN = """where => [...document.querySelectorAll(where)].every(element => {
  const box = element.getBoundingClientRect();
  const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  return box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth
    && (element === top || element.contains(top));
})"""


def signs(count: int = 25, kind: str = "kind of sign") -> Pool:
    """A pool of many classes with long names, and long texts."""
    rng = np.random.default_rng(1)
    names = [f"{kind} {chr(97 + at % 26)}{at}" for at in range(count)]
    codes = rng.integers(0, count, 200)
    wrong = rng.random(200) < 0.2
    return from_arrays(
        ids=[f"sign-{at:03d}.png" for at in range(200)],
        y_pred=[names[code] for code in np.where(wrong, (codes + 1) % count, codes)],
        confidence=np.where(wrong, 0.55, 0.8) + 0.15 * rng.random(200),
        metadata={"text": [f"Sign {at} stands at the corner of a road. " * 20 for at in range(200)]},
        name="signs",
    )


def in_sight(page: Any, where: str) -> bool:
    """Whether all of these can be seen in the window without scrolling anything."""
    return bool(page.evaluate(SEEN, where))


def serious(page: Any) -> list[str]:
    """What axe-core finds that keeps people out."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    bad = [one for one in found if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {node['html'][:150]}" for one in bad for node in one["nodes"]]


def test_long_names_of_many_classes_do_not_overlap(start: Start, visit: Visit) -> None:
    page = visit(start(signs(43, "a sign that says how fast to go, and where to turn,"), budget=5), name="Ada")
    page.wait_for_selector(".option")
    within = "all => all.every(one => one.scrollHeight <= one.clientHeight + 1)"
    assert page.eval_on_selector_all(".option", within)


def test_two_people_five_disputes_and_their_lead(start: Start, visit: Visit) -> None:
    """All is drawn in spite of the disputes; the lead settles, adds labels, finishes, and opens the report."""
    site = start(budget=12, labels_per_item=2, people=["Ada", "Bob"])
    ada, bob = (visit(site, name=name) for name in ("Ada", "Bob"))
    label_together(ada, bob, until="[data-why=settling]", disputes=5)
    assert site.campaign.progress().disputed == 5
    assert len(site.campaign.state.items) == 12
    wait_text(ada, ".rest", "On 5 items people disagree: they wait for the lead")
    page = visit(site, name="lead")  # who may label, too, and has the disputed items at hand
    page.click("#to-desk")
    desk = page
    settle_all(desk)
    ada.wait_for_selector("[data-why=done]")
    wait_text(desk, "#to-go", "The budget is spent")
    desk.fill("#more", "4")
    desk.click("#extend")
    wait_text(desk, "#to-go", "4 items to go")
    for one in (ada, bob):
        one.wait_for_selector("#item .id")  # goes on by itself
    label_together(ada, bob, until="[data-why=done]", disputes=0)
    assert site.campaign.estimate().labels == 16
    desk.fill("#bound", "10")
    desk.keyboard.press("Tab")
    wait_text(desk, "#decision", "passed: accuracy at least 10 %")
    wait_text(desk, "table", "Ada")
    desk.click("#close")
    desk.locator("#finish button[value=finish]").click()
    wait_text(desk, "#to-go", "This campaign is finished")
    bob.wait_for_selector("[data-why=closed]")
    with desk.context.expect_page() as opened:
        desk.get_by_role("link", name="Open the report").click()
    wait_text(opened.value, "body", "The campaign is closed")


def settle_all(desk: Any) -> None:
    wait_until(desk, lambda: desk.locator(".open-item").count() == 5)
    for left in range(4, -1, -1):
        item = desk.locator(".open-item").first
        item.get_by_role("button", name=truth_of(item.get_attribute("data-item")), exact=True).click()
        wait_until(desk, lambda left=left: desk.locator(".open-item").count() == left)


def label_together(ada: Any, bob: Any, *, until: str, disputes: int) -> None:
    """Both label the same items; Bob contradicts Ada on the first of them."""
    seen: list[str] = []
    pages = {"Ada": ada, "Bob": bob}
    while waiting := [name for name, page in pages.items() if not page.locator(until).count()]:
        for name in waiting:
            page = pages[name]
            if page.locator("#item .id").count():
                item = shown(page)
                seen += [item] if item not in seen else []
                wrong = name == "Bob" and seen.index(item) < disputes
                page.keyboard.press(str((CLASSES.index(truth_of(item)) + wrong) % 3 + 1))
                wait_saved(page)
            page.wait_for_selector(f"#item .id, [data-why=waiting], [data-why=others], {until}")


def test_alone_the_report_is_one_click_away_when_all_is_done(start: Start, visit: Visit) -> None:
    site = start(budget=3, design="srs")
    page = visit(site)
    for _ in range(3):
        answer(page)
    page.wait_for_selector("[data-why=done]")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the report").click()
    wait_text(opened.value, "body", "animals")
    page.get_by_role("link", name="To the desk").click()
    wait_text(page, "#to-go", "The budget is spent")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_25_classes_are_all_within_reach(start: Start, visit: Visit, width: int, height: int) -> None:
    page = visit(start(signs()), viewport={"width": width, "height": height})
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert in_sight(page, "#actions button, #item > *, .bar h1, #who, #skip")
    assert page.locator("#answer .choice").count() == 25
    if width > 1000:
        assert in_sight(page, "#answer .choice")
    assert page.locator("#item .text").bounding_box()["height"] > 0.25 * height
    page.locator("#answer .choice").last.click()  # on a phone, the list of classes scrolls
    wait_saved(page)


def test_a_picture_uses_the_screen(start: Start, visit: Visit, tmp_path: Any) -> None:
    from PIL import Image

    for at in range(200):
        Image.new("RGB", (640, 480), (at, 90, 90)).save(tmp_path / f"sign-{at:03d}.png")
    site = start(signs(3), items=tmp_path)
    for width, height in SIZES:
        page = visit(site, name=f"Ada {width}", viewport={"width": width, "height": height})
        wait_until(page, lambda page=page: page.evaluate("document.querySelector('.frame img')?.naturalWidth > 0"))
        box = page.locator(".frame img").bounding_box()
        assert max(box["width"] / width, box["height"] / height) > 0.6
        assert in_sight(page, "#actions button, #answer .choice")
        page.keyboard.press("z")
        assert page.locator(".frame img").bounding_box()["width"] > 2 * box["width"]


def test_instructions_and_earlier_answers_by_keyboard_alone(start: Start, visit: Visit) -> None:
    site = start(design="srs", instructions="# Look\n\n- at the **beak**", descriptions={"owl": "hoots"})
    page = visit(site)
    page.keyboard.press("h")
    wait_text(page, "#help[open]", "at the beak")
    wait_text(page, "#help[open]", "hoots")
    page.keyboard.press("Escape")
    first, second = answer(page), answer(page)
    wait_saved(page)
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#mine[open]")
    while first not in page.evaluate("document.activeElement.textContent"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_text(page, "#item .id", first)
    wait_text(page, "#again", f"Your answer was {truth_of(first)}")
    other = (CLASSES.index(truth_of(first)) + 1) % 3
    page.keyboard.press(str(other + 1))
    wait_until(page, lambda: str(site.campaign.refresh().items[first].label) == CLASSES[other])
    assert shown(page) not in (first, second)
    page.keyboard.press("ArrowLeft")
    page.locator("#mine-list button").first.click()
    page.wait_for_selector("#again:not([hidden])")
    page.keyboard.press("Escape")  # it stays as it was
    page.wait_for_selector("#again", state="hidden")
    assert sum(event.kind == "labelled" for event in site.campaign.log.events()) == 3


def test_an_earlier_number_can_be_corrected(start: Start, visit: Visit) -> None:
    rng = np.random.default_rng(1)
    pool = from_arrays(y_pred=rng.normal(size=100), auxiliary={"dsa": rng.random(100)}, task="regression")
    site = start(pool, design="srs", budget=10)
    page = visit(site)
    first = shown(page)
    page.fill("#number", "4.5")
    page.keyboard.press("Enter")
    wait_saved(page)
    page.click("#earlier")
    page.locator("#mine-list button").first.click()
    wait_text(page, "#again", "Your answer was 4.5")
    assert page.input_value("#number") == "4.5"
    page.fill("#number", "5.5")
    page.keyboard.press("Enter")
    wait_until(page, lambda: str(site.campaign.refresh().items[first].label) == "5.5")


@pytest.fixture
def busy(start: Start) -> Site:
    """A campaign with all that there is to see: disputes, flags, failures, people."""
    site = start(design="srs", labels_per_item=2, people=["Ada", "Bob"], budget=20, instructions="Look.")
    for name in ("Ada", "Bob"):
        for at, item in enumerate(site.campaign.ask(name, n=18)):
            wrong = name == "Bob" and at < 3
            site.campaign.tell(item, CLASSES[(CLASSES.index(truth_of(item)) + wrong) % 3], by=name)
    site.campaign.flag(list(site.campaign.state.items)[5], "two at once", by="Ada")
    return site


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 800, "dark"), *((*size, "light") for size in SIZES)])
def test_nobody_is_kept_out(busy: Site, visit: Visit, width: int, height: int, scheme: str) -> None:
    page = visit(busy, name="lead", viewport={"width": width, "height": height}, color_scheme=scheme)
    assert serious(page) == []
    page.keyboard.press("h")
    page.wait_for_selector("#help[open]")
    assert serious(page) == []
    desk = desk_of(page)
    wait_until(desk, lambda: desk.locator(".open-item").count() == 4)
    assert serious(desk) == []
    assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_desk_by_keyboard_alone(busy: Site, visit: Visit) -> None:
    desk = desk_of(visit(busy, name="lead"))
    desk.wait_for_selector(".open-item")
    first = desk.locator(".open-item").first.get_attribute("data-item")
    while not desk.evaluate("Boolean(document.activeElement.closest('.settle'))"):
        desk.keyboard.press("Tab")
    said = desk.evaluate("document.activeElement.textContent")
    desk.keyboard.press("Enter")
    wait_until(desk, lambda: desk.locator(".open-item").count() == 3)
    assert str(busy.campaign.refresh().items[first].label) == said
