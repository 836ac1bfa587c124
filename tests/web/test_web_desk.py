"""What the lead does on the desk, what people find again of their own, and a server below a path of a proxy."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import numpy as np
import pytest

from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.web import create_app
from fieldcheck.web.serve import _root

from .sites import Site, Start, animals, truth_of


def disputed(start: Start, *, disputes: int = 5, **options: Any) -> tuple[Site, list[str]]:
    """Two people who have labelled all they could, and disagree on the first so many items."""
    site = start(labels_per_item=2, people=["Ada", "Bob"], **{"budget": 20, **options})
    at_odds: list[str] = []
    while items := site.campaign.ask("Ada"):
        (item,) = items
        at_odds += [item] if len(at_odds) < disputes else []
        site.campaign.tell(item, truth_of(item), by="Ada")
        site.campaign.ask("Bob")
        other = next(name for name in site.campaign.settings.classes if name != truth_of(item))
        site.campaign.tell(item, other if item in at_odds else truth_of(item), by="Bob")
    return site, at_odds


def by(site: Site, name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"campaign": site.name, "by": name, "key": str(uuid.uuid4()), **fields}


def test_the_lead_settles_extends_finishes_and_reads_the_report(start: Start) -> None:
    site, at_odds = disputed(start)
    with site.visitor("lead") as lead, site.visitor("Ada") as ada:
        state = lead.get("/api/desk/state").json()
        assert [item["id"] for item in state["unsettled"]] == at_odds
        assert {name for name, _ in state["unsettled"][0]["said"]} == {"Ada", "Bob"}
        assert ada.post("/api/next", json=by(site, "Ada") | {"n": 1}).status_code == 422  # no key there
        why = ada.post("/api/next", json={"campaign": site.name, "by": "Ada"}).json()
        assert (why["why"], why["disputed"], why["left"]) == ("settling", 5, 0)
        for item in at_odds:
            assert lead.post("/api/desk/settle", json=by(site, item=item, label=truth_of(item))).json()["saved"]
        assert site.campaign.progress().complete
        assert site.campaign.refresh().items[at_odds[0]].final.by == "lead"
        assert lead.post("/api/desk/extend", json=by(site, more=4)).json()["saved"]
        assert site.campaign.settings.budget == 24
        assert ada.post("/api/next", json={"campaign": site.name, "by": "Ada"}).json()["items"]
        decision = lead.get("/api/desk/decision", params={"bound": 0.2}).json()
        assert (decision["word"], decision["requirement"]) == ("passed", "accuracy at least 20 %")
        assert lead.post("/api/desk/close", json=by(site)).json()["saved"]
        assert site.campaign.refresh().closed
        report = lead.get("/desk/report")
        assert "sandbox" in report.headers["content-security-policy"]
        assert "script" not in report.headers["content-security-policy"]
        assert "The campaign is closed" in report.text


@pytest.mark.parametrize("path", ["settle", "extend", "close"])
def test_only_the_lead_decides(start: Start, path: str) -> None:
    site = start(people=["Ada"])
    item = site.campaign.ask("Ada")[0]
    body = by(site, "Ada", **{"settle": {"item": item, "label": "cat"}, "extend": {"more": 5}}.get(path, {}))
    with site.visitor("Ada") as ada:
        assert ada.post(f"/api/desk/{path}", json=body).status_code == 403
        assert ada.get("/desk/report").status_code == 403
        assert ada.get("/api/desk/decision", params={"bound": 0.5}).status_code == 403
    assert site.campaign.refresh().items[item].final is None
    assert (site.campaign.settings.budget, site.campaign.state.closed) == (40, 0)


def test_alone_the_lead_needs_no_name_but_the_right_campaign(site: Site, web: httpx.Client) -> None:
    item = site.campaign.ask("Ada")[0]
    other = {**by(site, item=item, label="cat"), "campaign": "another"}
    assert web.post("/api/desk/settle", json=other).status_code == 421
    assert web.post("/api/desk/settle", json=by(site, item=item, label="cat")).json()["saved"]
    assert web.post("/api/desk/settle", json=by(site, "Ada", item=item, label="cats")).status_code == 409
    assert site.campaign.refresh().items[item].final.by == "lead"


def test_no_number_before_ten_labels(site: Site, web: httpx.Client) -> None:
    for count in range(11):
        state = web.get("/api/desk/state").json() if count in (9, 10) else {}
        if state:
            while state["progress"]["labelled"] < count:
                state = web.get("/api/desk/state").json()
            assert (state["estimate"] is None) is (count == 9)
        item = site.campaign.ask("Ada")[0]
        site.campaign.tell(item, truth_of(item), by="Ada")


def test_errors_are_told_in_the_unit_of_what_is_predicted(start: Start) -> None:
    rng = np.random.default_rng(1)
    pool = from_arrays(y_pred=100 * rng.normal(size=100), auxiliary={"dsa": rng.random(100)}, task="regression")
    site = start(pool, design="srs", budget=20)
    for item in site.campaign.ask("Ada", n=20):
        said = float(site.campaign.pool.prediction_at(site.campaign.state.items[item].position) or 0)
        site.campaign.tell(item, said + 30, by="Ada")
    with site.visitor() as web:
        state = web.get("/api/desk/state").json()
    assert (state["estimate"]["metric"], state["estimate"]["value"]) == ("rmse", pytest.approx(30))
    assert state["development"][-1]["value"] == pytest.approx(30)


def test_people_find_their_own_answers_again(start: Start) -> None:
    site = start(people=["Ada", "Bob"], design="srs")
    told = {}
    for item in site.campaign.ask("Ada", n=3):
        told[item] = truth_of(item)
        site.campaign.tell(item, told[item], by="Ada")
    (bobs,) = site.campaign.ask("Bob")
    site.campaign.skip(bobs, "blurred", by="Bob")
    with site.visitor("Ada") as ada, site.visitor("Bob") as bob:
        mine = ada.post("/api/mine", json=site.body()).json()["answers"]
        assert [one["id"] for one in mine] == list(reversed(told))
        assert {one["id"]: one["given"] for one in mine} == told
        assert bob.post("/api/mine", json=site.body(by="Bob")).json()["answers"] == [{"id": bobs, "given": None}]
        first = next(iter(told))
        shown = ada.post("/api/reopen", json=site.body(item=first)).json()["item"]
        assert (shown["id"], shown["given"]) == (first, told[first])
        assert shown["text"].startswith("the sound of")
        assert ada.post("/api/reopen", json=site.body(item=bobs)).status_code == 409
        assert ada.post("/api/reopen", json=site.body(item="nowhere")).status_code == 409


def test_instructions_and_descriptions_are_on_the_page(start: Start) -> None:
    site = start(instructions="# How\n\nlook", descriptions={"owl": "has feathers"}, people=["Ada"])
    with site.visitor("Ada") as ada:
        about = ada.get("/api/campaign").json()
    assert (about["instructions"], about["descriptions"]) == ("# How\n\nlook", {"owl": "has feathers"})


def test_what_people_did(start: Start) -> None:
    """Pace, agreement and items at hand, by hand."""
    site, _ = disputed(start, disputes=4, design="srs")
    people = {one.name: one for one in site.campaign.view.annotators()}
    assert set(people) == {"Ada", "Bob"}
    assert (people["Ada"].labels, people["Ada"].agreement) == (20, 16 / 20)
    first = site.campaign.view.unsettled()[0]
    site.campaign.settle(first, truth_of(first), by="lead")
    people = {one.name: one for one in site.campaign.view.annotators()}
    assert (people["Ada"].agreement, people["Bob"].agreement) == (17 / 20, 16 / 20)


@pytest.mark.parametrize("stripped", [False, True])
def test_below_the_path_of_a_proxy(start: Start, stripped: bool) -> None:
    """Whether the proxy takes its own part off the path or not."""
    site = start(people=["Ada"], serve={"root": "/labels/pool-7"})
    root = "" if stripped else "/labels/pool-7"
    with site.visitor("Ada") as ada:
        assert ada.get(f"{root}/api/campaign").json()["person"] == "Ada"
        assert ada.get(f"{root}/").status_code == 200
        assert ada.get(f"{root}/assets/main.js").status_code == 200
        assert ada.get(f"{root}/desk/report").status_code == 403
        item = ada.post(f"{root}/api/next", json=site.body()).json()["items"][0]["id"]
        assert ada.post(f"{root}/api/label", json=site.act(item=item, label="cat")).json()["saved"]
    with site.visitor() as stranger:
        assert stranger.get(f"{root}/api/campaign").status_code == 401
        link = stranger.get(f"{root}/?token={site.tokens['Ada']}")
        assert (link.status_code, link.headers["location"]) == (303, "./")
        assert stranger.get(f"{root}/desk?token=x").headers["location"] == "desk"
        if not stripped:
            bare = stranger.get("/labels/pool-7")
            assert (bare.status_code, bare.headers["location"]) == (307, "pool-7/")


def test_the_root_path_of_the_server_that_it_runs_in(site: Site) -> None:
    """Another ASGI server says where it has mounted the application."""
    app = create_app(site.campaign, hosts=("testserver",))
    transport = httpx.ASGITransport(app=app, root_path="/mounted")

    async def ask(path: str) -> int:
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as web:
            return (await web.get(path)).status_code

    assert [asyncio.run(ask(path)) for path in ("/mounted/api/campaign", "/mounted/", "/mounted/nothing")] == [
        200,
        200,
        404,
    ]


@pytest.mark.parametrize(("given", "root"), [("", ""), ("/", ""), ("pool-7", "/pool-7"), ("/a/b/", "/a/b")])
def test_root_paths(given: str, root: str) -> None:
    assert _root(given) == root


def test_a_column_that_repeats_the_model_is_hidden(start: Start) -> None:
    pool = animals()
    said = [pool.classes[int(code)] for code in pool.predictions]  # type: ignore[union-attr]
    site = start(animals(kept=["meadow"] * 200, noted=said))
    with site.visitor() as web:
        row = web.post("/api/next", json=site.body()).json()["items"][0]
    assert [name for name, _ in row["pairs"]] == ["kept"]
