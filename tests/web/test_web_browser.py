"""The page in a real browser: by keyboard, without a connection, by two people, on a phone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldcheck.sources.pools.arrays import from_arrays

from .sites import CLASSES, PATIENCE, Site, Start, animals, truth_of

pytestmark = pytest.mark.browser

SCRIPT = "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"

EXPECTED = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "ERR_NETWORK_CHANGED", "status of 503", "status of 401")
"""What the browser says about connections that these tests, or others on the same machine, take away."""

SMALL_OR_PALE = """() => {
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
  const wrong = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.getClientRects().length || element.closest(":disabled, .unseen, noscript")) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(rgb(element.matches("text") ? style.fill : style.color)), light(paper(element))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) wrong.push([ratio, element.outerHTML.slice(0, 120)]);
  }
  for (const element of document.querySelectorAll("main button")) {
    const box = element.getBoundingClientRect();
    if (box.width && (box.height < 24 || box.width < 24)) wrong.push([box.height, element.outerHTML.slice(0, 120)]);
  }
  return wrong;
}"""


Visit = Callable[..., Any]


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Open the page as somebody; whatever the browser complains about fails the test."""
    contexts, said = [], list[str]()

    def go(site: Site, *, name: str = "Ada", **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1_000 * PATIENCE)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: message.type == "error" and said.append(message.text))
        page.goto(site.link(name))
        if not site.tokens:
            page.fill("#name-field", name)
            page.keyboard.press("Enter")
        page.wait_for_selector("#item .id")
        return page

    yield go
    for context in contexts:
        context.close()
    assert [text for text in said if not any(known in text for known in EXPECTED)] == []


def desk_of(page: Any) -> Any:
    """The desk, in another tab of the same browser."""
    desk = page.context.new_page()
    desk.set_default_timeout(1_000 * PATIENCE)
    page.wait_for_selector("#to-desk")
    desk.goto(page.url + "desk")
    return desk


def shown(page: Any) -> str:
    return str(page.locator("#item .id").inner_text())


def answer(page: Any) -> str:
    """Label what is on the table with its true class, by its key."""
    page.wait_for_selector("#item .id")
    item = shown(page)
    page.keyboard.press(str(CLASSES.index(truth_of(item)) + 1))
    return item


def wait_text(page: Any, where: str, text: str) -> None:
    page.locator(where, has_text=re.compile(text)).first.wait_for()


def wait_saved(page: Any) -> None:
    wait_text(page, "#saved", "^Saved$")


def labels(site: Site) -> dict[str, str]:
    items = site.campaign.refresh().items.values()
    return {item.id: str(item.label) for item in items if item.standing == "labelled"}


def test_thirty_items_by_keyboard(start: Start, visit: Visit) -> None:
    site = start(budget=33, design="srs")
    page = visit(site)
    asked = asked_for_items(page)
    done = [answer(page) for _ in range(10)]
    page.keyboard.press("Backspace")  # undo the tenth, and give it another label
    assert shown(page) == done[9]
    page.keyboard.press("3")
    skipped = shown(page)
    page.keyboard.press(" ")
    flagged = shown(page)
    page.keyboard.press("f")
    done.append(answer(page))
    page.keyboard.press("h")
    page.wait_for_selector("#help[open]")
    page.keyboard.press("2")  # must not label behind the help
    page.keyboard.press("Escape")
    wait_saved(page)
    wait_until(page, lambda: not asked)  # the next items are here
    page.context.set_offline(True)
    done += [answer(page) for _ in range(3)]
    wait_text(page, "#saved", "3 labels waiting")
    assert not set(done[-3:]) & set(labels(site))
    page.context.set_offline(False)
    page.reload()
    wait_until(page, lambda: done[-1] in labels(site))
    page.wait_for_selector("#item .id")
    while page.locator("[data-why=done]").count() == 0:
        done.append(answer(page))
        wait_saved(page)
        page.wait_for_selector("#item .id, [data-why=done]")
    wanted = {item: truth_of(item) for item in done} | {done[9]: "owl"}
    assert len(set(done)) == len(done) == 32
    assert labels(site) == wanted
    assert site.campaign.state.items[skipped].standing == "skipped"
    assert site.campaign.state.items[flagged].flags[0].by == "Ada"
    assert sum(event.kind == "labelled" for event in site.campaign.log.events()) == 33
    wait_text(page, "#progress", "^33 of 33 labels$")
    check_estimate(desk_of(page), site)


