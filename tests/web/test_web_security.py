"""Who may ask, from where, and for what; each wrong one is refused, or made harmless."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from starlette.routing import Route

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.pools.arrays import from_arrays
from fieldcheck.web import connection, create_app, guard
from fieldcheck.web.guard import HEADERS, LARGEST_BODY, host_name
from fieldcheck.web.refusal import RefusedError
from fieldcheck.web.serve import _checked, names_of
from fieldcheck.web.sign_in import FREE, Guesses

from .sites import LEADS, PATIENCE, Site, Start, animals, served, starting

SCRIPT = "<script>document.title='broken'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all that is refused: nothing changes in it."""
    with starting(tmp_path_factory.mktemp("open")) as make:
        yield make()


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with starting(tmp_path_factory.mktemp("fenced")) as make:
        yield make(people=["Ada", "Bob"])


@pytest.fixture
def stranger(fenced: Site) -> Iterator[httpx.Client]:
    with fenced.visitor() as client:
        yield client


def test_every_answer_has_its_headers(web: httpx.Client) -> None:
    for path in ("/", "/assets/main.js", "/api/campaign", "/nothing", "/items/0"):
        answer = web.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("path", ["/", "/desk"])
def test_the_pages_have_no_script_or_style_in_them(web: httpx.Client, path: str) -> None:
    page = web.get(path).text
    assert "<style" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    assert page.count("<script") == page.count('<script type="module" src="assets/')


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "127.0.0.1@evil", "a b", "[::1"]
)
def test_a_forged_host_is_refused(web: httpx.Client, host: str) -> None:
    for path in ("/", "/api/campaign", "/assets/main.js"):
        assert web.get(path, headers={"host": host}).status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9999", "[::1]:80", "127.0.0.1"])
def test_this_machine_has_several_names(web: httpx.Client, host: str) -> None:
    assert web.get("/api/campaign", headers={"host": host}).status_code == 200


def test_names_in_headers() -> None:
    assert host_name("Example.org:80") == "example.org"
    assert host_name("[::1]:8080") == "::1"
    assert host_name("a/b") == host_name("[") == host_name("") == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://[", "sec-fetch-site": "same-origin"},
    ],
)
def test_another_origin_is_refused(site: Site, web: httpx.Client, headers: dict[str, str]) -> None:
    before = site.campaign.refresh().number
    for path in ("next", "label", "skip", "undo", "flag", "release"):
        answer = web.post(f"/api/{path}", json=site.act(item="item-000", label="cat"), headers=headers)
        assert answer.status_code == 403
    assert web.get("/api/desk/state", headers=headers).status_code == 403
    assert site.campaign.refresh().number == before


def test_the_page_itself_is_taken(site: Site, web: httpx.Client) -> None:
    own = {"origin": site.url, "sec-fetch-site": "same-origin"}
    assert web.post("/api/next", json=site.body(), headers=own).status_code == 200
    for page in ("/", "/desk"):
        assert web.get(page, headers={"sec-fetch-site": "cross-site"}).status_code == 200


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"]
)
def test_only_json_is_taken(site: Site, web: httpx.Client, media: str) -> None:
    body = json.dumps(site.body())
    assert web.post("/api/next", content=body, headers={"content-type": media}).status_code == 415


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", "[" * 50_000, '{"by": "a"}', '{"by": "\\ud800", "campaign": "x"}']
)
def test_misshapen_bodies(site: Site, web: httpx.Client, body: str) -> None:
    answer = web.post("/api/next", content=body, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["problem"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"by": ""},
        {"by": "a\nb"},
        {"by": "x" * 100},
        {"n": 0},
        {"n": 10_000},
        {"more": 1},
        {"by": "\x00"},
        {"by": ["a"]},
    ],
)
def test_misshapen_fields(site: Site, web: httpx.Client, wrong: dict[str, Any]) -> None:
    assert web.post("/api/next", json={**site.body(), **wrong}).status_code == 422


