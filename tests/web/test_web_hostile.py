"""Every address of the labelling page, for a campaign whose ids, classes, texts and title are an enemy's."""

from __future__ import annotations

import re
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path

from starlette.routing import Route
from starlette.testclient import TestClient

from fieldcheck import web
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.web import create_app

from .sites import LEADS

RUN = "\"'></script></style></title></textarea><fc-evil onfcevil=1>{{7*7}}"

EVIL = f"\x1b]0;x\x07{RUN}"


class Elements(HTMLParser):
    """Names of all elements and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}


def test_no_address_makes_an_element_of_what_others_wrote(tmp_path: Path) -> None:
    pool = from_arrays(
        ids=[f"{EVIL}{at}" for at in range(20)],
        y_pred=[f"{EVIL}{at % 2}" for at in range(20)],
        metadata={"text": [EVIL] * 20, EVIL: [EVIL] * 20},
    )
    with ExitStack() as stack:
        campaign = Campaign.create(tmp_path / "c.db", pool, budget=5, design="srs", title=EVIL)
        stack.enter_context(campaign)
        for item in campaign.ask(n=3, by=RUN):
            campaign.tell(item, f"{EVIL}1", by=RUN)
            campaign.flag(item, RUN, by=RUN)
        campaign.skip(campaign.ask(n=1, by=RUN)[0], RUN, by=RUN)
        campaign.invite([RUN[:70]])
        app = create_app(campaign, token=LEADS, lead=RUN[:70] + "!")
        routes = [route for route in app.routes if isinstance(route, Route)]
        assert len(routes) == len(app.routes)
        paths = {route.path for route in routes if "GET" in (route.methods or ())}
        assert {"/", "/desk", "/api/progress", "/api/desk/state", "/items/{position}"} <= paths
        client = stack.enter_context(TestClient(app, base_url="http://127.0.0.1"))
        client.headers["authorization"] = f"Bearer {LEADS}"
        for path in {path for path in paths if not path.endswith("/events")}:
            asked = path.replace("{name}", "main.js").replace("{position}", "0")
            answer = client.get(asked, params={"bound": "0.5"} if "decision" in path else {})
            assert answer.headers["x-content-type-options"] == "nosniff", asked
            assert answer.status_code in (200, 404), asked
            if "html" in answer.headers.get("content-type", ""):
                assert not {name for name in Elements(answer.text).names if "evil" in name}, asked


def test_no_script_of_ours_makes_markup_of_text() -> None:
    """What the pages show is put in as text, so that later pages are as safe as these."""
    sinks = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment|setHTML|DOMParser"
    scripts = sorted(Path(web.__file__).with_name("static").glob("*.js"))
    assert len(scripts) > 10
    for script in scripts:
        assert not re.findall(rf"{sinks}|\beval\b|new Function|javascript:", script.read_text()), script.name
