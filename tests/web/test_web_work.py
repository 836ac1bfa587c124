"""Labels through the server: stored before they are acknowledged, once, by the right person."""

from __future__ import annotations

import json
import re
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import StoreError
from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.web.labelling import answers_for

from .sites import PATIENCE, Site, Start, animals, truth_of


def state_of(web: httpx.Client, site: Site) -> Any:
    """The state that holds all that was stored up to now."""
    number = site.campaign.refresh().number
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        state = web.get("/api/desk/state").json()
        if state["number"] >= number:
            return state
        time.sleep(0.02)
    raise AssertionError("the estimate does not come")


def label_all(web: httpx.Client, site: Site, count: int) -> list[str]:
    done: list[str] = []
    while len(done) < count:
        items = web.post("/api/next", json=site.body(n=5)).json()["items"]
        for item in items[: count - len(done)]:
            answer = web.post("/api/label", json=site.act(item=item["id"], label=truth_of(item["id"])))
            assert answer.json()["saved"]
            done.append(item["id"])
    return done


def test_the_page_and_its_files_come_from_the_package(web: httpx.Client) -> None:
    page = web.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    for name in ("main.js", "label.css", "colours.css", "icon.svg"):
        assert web.get(f"/assets/{name}").status_code == 200
    assert "http://" not in page.text.replace(str(web.base_url), "")
    assert "https://" not in page.text


def test_addresses_are_relative_so_that_a_proxy_may_put_it_anywhere(web: httpx.Client) -> None:
    folder = files("fieldcheck.web") / "static"
    texts = [one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith((".js", ".html"))]
    assert len(texts) > 10
    assert [found for text in texts for found in re.findall(r"""["'`]/(?:api|assets|items|desk)\b""", text)] == []


def test_about(site: Site, web: httpx.Client) -> None:
    about = web.get("/api/campaign").json()
    assert about["classes"] == ["cat", "dog", "owl"]
    assert about["answers"] == "classes"
    assert (about["person"], about["role"]) == ("", "lead")  # alone on this machine


def test_a_label_is_stored_when_it_is_acknowledged(site: Site, web: httpx.Client) -> None:
    item = web.post("/api/next", json=site.body()).json()["items"][0]
    answer = web.post("/api/label", json=site.act(item=item["id"], label="dog"))
    again = Campaign.open(site.campaign.place, pool=site.campaign.pool)
    assert again.state.number == answer.json()["number"]
    assert str(again.state.items[item["id"]].label) == "dog"
    assert again.state.items[item["id"]].labels[0].by == "Ada"
    again.disconnect()


def test_the_prediction_is_hidden_unless_the_lead_wants_it_shown(start: Start, site: Site, web: httpx.Client) -> None:
    hidden = web.post("/api/next", json=site.body()).json()["items"][0]
    assert set(hidden) == {"id", "kind", "src", "text", "pairs", "note"}
    assert web.post("/api/next", json=site.body(prediction=True)).status_code == 422
    assert not site.campaign.refresh().shown
    told = start(serve={"show_predictions": True})
    assert told.campaign.refresh().shown  # on record
    with told.visitor() as other:
        shown = other.post("/api/next", json=told.body()).json()["items"][0]
    assert shown["prediction"] == told.campaign.pool.prediction_at(told.campaign.state.items[shown["id"]].position)


def test_sent_twice_is_stored_once(site: Site, web: httpx.Client) -> None:
    item = web.post("/api/next", json=site.body()).json()["items"][0]["id"]
    body = site.act(item=item, label="cat")
    first, second = web.post("/api/label", json=body), web.post("/api/label", json=body)
    assert first.json() == second.json()
    assert sum(event.kind == "labelled" for event in site.campaign.log.events()) == 1
    assert web.post("/api/label", json={**body, "label": "dog"}).status_code == 409


def test_two_people_get_different_items(site: Site, web: httpx.Client) -> None:
    ada = {item["id"] for item in web.post("/api/next", json=site.body(n=5)).json()["items"]}
    bob = {item["id"] for item in web.post("/api/next", json=site.body(n=5, by="Bob")).json()["items"]}
    assert len(ada) == len(bob) == 5
    assert not ada & bob


def test_skip_flag_undo_release(site: Site, web: httpx.Client) -> None:
    one, two = (item["id"] for item in web.post("/api/next", json=site.body(n=2)).json()["items"])
    assert web.post("/api/skip", json=site.act(item=one, reason="blurred")).json()["saved"]
    assert web.post("/api/flag", json=site.act(item=one, note="look")).json()["saved"]
    assert web.post("/api/undo", json=site.act(item=one)).json()["saved"]
    assert web.post("/api/release", json=site.body(items=[one, two, "nobody's"])).json() == {"released": True}
    state = site.campaign.refresh()
    assert state.items[one].standing == "open"
    assert state.items[one].flags[0].note == "look"
    assert [event.kind for event in site.campaign.log.events()][-4:-2] == ["flagged", "retracted"]