def test_oversized_bodies(site: Site, web: httpx.Client) -> None:
    json_type = {"content-type": "application/json"}
    large = json.dumps(site.act(item="x" * LARGEST_BODY, label="cat"))
    assert web.post("/api/label", content=large, headers=json_type).status_code == 413

    def endless() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 8192

    assert web.post("/api/label", content=endless(), headers=json_type).status_code == 413


def test_a_length_that_lies_is_not_believed(site: Site) -> None:
    for length in ("99999999999999999999", "-1", "1e3"):
        connection = http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=PATIENCE)
        connection.putrequest("POST", "/api/label")
        connection.putheader("content-type", "application/json")
        connection.putheader("content-length", length)
        connection.endheaders()
        assert connection.getresponse().status in (400, 413)
        connection.close()


WORK = ("next", "label", "skip", "undo", "flag", "release")


def test_without_a_token_nothing_is_told(fenced: Site, stranger: httpx.Client) -> None:
    before = fenced.campaign.refresh().number
    for path in ("/api/campaign", "/api/progress", "/api/progress/events", "/api/desk/state", "/items/0", "/no", "//"):
        assert stranger.get(path).status_code == 401
    for path in WORK:
        assert stranger.post(f"/api/{path}", json=fenced.act(item="item-000", label="cat")).status_code == 401
    for path in ("/", "/desk"):
        page = stranger.get(path)
        assert page.status_code == 401
        assert "animals" not in page.text
    assert fenced.campaign.refresh().number == before


@pytest.mark.parametrize("wrong", ["x", LEADS[:-1], LEADS + "x", LEADS.upper(), "ä" * 20])
def test_a_wrong_token(fenced: Site, stranger: httpx.Client, wrong: str) -> None:
    assert "set-cookie" not in stranger.get("/", params={"token": wrong}).headers
    cookie = f"fieldcheck_{fenced.name}={wrong}".encode()
    assert stranger.get("/api/campaign", headers={"cookie": cookie}).status_code == 401
    assert stranger.get("/api/campaign", headers={"authorization": f"Bearer {wrong}".encode()}).status_code == 401
    assert stranger.get("/api/campaign", params={"token": LEADS}).status_code == 401


@pytest.mark.parametrize("scheme", ["", "Basic ", "Token ", "Bearer", "Bearer\t", "Bearer  "])
def test_a_token_comes_as_bearer_and_nothing_else(fenced: Site, stranger: httpx.Client, scheme: str) -> None:
    assert stranger.get("/api/campaign", headers={"authorization": scheme + LEADS}).status_code == 401
    assert stranger.get("/api/campaign", headers={"authorization": f"bearer {LEADS}"}).status_code == 200


@pytest.mark.parametrize("page", ["/", "/desk"])
def test_a_link_moves_its_token_from_the_address_into_a_cookie(fenced: Site, page: str) -> None:
    with fenced.visitor() as ada:
        answer = ada.get(page, params={"token": fenced.tokens["Ada"]})
        assert answer.status_code == 303
        assert str(answer.next_request.url) == fenced.url + page  # type: ignore[union-attr]
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "secure" not in cookie
        assert ada.get("/").status_code == 200
        about = ada.get("/api/campaign").json()
        assert (about["title"], about["person"], about["role"]) == ("animals", "Ada", "annotator")


def test_behind_https_the_cookie_goes_no_other_way(start: Start) -> None:
    site = start(people=["Ada"], serve={"secure": True})
    with site.visitor() as ada:
        assert "; secure" in ada.get("/", params={"token": site.tokens["Ada"]}).headers["set-cookie"].lower()