def asked_for_items(page: Any) -> set[Any]:
    """Requests for items that are under way, as it changes."""
    under_way = set[Any]()

    def ended(request: Any) -> None:
        under_way.discard(request)

    page.on("request", lambda request: request.url.endswith("/api/next") and under_way.add(request))
    page.on("requestfinished", ended)
    page.on("requestfailed", ended)
    return under_way


def wait_until(page: Any, is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def check_estimate(page: Any, site: Site) -> None:
    """What is shown is what every other face says."""
    estimate = site.campaign.estimate()
    wait_text(page, ".chips b", f"^{estimate.labels}$")
    value, bounds = page.inner_text("#estimate"), page.inner_text("#bounds")
    assert f"estimated at {value}" in estimate.sentence()
    assert re.sub(r"\s*%", "%", bounds) in re.sub(r"\s*%", "%", estimate.sentence())
    wait_until(page, lambda: page.locator(".gallery li").count() == len(site.campaign.failures()))
    assert page.inner_text("#to-go") == "The budget is spent"
    assert "more than the budget leaves" in page.inner_text(".aim")


def test_an_answer_that_got_lost_is_not_stored_twice(start: Start, visit: Visit) -> None:
    site = start()
    page = visit(site)
    lost: list[Any] = []
    noticed: list[bool] = []

    def deliver_and_lose(route: Any) -> None:
        if not lost:
            lost.append(route.fetch(timeout=1_000 * PATIENCE))  # the server has it, the page does not know
        if noticed:
            route.continue_()
        else:
            route.abort()

    page.route("**/api/label", deliver_and_lose)
    item = answer(page)
    wait_text(page, "#saved", "1 label waiting")
    noticed.append(True)
    wait_saved(page)
    assert lost[0].ok
    assert labels(site) == {item: truth_of(item)}
    assert sum(event.kind == "labelled" for event in site.campaign.log.events()) == 1


def test_a_list_of_items_that_comes_late_does_not_bring_back_what_is_answered(start: Start, visit: Visit) -> None:
    site = start()
    page = visit(site)
    lists: list[Any] = []
    page.route("**/api/label", lambda route: route.continue_() if lists else route.abort())
    done = answer(page)
    wait_text(page, "#saved", "1 label waiting")
    page.route("**/api/next", lambda route: lists.append((route, route.fetch(timeout=1_000 * PATIENCE))), times=1)
    page.reload()
    wait_until(page, lambda: done in labels(site))
    wait_saved(page)
    late, made = lists[0]
    assert done in [item["id"] for item in made.json()["items"]]
    late.fulfill(response=made)
    assert answer(page) != done


def test_a_store_that_fails_is_told(start: Start, visit: Visit) -> None:
    site = start()
    page = visit(site)
    failing = '{"error": {"problem": "the disk is full", "rule": "", "hint": ""}}'
    page.route("**/api/label", lambda route: route.fulfill(status=503, body=failing, content_type="application/json"))
    answer(page)
    wait_text(page, "#saved", "1 label waiting: the disk is full")
    assert labels(site) == {}


def test_a_label_waits_while_the_file_is_elsewhere(start: Start, visit: Visit) -> None:
    site = start()
    page = visit(site)
    first = answer(page)
    wait_saved(page)
    place = Path(site.campaign.place)
    away = place.rename(place.with_name("elsewhere.db"))
    second = answer(page)
    wait_text(page, "#saved", "1 label waiting: .*moved, deleted or replaced.*Try: put it back.*rescued")
    away.rename(place)
    wait_saved(page)
    assert set(labels(site)) == {first, second}


def test_two_people_never_see_the_same_item(start: Start, visit: Visit) -> None:
    site = start(budget=16, people=["Ada", "Bob"])
    pages = [visit(site, name=name) for name in ("Ada", "Bob")]
    assert all(page.url == f"{site.url}/" for page in pages)  # no token is left in the address
    seen: list[str] = []
    for _ in range(5):
        seen += [answer(page) for page in pages]
    for page in pages:
        wait_saved(page)
    assert len(seen) == len(set(seen)) == 10
    assert site.campaign.progress().annotators == {"Ada": 5, "Bob": 5}


def test_two_people_label_the_same_items_at_once_where_two_are_wanted(start: Start, visit: Visit) -> None:
    site = start(budget=4, design="srs", labels_per_item=2, people=["Ada", "Bob"])
    pages = [visit(site, name=name) for name in ("Ada", "Bob")]
    assert shown(pages[0]) == shown(pages[1])
    for _ in range(4):
        for page in pages:
            answer(page)
            wait_saved(page)
    for page in pages:
        page.wait_for_selector("[data-why=done]")
    assert site.campaign.progress().annotators == {"Ada": 4, "Bob": 4}


def test_who_disagrees_is_told_who_settles_it(start: Start, visit: Visit) -> None:
    site = start(budget=2, design="srs", labels_per_item=2)
    ada, bob = (visit(site, name=name) for name in ("Ada", "Bob"))
    for key in "11":
        ada.keyboard.press(key)
    wait_saved(ada)
    desk = desk_of(ada)
    wait_text(desk, ".chips li", "2.*waiting for more people")
    assert desk.inner_text("#to-go") == "2 items to go until the budget"
    for key in "12":
        bob.keyboard.press(key)
    for page in (ada, bob):
        page.wait_for_selector("[data-why=settling]")
        wait_text(page, ".rest", "On 1 item people disagree: it waits for the lead")
    wait_text(desk, "#to-go", "^1 item to go until the budget$")


def test_the_items_of_somebody_who_left_come_to_a_page_that_waits(start: Start, visit: Visit) -> None:
    site = start(budget=2, design="srs", lease_seconds=3)
    left = site.campaign.ask("Bob", n=2)
    page = visit(site)
    assert shown(page) == left[0]


def test_two_people_in_one_browser(start: Start, visit: Visit) -> None:
    site = start(budget=4, design="srs", labels_per_item=2)
    page = visit(site)
    item = answer(page)
    wait_text(page, "#last", f"^Before: {item}")
    wait_saved(page)
    page.route("**/api/label", lambda route: route.abort())  # the second label of Ada stays in the browser
    second = answer(page)
    wait_text(page, "#saved", "1 label waiting")
    page.click("#who")
    page.fill("#name-field", "Bob")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_selector("#item .id")
    assert shown(page) == item  # what Ada labelled, Bob may label too, and cannot take back
    assert page.inner_text("#last") == ""
    assert page.locator("#undo").is_disabled()
    page.unroute("**/api/label")
    answer(page)
    assert answer(page) == second
    wait_until(page, lambda: site.campaign.refresh().items[second].done)
    assert site.campaign.progress().annotators == {"Ada": 2, "Bob": 2}


def test_the_gallery_follows_corrections(start: Start, visit: Visit) -> None:
    site = start()
    page = visit(site)
    item = shown(page)
    said = site.campaign.pool.prediction_at(site.campaign.state.items[item].position)
    first, second = (name for name in CLASSES if name != said)
    page.click(f".choice:has-text('{first}')")
    desk = desk_of(page)
    wait_text(desk, ".gallery li", f"{first}, not {said}")
    site.campaign.tell(item, second, by="Ada")
    wait_text(desk, ".gallery li", f"{second}, not {said}")
    assert desk.locator(".gallery li").count() == 1


def test_scripts_in_items_do_not_run(start: Start, visit: Visit) -> None:
    site = start(animals(text=[SCRIPT] * 200), title=SCRIPT)
    page = visit(site, name=SCRIPT[:70])
    for _ in range(3):
        page.keyboard.press("1")
    wait_saved(page)
    assert page.inner_text(".text") == SCRIPT
    desk = desk_of(page)
    desk.wait_for_selector(".gallery li")
    for one in (page, desk):
        assert "broken" not in one.title().replace(SCRIPT, "")
        assert one.evaluate("document.querySelectorAll('main script, main img, header img').length") == 0


@pytest.mark.parametrize(("scheme", "width"), [("dark", 375), ("light", 1280)])
def test_it_can_be_read_and_touched(start: Start, visit: Visit, scheme: str, width: int) -> None:
    site = start()
    page = visit(site, viewport={"width": width, "height": 812}, color_scheme=scheme, has_touch=width < 500)
    for at in range(12):
        page.locator(".choice").nth(at % 3).click()
    wait_saved(page)
    desk = desk_of(page)
    desk.wait_for_selector("#estimate")
    for one in (page, desk):
        overflow = one.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0
        assert one.evaluate(SMALL_OR_PALE) == []
    assert len(labels(site)) == 12


def test_a_thousand_classes(start: Start, visit: Visit) -> None:
    names = [f"species {at}" for at in range(1_000)] + ["golden eagle", "eagle owl"]
    site = start(animals(habitat=["lake"] * 200), new_classes=names)
    page = visit(site)
    first, second = shown(page), None
    page.keyboard.press("/")
    page.keyboard.type("eagle")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_saved(page)
    second = shown(page)
    page.keyboard.press("1")  # the class that was used lately
    wait_text(page, "#last", f"^Before: {second}.*saved$")
    wait_saved(page)
    assert labels(site) == {first: "golden eagle", second: "golden eagle"}


def test_numbers(start: Start, visit: Visit) -> None:
    rng = np.random.default_rng(1)
    pool = from_arrays(y_pred=rng.normal(size=100), auxiliary={"dsa": rng.random(100)}, task="regression")
    site = start(pool, design="sups:auxiliary=dsa", budget=10)
    page = visit(site)
    first = shown(page)
    page.keyboard.type("1,2,3")
    page.keyboard.press("Enter")
    assert shown(page) == first  # no number
    page.fill("#number", "-1,5")
    page.keyboard.press("Enter")
    second = shown(page)
    page.keyboard.press(" ")
    wait_saved(page)
    page.keyboard.press("Backspace")
    page.keyboard.type("2e-1")
    page.keyboard.press("Enter")
    wait_text(page, "#last", f"^Before: {second}.*saved$")
    assert {item: float(label) for item, label in labels(site).items()} == {first: -1.5, second: 0.2}


def test_predictions_are_shown_where_the_lead_wants_it(start: Start, visit: Visit) -> None:
    hidden, told = start(), start(serve={"show_predictions": True})
    assert not visit(hidden).locator("#said").is_visible()
    page = visit(told)
    for _ in range(6):
        page.wait_for_selector("#said")
        position = told.campaign.state.items[shown(page)].position
        assert page.inner_text("#said").startswith(f"The model says {told.campaign.pool.prediction_at(position)} (")
        answer(page)


def test_a_person_with_a_link_is_known_by_it_and_has_no_desk(start: Start, visit: Visit) -> None:
    site = start(people=["Ada"])
    page = visit(site, name="Ada")
    assert page.inner_text("#who") == "Ada"
    assert page.locator("#who").is_disabled()
    assert not page.locator("#to-desk").is_visible()
    page.goto(f"{site.url}/desk")
    wait_text(page, "#live", "This is the lead's desk")
    lead = visit(site, name="lead")
    lead.click("#to-desk")
    wait_text(lead, "#live", "No estimate yet")


def test_without_a_connection_and_revoked_meanwhile_nothing_is_lost(start: Start, visit: Visit) -> None:
    site = start(people=["Ada"], design="srs")
    page = visit(site, name="Ada")
    saved = answer(page)
    wait_saved(page)
    page.context.set_offline(True)
    waiting = [answer(page) for _ in range(2)]
    wait_text(page, "#saved", "2 labels waiting: no connection")
    site.campaign.revoke("Ada")
    page.context.set_offline(False)
    wait_text(page, "#saved", "2 labels waiting: this needs your own link")
    assert set(labels(site)) == {saved}
    page.goto(f"{site.url}/?token={site.campaign.invite(['Ada'])['Ada']}")
    wait_until(page, lambda: set(labels(site)) == {saved, *waiting})
    assert site.campaign.progress().annotators == {"Ada": 3}


def test_what_one_person_left_in_a_browser_is_not_delivered_as_another_one(start: Start, visit: Visit) -> None:
    site = start(people=["Ada", "Bob"], design="srs")
    page = visit(site, name="Ada")
    page.route("**/api/label", lambda route: route.abort() if "Ada" in route.request.post_data else route.continue_())
    left = answer(page)
    wait_text(page, "#saved", "1 label waiting")
    page.goto(site.link("Bob"))
    wait_text(page, "#who", "Bob")
    bobs = answer(page)
    wait_saved(page)
    assert site.campaign.progress().annotators == {"Bob": 1}
    page.unroute("**/api/label")
    page.goto(site.link("Ada"))
    wait_until(page, lambda: set(labels(site)) == {left, bobs})
    assert site.campaign.progress().annotators == {"Bob": 1, "Ada": 1}


def test_a_tab_whose_person_was_replaced_says_so(start: Start, visit: Visit) -> None:
    site = start(people=["Ada", "Bob"], design="srs")
    adas = visit(site, name="Ada")
    bobs = adas.context.new_page()
    bobs.goto(site.link("Bob"))
    bobs.wait_for_selector("#item .id")
    answer(adas)
    wait_text(adas, "#saved", "1 label waiting: this page is that of Ada, and Bob is signed in")
    assert labels(site) == {}


def test_two_tabs_of_one_person_go_on_together(start: Start, visit: Visit) -> None:
    site = start(people=["Ada"], budget=12, design="srs")
    first = visit(site, name="Ada")
    second = first.context.new_page()
    second.set_default_timeout(1_000 * PATIENCE)
    second.goto(site.url)
    second.wait_for_selector("#item .id")
    done = list[str]()
    for page in (first, second) * 6:
        page.wait_for_selector("#item .id")
        wait_until(page, lambda page=page: shown(page) not in done)
        done.append(answer(page))
    wait_until(first, lambda: len(labels(site)) == 12)
    assert len(set(done)) == 12
    assert sum(event.kind == "labelled" for event in site.campaign.log.events()) == 12


def rival(name: str, every: int) -> Any:
    """Another model for the animals: wrong on every so many of them, on others than the first model."""
    wrong = np.arange(len(animals())) % every == 1
    codes = np.arange(len(wrong)) % 3
    return from_arrays(
        ids=[f"item-{at:03d}" for at in range(len(wrong))],
        y_pred=[CLASSES[code] for code in np.where(wrong, (codes + 2) % 3, codes)],
        confidence=np.where(wrong, 0.55, 0.9),
        name=name,
    )


def test_two_people_label_a_comparison_of_three_models_to_its_decision(start: Start, visit: Visit) -> None:
    site = start(budget=None, against=[rival("better", 40), rival("worse", 2)], people=["Ada", "Bob"])
    pages = [visit(site, name=name) for name in ("Ada", "Bob")]
    done = "[data-why=done]"
    while waiting := [page for page in pages if page.locator(done).count() == 0]:
        for page in waiting:
            if page.locator("#item .id").count():
                answer(page)
                wait_saved(page)
            page.wait_for_selector(f"#item .id, [data-why=waiting], [data-why=others], {done}")
    found = site.campaign.estimate()
    assert found.decided
    assert found.best() == "better"
    assert set(site.campaign.progress().annotators) == {"Ada", "Bob"}
    desk = pages[0].context.new_page()
    desk.goto(f"{site.url}/desk?token={site.tokens['lead']}")
    wait_text(desk, "body", "better")
