"""Who may ask, from where, and for what; each wrong one is refused, or made harmless."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.web.guard import HEADERS, LARGEST_BODY, cookie_name, host_name
from fieldcheck.web.serve import _checked, names_of

from .sites import PATIENCE, Site, Start, animals, starting

TOKEN = "a-token-that-nobody-guesses"  # noqa: S105
SCRIPT = "<script>document.title='broken'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all that is refused: nothing changes in it."""
    with starting(tmp_path_factory.mktemp("open")) as make:
        yield make()


@pytest.fixture(scope="module")
def fenced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with starting(tmp_path_factory.mktemp("fenced")) as make:
        yield make(serve={"token": TOKEN})


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


def test_the_page_has_no_script_or_style_in_it(web: httpx.Client) -> None:
    page = web.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    assert page.count("<script") == page.count('<script type="module" src="/assets/')


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
    assert web.get("/api/state", headers=headers).status_code == 403
    assert site.campaign.refresh().number == before


def test_the_page_itself_is_taken(site: Site, web: httpx.Client) -> None:
    own = {"origin": site.url, "sec-fetch-site": "same-origin"}
    assert web.post("/api/next", json=site.body(), headers=own).status_code == 200
    assert web.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


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


def test_without_the_token_nothing_is_told(fenced: Site, stranger: httpx.Client) -> None:
    for path in ("/api/campaign", "/api/state", "/api/failures", "/api/events", "/items/0", "/nothing", "//"):
        assert stranger.get(path).status_code == 401
    for path in ("next", "label", "skip", "undo", "flag", "release"):
        assert stranger.post(f"/api/{path}", json=fenced.act(item="item-000", label="cat")).status_code == 401
    page = stranger.get("/")
    assert page.status_code == 401
    assert "animals" not in page.text
    assert fenced.campaign.refresh().number == 2  # created and drawn


@pytest.mark.parametrize("wrong", ["x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ä" * 20])
def test_a_wrong_token(fenced: Site, stranger: httpx.Client, wrong: str) -> None:
    answer = stranger.get("/", params={"token": wrong})
    assert "set-cookie" not in answer.headers
    assert stranger.get("/api/state", headers={"cookie": f"{cookie_name(TOKEN)}={wrong}".encode()}).status_code == 401
    assert stranger.get("/api/state", headers={"authorization": f"Bearer {wrong}".encode()}).status_code == 401
    assert stranger.get("/api/state", params={"token": TOKEN}).status_code == 401


def test_the_link_with_the_token(fenced: Site, stranger: httpx.Client) -> None:
    answer = stranger.get("/", params={"token": TOKEN})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/").status_code == 200
    assert stranger.get("/api/campaign").json()["title"] == "animals"


def test_a_program_may_send_the_token_as_a_header(fenced: Site) -> None:
    answer = httpx.get(f"{fenced.url}/api/campaign", headers={"authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE)
    assert answer.status_code == 200


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


@pytest.mark.parametrize("path", ["/items/../items/0", "/items/%2e%2e%2fsecret.png", "/items/-1", "/items/1e3"])
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
        answer = web.get(item["src"])
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