def test_events_carry_who_is_signed_in_not_who_the_browser_says(start: Start) -> None:
    site = start(people=["Ada", "Bob"])
    with site.visitor("Ada") as ada:
        item = ada.post("/api/next", json=site.body()).json()["items"][0]["id"]
        before = site.campaign.refresh().number
        for path in WORK:
            fields = {"items": [item]} if path == "release" else {"item": item, "key": "a" * 16}
            fields |= {"label": "cat"} if path == "label" else {}
            body = site.body(by="Bob", **({} if path == "next" else fields))
            refused = ada.post(f"/api/{path}", json=body)
            assert refused.status_code == 401
            assert "Ada is signed in" in refused.json()["error"]["problem"]
        assert site.campaign.refresh().number == before
        act = site.act(item=item, label="cat")
        del act["by"]
        assert ada.post("/api/label", json=act).json()["saved"]
    assert site.campaign.refresh().items[item].labels[0].by == "Ada"


def test_a_person_with_a_link_is_not_declared_by_others(start: Start) -> None:
    site = start()  # alone on this machine
    with site.visitor() as web:
        assert web.post("/api/next", json=site.body(by="Bob")).status_code == 200
        token = site.campaign.invite(["Bob"])["Bob"]
        assert web.post("/api/next", json=site.body(by="bob")).status_code == 409
        as_bob = {"authorization": f"Bearer {token}"}
        assert web.post("/api/next", json=site.body(by="Bob"), headers=as_bob).status_code == 200
        assert web.post("/api/next", json={"campaign": site.name}).status_code == 409  # nobody