def test_estimate_and_failures_are_those_of_the_campaign(site: Site, web: httpx.Client) -> None:
    label_all(web, site, 25)
    state = state_of(web, site)
    estimate = site.campaign.estimate()
    assert state["estimate"]["value"] == estimate.value
    assert state["estimate"]["sentence"] == estimate.sentence()
    assert state["estimate"]["shown"] in estimate.sentence()
    assert f"{state['estimate']['low']} to {state['estimate']['high']}" in estimate.sentence()
    assert state["progress"]["labelled"] == 25
    assert state["development"][-1]["value"] == pytest.approx(estimate.value)
    wanted = {failure.item for failure in site.campaign.failures()}
    assert wanted
    assert {failure["id"] for failure in state["failures"]} == wanted
    assert state["progress"]["failures"] == len(wanted)
    assert all(failure["label"] != failure["prediction"] for failure in state["failures"])
    (ada,) = state["people"]
    assert (ada["name"], ada["labels"], ada["skips"], ada["agreement"], ada["link"]) == ("Ada", 25, 0, None, None)
    assert 0 <= ada["seconds"] < PATIENCE


def test_to_the_end(start: Start) -> None:
    site = start(budget=12)
    with site.visitor() as web:
        label_all(web, site, 12)
        said = web.post("/api/next", json=site.body()).json()
        assert said == {"items": [], "why": "done"}
        site.campaign.close()
        assert web.post("/api/next", json=site.body()).json()["why"] == "closed"
        refused = web.post("/api/label", json=site.act(item="item-000", label="cat"))
        assert refused.status_code == 409


def test_waiting_for_others(start: Start) -> None:
    site = start(budget=12)
    with site.visitor() as web:
        web.post("/api/next", json=site.body(n=50))
        assert web.post("/api/next", json=site.body(by="Bob")).json()["why"] == "waiting"


@pytest.mark.parametrize(
    ("item", "label", "word"),
    [("item-9999", "cat", "no item"), ("", "cat", "item"), ("drawn", "cta", "no class"), ("drawn", " ", "label")],
)
def test_bad_labels_are_named(site: Site, web: httpx.Client, item: str, label: str, word: str) -> None:
    drawn = web.post("/api/next", json=site.body()).json()["items"][0]["id"]
    answer = web.post("/api/label", json=site.act(item=drawn if item == "drawn" else item, label=label))
    assert answer.status_code in (409, 422)
    assert word in answer.json()["error"]["problem"]
    assert not any(event.kind == "labelled" for event in site.campaign.log.events())


def test_another_campaign_at_the_same_address(site: Site, web: httpx.Client) -> None:
    answer = web.post("/api/label", json={**site.act(item="item-000", label="cat"), "campaign": "another"})
    assert answer.status_code == 421
    assert "another campaign" in answer.json()["error"]["problem"]


