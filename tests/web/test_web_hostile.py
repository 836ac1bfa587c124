"""Every address of the labelling page, for a campaign whose ids, classes, texts and title are an enemy's."""

from __future__ import annotations

from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path

from fastapi.testclient import TestClient

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.web import create_app

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
        item = campaign.ask(n=1, by=RUN)[0]
        campaign.tell(item, f"{EVIL}1", by=RUN)
        app = create_app(campaign)
        paths = {path for path, methods in app.openapi()["paths"].items() if "get" in methods}
        assert {"/", "/desk", "/api/progress", "/api/desk/state", "/items/{position}"} <= paths
        client = stack.enter_context(TestClient(app, base_url="http://127.0.0.1"))
        for path in {path for path in paths if not path.endswith("/events")}:
            asked = path.replace("{name}", "main.js").replace("{position}", "0")
            answer = client.get(asked)
            assert answer.headers["x-content-type-options"] == "nosniff", asked
            if "html" in answer.headers.get("content-type", ""):
                assert not {name for name in Elements(answer.text).names if "evil" in name}, asked