def test_a_revoked_link_ends_at_once_and_its_stream_with_it(start: Start) -> None:
    site = start(people=["Ada", "Bob"])
    with site.visitor("Ada") as ada, site.visitor("Bob") as bob:
        with bob.stream("GET", "/api/progress/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: state"
            site.campaign.revoke("Bob")
            assert bob.post("/api/next", json=site.body(by="Bob")).status_code == 401
            assert [line for line in lines if line.startswith("event")] in ([], ["event: state"])
        assert ada.post("/api/next", json=site.body()).status_code == 200


def test_a_replaced_link_ends_with_its_stream(start: Start) -> None:
    site = start(people=["Bob"])
    with site.visitor("Bob") as bob, bob.stream("GET", "/api/progress/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: state"
        (again,) = site.campaign.invite(["Bob"]).values()
        assert bob.post("/api/next", json=site.body(by="Bob")).status_code == 401
        assert [line for line in lines if line.startswith("event")] in ([], ["event: state"])
        bob.headers["authorization"] = f"Bearer {again}"
        assert bob.post("/api/next", json=site.body(by="Bob")).status_code == 200


def test_two_servers_know_the_same_people(start: Start) -> None:
    site = start(people=["Ada"])
    with (
        Campaign.open(site.campaign.place, pool=site.campaign.pool) as second,
        served(second, token="another-token-of-the-lead") as other,  # noqa: S106
    ):
        cat = site.campaign.invite(["Cat"])["Cat"]  # at the one; the other has not looked since
        for at, name, token in ((site, "Ada", site.tokens["Ada"]), (other, "Cat", cat)):
            with httpx.Client(base_url=at.url, timeout=PATIENCE, headers={"authorization": f"Bearer {token}"}) as web:
                for _ in range(3):
                    item = web.post("/api/next", json=at.body(by=name)).json()["items"][0]["id"]
                    assert web.post("/api/label", json=at.act(by=name, item=item, label="cat")).json()["saved"]
        wrong = httpx.get(f"{other.url}/api/campaign", headers={"authorization": f"Bearer {LEADS}"})
        assert wrong.status_code == 401  # each server has a lead of its own
    assert site.campaign.progress().annotators == {"Ada": 3, "Cat": 3}


MADE = ("doubt", "dsa", "p_cat", "Score", "prob_dog", "logit_3", "yhat", "cat")


SECRETS = (
    *("prediction", "estimate", "failure", "confidence", "interval", "development", "agreement", "predicted label"),
    *(f'"{name.lower()}",' for name in MADE if name != "cat"),  # which is a class, too
)
"""Words that no answer to a person who labels may hold: the names of fields, and of columns that the model made."""


def told_to(web: httpx.Client, site: Site) -> Iterator[tuple[str, httpx.Response]]:
    """What every address answers, taken from the routes themselves, so that later ones fall under it."""
    app = create_app(site.campaign)
    item = web.post("/api/next", json=site.body(n=5)).json()["items"][0]["id"]
    bodies = {
        "/api/next": site.body(n=5),
        "/api/release": site.body(items=[item]),
        "/api/label": site.act(item=item, label="2" if site.campaign.settings.task == "regression" else "dog"),
        "/api/mine": site.body(),
        "/api/reopen": site.body(item=item),
    }
    routes = [(one.path, method) for one in app.routes if isinstance(one, Route) for method in one.methods or ()]
    assert {path for path, _ in routes} > {"/api/mine", "/api/reopen", "/desk/report", "/api/desk/settle"}
    assert {path for path, _ in routes} > {"/", "/desk", "/api/next", "/api/label", "/api/desk/state", "/api/progress"}
    for path, method in sorted(routes):
        if path.endswith("/events"):
            continue
        address = path.replace("{position}", "0").replace("{name}", "main.js")
        body = None if method in ("GET", "HEAD") else bodies.get(path, site.act(item=item))
        yield path, web.request(method, address, json=body)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_nothing_about_the_model_reaches_people_who_label(start: Start, task: str) -> None:
    pool, label = (doubtful_animals(), "owl") if task == "classification" else (doubtful_houses(), "50")
    site = start(pool, people=["Ada"], design="sups:auxiliary=doubt")
    with site.visitor("Ada") as ada:
        for _ in range(30):
            item = ada.post("/api/next", json=site.body()).json()["items"][0]["id"]
            assert ada.post("/api/label", json=site.act(item=item, label=label)).status_code == 200
        assert site.campaign.failures()
        row = ada.post("/api/next", json=site.body()).json()["items"][0]
        assert [name for name, _ in row["pairs"]] == ["habitat", "weight"]
        assert ada.get("/api/desk/state").status_code == 403
        for path, answer in told_to(ada, site):
            fenced = path.startswith(("/api/desk", "/desk/"))
            if fenced or path.startswith(("/assets", "/desk")):
                assert answer.status_code == (403 if fenced else 200), path
            if path in ("/api/mine", "/api/reopen"):
                assert answer.status_code == 200, answer.text
            if not path.startswith("/assets"):
                assert not [word for word in SECRETS if word in answer.text.lower()], path
        with ada.stream("GET", "/api/desk/state/events") as stream:
            assert stream.status_code == 403
        with ada.stream("GET", "/api/progress/events") as stream:
            pushed = next(line for line in stream.iter_lines() if line.startswith("data"))
        assert not [word for word in SECRETS if word in pushed.lower()]
    with site.visitor("lead") as lead:  # the test would see it
        assert {"prediction", "estimate", "failure"} <= {word for word in SECRETS if word in desk_of(lead)}


def doubtful_animals() -> Pool:
    """A pool with all kinds of columns that a model makes, beside one that it does not."""
    rng = np.random.default_rng(3)
    chances = rng.dirichlet([1, 1, 1], 200)
    return from_arrays(
        ids=[f"item-{at:03d}" for at in range(200)],
        y_proba=chances,
        classes=("cat", "dog", "owl"),
        auxiliary={name: rng.random(200) for name in MADE},
        metadata={
            "habitat": ["lake"] * 200,
            "weight": rng.random(200),
            "Predicted Label": ["cat"] * 200,
            "column 7": [("cat", "dog", "owl")[code] for code in chances.argmax(axis=1)],
            "sure": 100 * chances.max(axis=1),
        },
        name="animals",
    )


def doubtful_houses() -> Pool:
    """The same with numbers: also copies of what the model said, in other units and under names that say nothing."""
    rng = np.random.default_rng(3)
    said = rng.normal(5.0, 1.0, 200)
    copied = {"Predicted Label": said, "column 7": 1_000 * said, "rest": 100 - said}
    return from_arrays(
        ids=[f"item-{at:03d}" for at in range(200)],
        y_pred=said,
        auxiliary={name: rng.random(200) for name in MADE if name != "cat"},
        metadata={"habitat": ["lake"] * 200, "weight": rng.random(200), **copied},
        name="houses",
    )


def desk_of(lead: httpx.Client) -> str:
    return lead.get("/api/desk/state").text.lower()


def test_guesses_cost_time_but_not_for_those_who_are_in() -> None:
    now = [0.0]
    guesses = Guesses(clock=lambda: now[0])
    guesses.note("here", "right", right=True)
    for at in range(FREE):
        guesses.check("here", f"wrong {at}")
        guesses.note("here", f"wrong {at}", right=False)
    for _ in range(100):  # a page that was left open asks with an old token, again and again
        guesses.check("here", "wrong 0")
        guesses.note("here", "wrong 0", right=False)
    pauses = []
    for at in range(FREE, FREE + 9):
        guesses.check("here", f"wrong {at}")
        guesses.note("here", f"wrong {at}", right=False)
        with pytest.raises(RefusedError) as refused:
            guesses.check("here", "another")
        assert refused.value.status == 429
        pauses.append(int((refused.value.headers or {})["retry-after"]))
        guesses.check("here", "right")
        guesses.check("there", "another")
        now[0] += pauses[-1]
    assert pauses == [3, 5, 9, 17, 33, 61, 61, 61, 61]
    now[0] += 1_000
    guesses.note("here", "wrong again", right=False)
    guesses.check("here", "another")


def test_many_guesses_are_not_looked_at(start: Start) -> None:
    site = start(people=["Ada"])
    with site.visitor("Ada") as ada, site.visitor() as thief:
        assert ada.get("/api/campaign").status_code == 200
        tried = [thief.get("/", params={"token": f"guess {at}"}).status_code for at in range(FREE + 3)]
        assert tried == [303] * (FREE + 1) + [429] * 2
        assert thief.get("/api/campaign", headers={"authorization": f"Bearer {LEADS}"}).status_code == 429
        assert ada.get("/api/campaign").status_code == 200


def test_a_guesser_is_one_address_whatever_it_says(start: Start) -> None:
    """Behind a proxy on this machine, too: its header can be written by any program here."""
    site = start(people=["Ada"])
    with site.visitor() as thief:
        for at in range(FREE + 1):
            said = {"x-forwarded-for": f"10.0.0.{at}", "forwarded": f"for=10.0.0.{at}", "x-real-ip": f"10.0.0.{at}"}
            assert thief.get("/api/campaign", headers={"authorization": f"Bearer {at}", **said}).status_code == 401
        said["x-forwarded-for"] = "10.0.1.1"
        assert thief.get("/api/campaign", headers={"authorization": "Bearer new", **said}).status_code == 429


def test_guesses_at_once_are_as_many_guesses(start: Start) -> None:
    """They are counted before the store is asked about them: none gets in while another one is looked at."""
    site = start(people=["Ada"])
    with site.visitor() as thief, ThreadPoolExecutor(60) as pool:
        answers = pool.map(
            lambda at: thief.get("/api/campaign", headers={"authorization": f"Bearer {at}"}).status_code, range(60)
        )
        assert Counter(answers) == {401: FREE + 1, 429: 59 - FREE}


def test_half_a_request_is_not_waited_for(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEADERS", 0.3)
    address = urlsplit(start().url)
    for half in (b"", b"GET /api/campaign HT", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n"):
        with socket.create_connection((address.hostname or "", address.port or 0), timeout=PATIENCE) as line:
            line.sendall(half)
            assert line.recv(1) == b""
    monkeypatch.setattr(guard, "SLOWEST_BODY", 0.3)
    head = "POST /api/next HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n"
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=PATIENCE) as line:
        line.sendall(head.encode() + b"{")
        answer = b"".join(iter(lambda: line.recv(4_096), b""))  # until it is closed
        assert answer.startswith(b"HTTP/1.1 408")
    kept = http.client.HTTPConnection(address.netloc, timeout=PATIENCE)
    for _ in range(2):
        kept.request("GET", "/api/campaign")
        assert json.loads(kept.getresponse().read())["title"] == "animals"
        time.sleep(0.5)  # a person thinks: the connection is kept
    kept.close()


def test_tokens() -> None:
    assert _checked(None, needed=False) is None
    made = _checked(None, needed=True)
    assert made is not None
    assert len(made) >= 32
    assert made != _checked(None, needed=True)
    for weak in ("short", "with a space in between", "ümlautümlautümlaut"):
        with pytest.raises(FieldcheckError):
            _checked(weak, needed=False)


def test_names_of_a_server_that_listens_everywhere() -> None:
    assert names_of("192.0.2.7") == ("192.0.2.7",)
    assert socket.gethostname() in names_of("0.0.0.0")  # noqa: S104 -- nothing listens


def linked_folder(tmp_path: Path, picture: bytes) -> Path:
    """A folder with a picture, and around it what must not be shown."""
    folder = tmp_path / "items"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "items-secret").mkdir()
    for secret in (tmp_path / "secret.png", tmp_path / "items-secret" / "s.png"):
        secret.write_bytes(b"secret" + picture)
    (folder / "good.png").write_bytes(picture)
    (folder / "sub" / "good.png").write_bytes(picture)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "out").symlink_to(tmp_path)
    (folder / "drawing.svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'>{SCRIPT}</svg>")
    (folder / "page.html").write_text(SCRIPT)
    (folder / "disguised.png").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'>{SCRIPT}</svg>")
    return folder


ELSEWHERE = (
    "../secret.png",
    "sub/../../secret.png",
    "{outside}/secret.png",
    "link.png",
    "out/secret.png",
    "../items-secret/s.png",
    "..%2fsecret.png",
    "%2e%2e/secret.png",
    "..\\secret.png",
    "good.png\x00.png",
    "x" * 5_000 + ".png",
    "drawing.svg",
    "page.html",
    "sub",
    ".",
    "",
)


def test_files_elsewhere_are_not_shown(start: Start, tmp_path: Path, picture: bytes) -> None:
    folder = linked_folder(tmp_path, picture)
    names = [*ELSEWHERE, "good.png", "sub/good.png", "sub/../good.png"]
    paths = [names[at % len(names)].replace("{outside}", str(tmp_path)) for at in range(200)]
    site = start(animals(path=paths), items=folder, design="srs", budget=200)
    with site.visitor() as web:
        items = web.post("/api/next", json=site.body(n=50)).json()["items"]
        assert {item["kind"] for item in items} == {"row", "image"}
        for position, name in enumerate(names):
            answer = web.get(f"/items/{position}")
            assert (answer.status_code == 200) == ("good.png" in name and "\x00" not in name), name
            assert b"secret" not in answer.content


@pytest.mark.parametrize(
    "path", ["/items/../items/0", "/items/%2e%2e%2fsecret.png", "/items/-1", "/items/" + "9" * 5_000]
)
@pytest.mark.parametrize("folder", ["", "/assets"])
def test_paths_in_addresses(site: Site, path: str, folder: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=PATIENCE)
    connection.putrequest("GET", folder + path)  # as it is: a client of higher level would tidy it up
    connection.endheaders()
    assert connection.getresponse().status in (404, 422)
    connection.close()


def test_a_picture_is_never_more_than_a_picture(start: Start, tmp_path: Path, picture: bytes) -> None:
    folder = linked_folder(tmp_path, picture)
    site = start(animals(path=["disguised.png"] * 200), items=folder)
    with site.visitor() as web:
        item = web.post("/api/next", json=site.body()).json()["items"][0]
        answer = web.get(f"/{item['src']}")
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_scripts_travel_as_text(start: Start) -> None:
    site = start(animals(text=[SCRIPT] * 200), title=SCRIPT)
    with site.visitor() as web:
        answer = web.post("/api/next", json=site.body())
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["items"][0]["text"] == SCRIPT
        assert SCRIPT not in web.get("/").text