def test_nothing_is_acknowledged_when_the_store_fails(
    site: Site, web: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = web.post("/api/next", json=site.body()).json()["items"][0]["id"]
    body = site.act(item=item, label="cat")

    def full(*_: Any, **__: Any) -> Any:
        raise StoreError("the disk is full", hint="make room")

    with monkeypatch.context() as broken:
        broken.setattr(site.campaign.log, "append", full)
        answer = web.post("/api/label", json=body)
        assert answer.status_code == 503
        assert answer.json()["error"] == {"problem": "the disk is full", "rule": "", "hint": "make room"}
    assert web.post("/api/label", json=body).json()["saved"]
    assert sum(event.kind == "labelled" for event in site.campaign.log.events()) == 1


def test_nothing_is_acknowledged_while_the_file_is_elsewhere(site: Site, web: httpx.Client) -> None:
    first, second = (item["id"] for item in web.post("/api/next", json=site.body(n=2)).json()["items"])
    stored, waiting = site.act(item=first, label="cat"), site.act(item=second, label="dog")
    assert web.post("/api/label", json=stored).json()["saved"]
    place = Path(site.campaign.place)
    away = place.rename(place.with_name("elsewhere.db"))
    refused = [("label", waiting), ("label", stored), ("skip", site.act(item=second)), ("next", site.body(n=5))]
    for path, body in refused:
        answer = web.post(f"/api/{path}", json=body)
        assert answer.status_code == 503, path
        assert f"{place}.rescued" in answer.json()["error"]["hint"]
    with Campaign.open(f"{place}.rescued", pool=site.campaign.pool) as rescued:
        assert {item.id for item in rescued.state.items.values() if item.labels} == {first}
    away.rename(place)
    assert web.post("/api/label", json=waiting).json()["saved"]
    with Campaign.open(place, pool=site.campaign.pool) as found:
        assert {first, second} == {item.id for item in found.state.items.values() if item.labels}


def test_what_breaks_unexpectedly_tells_nothing_and_keeps_its_headers(
    site: Site, web: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(site.campaign, "tell", lambda *_, **__: 1 / 0)
    answer = web.post("/api/label", json=site.act(item="item-000", label="cat"))
    assert answer.status_code == 500
    assert "division" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "ZeroDivisionError" in caplog.text


def test_news_are_pushed(site: Site, web: httpx.Client) -> None:
    label_all(web, site, 5)
    state_of(web, site)
    with web.stream("GET", "/api/progress/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(lines) == "event: state"
        first = json.loads(next(lines).removeprefix("data: "))
        label_all(web, site, 1)
        rest = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
        assert next(state for state in rest if state["progress"]["labelled"] > first["progress"]["labelled"])


def test_another_process_is_noticed(site: Site, web: httpx.Client) -> None:
    state_of(web, site)
    other = Campaign.open(site.campaign.place, pool=site.campaign.pool)
    other.tell(other.ask("Eve")[0], "cat", by="Eve")
    other.disconnect()
    assert [person["name"] for person in state_of(web, site)["people"]] == ["Eve"]


def test_numbers(start: Start) -> None:
    rng = np.random.default_rng(1)
    pool = from_arrays(y_pred=rng.normal(size=100), auxiliary={"dsa": rng.random(100)}, task="regression")
    site = start(pool, design="sups:auxiliary=dsa", budget=10)
    with site.visitor() as web:
        assert web.get("/api/campaign").json()["answers"] == "number"
        item = web.post("/api/next", json=site.body()).json()["items"][0]["id"]
        assert web.post("/api/label", json=site.act(item=item, label=1.5)).json()["saved"]
        assert web.post("/api/label", json=site.act(item=item, label="2.5")).json()["saved"]
        assert web.post("/api/label", json=site.act(item=item, label=True)).status_code == 422
        text = json.dumps(site.act(item=item, label=0)).replace('"label": 0', '"label": NaN')
        sent = web.post("/api/label", content=text, headers={"content-type": "application/json"})
        assert sent.status_code == 422


def test_how_labels_are_given(start: Start) -> None:
    classes = start().campaign
    assert answers_for(classes, None) == "classes"
    assert answers_for(classes, "right-wrong") == "right-wrong"
    site = start(serve={"answers": "right-wrong"})
    with site.visitor() as web:
        item = web.post("/api/next", json=site.body()).json()["items"][0]
        assert item["prediction"] in ("cat", "dog", "owl")
        assert web.post("/api/label", json=site.act(item=item["id"], label="wrong")).json()["saved"]
    unnamed = from_arrays(ids=np.arange(30), outcome=["Pass", "Fail"] * 15)
    site = start(unnamed, design="srs", budget=5)
    assert answers_for(site.campaign, None) == "right-wrong"


def test_of_texts_that_a_model_wrote_people_say_whether_they_are_right(start: Start) -> None:
    written = from_arrays(ids=np.arange(60), y_pred=[f"The printer of room {at} burns." for at in range(60)])
    assert written.written
    site = start(written, design="srs", budget=5)
    assert answers_for(site.campaign, None) == "right-wrong"
    assert answers_for(site.campaign, "classes") == "classes"
    with site.visitor() as web:
        assert "burns" in web.post("/api/next", json=site.body()).json()["items"][0]["prediction"]
    assert not from_arrays(y_pred=np.arange(60)).written  # numbered classes
    assert not from_arrays(y_pred=["cat", "dog"] * 30).written


def test_pictures_are_sent(start: Start, tmp_path: Any, picture: bytes) -> None:
    folder = tmp_path / "items"
    folder.mkdir()
    for at in range(200):
        (folder / f"item-{at:03d}.png").write_bytes(picture)
    site = start(animals(note=[""] * 200), items=folder)
    with site.visitor() as web:
        item = web.post("/api/next", json=site.body()).json()["items"][0]
        assert item["kind"] == "image"
        answer = web.get(f"/{item['src']}")
        assert answer.content == picture
        assert answer.headers["content-type"] == "image/png"
        undrawn = next(at for at in range(200) if f"item-{at:03d}" not in site.campaign.state.items)
        assert web.get(f"/items/{undrawn}").status_code == 404
        assert web.get("/items/100000").status_code == 404
