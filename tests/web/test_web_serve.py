"""``fieldcheck label`` as a process: its address, its port, its end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from typer.testing import CliRunner

import fieldcheck
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.cli.app import app
from fieldcheck.core.errors import FieldcheckError, StoreError
from fieldcheck.sources import save
from fieldcheck.web.serve import _address, _link, serve
from fieldcheck.web.watch import EVERY

from .sites import PATIENCE, animals

NOBODY = 65534
CODE = {"PYTHONPATH": str(Path(fieldcheck.__file__).parents[1])}


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    save(animals(), tmp_path / "pool.csv")
    Campaign.create(tmp_path / "c.db", tmp_path / "pool.csv", budget=20).disconnect()
    return tmp_path / "c.db"


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def serving(campaign: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fieldcheck", "label", str(campaign), "--port", "0", "--no-browser", *options],
        env=os.environ | CODE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def address_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return re.findall(r"http://\S+", child.stdout.readline())[0]


def test_a_visit_and_ctrl_c(campaign: Path) -> None:
    child = serving(campaign)
    address = address_of(child)
    with httpx.stream("GET", f"{address}api/desk/state/events", timeout=PATIENCE) as stream:
        assert next(stream.iter_lines()) == "event: state"
        assert httpx.get(f"{address}api/campaign", timeout=PATIENCE).json()["title"] == "pool"
        child.send_signal(signal.SIGINT)  # while somebody listens
        _, errors = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0
    assert errors == ""


def test_sigterm_ends_with_a_line_about_what_was_saved(campaign: Path) -> None:
    child = serving(campaign, "--by", "Ada")
    address = address_of(child)
    name = httpx.get(f"{address}api/campaign", timeout=PATIENCE).json()["campaign"]
    items = httpx.post(f"{address}api/next", json={"campaign": name, "n": 2}, timeout=PATIENCE).json()["items"]
    for item in items:
        body = {"campaign": name, "key": uuid.uuid4().hex, "item": item["id"], "label": "cat"}
        assert httpx.post(f"{address}api/label", json=body, timeout=PATIENCE).json()["saved"]
    child.send_signal(signal.SIGTERM)
    said, errors = child.communicate(timeout=PATIENCE)
    assert (child.returncode, errors) == (0, "")
    assert said.splitlines()[-1] == f"stopped; 2 labels saved in {campaign}"
    assert not campaign.with_name("c.db-wal").exists()  # it was closed, not cut off
    with Campaign.open(campaign) as found:
        assert found.progress().annotators == {"Ada": 2}


def links_in(lines: Sequence[str]) -> dict[str, str]:
    """By name, the links that were printed."""
    return {found[1]: found[2] for line in lines if (found := re.match(r"(\w+)(?: at|:) (http://\S+token=\S+)", line))}


def person_at(link: str) -> str:
    with httpx.Client(timeout=PATIENCE, follow_redirects=True) as web:
        web.get(link)
        about = web.get(link.partition("?")[0] + "api/campaign").json()
    return str(about.get("person", about))


def test_links_of_people_and_of_the_lead_and_how_they_end(campaign: Path) -> None:
    child = serving(campaign, "--invite", "ada, bob")
    assert child.stdout is not None
    links = links_in([child.stdout.readline() for _ in range(3)])
    assert {name: person_at(link) for name, link in links.items()} == {name: name for name in ("lead", "ada", "bob")}
    port = str(urlsplit(links["ada"]).port)
    verb = CliRunner()
    for options, word in ((["--revoke", "ADA"], "ada"), (["--invite", "cat", "--port", port], "cat")):
        answer = verb.invoke(app, ["label", str(campaign), "--no-browser", *options])
        assert answer.exit_code == 0
        assert word in answer.output
    time.sleep(EVERY)  # after so long at the latest it has heard of it
    assert "needs your own link" in person_at(links["ada"])
    assert person_at(links_in(answer.output.splitlines())["cat"]) == "cat"  # at the server that runs already
    assert person_at(links["bob"]) == "bob"
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=PATIENCE)
    again = serving(campaign)  # people were invited: there is no way in without a link
    assert again.stdout is not None
    line = again.stdout.readline()
    assert httpx.get(line.split()[-1].partition("?")[0] + "api/campaign", timeout=PATIENCE).status_code == 401
    assert person_at(links_in([line])["lead"]) == "lead"
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=PATIENCE)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--revoke", "ada"], "has no link"),
        (["--invite", "lead"], "is the lead"),
        (["--invite", "ada", "--by", "Ada"], "is the lead"),
        (["--invite", "ada", "--address", "label.example.org"], "--address"),
        (["--invite", "ada", "--token", "short"], "too easy"),
    ],
)
def test_who_cannot_be_invited(campaign: Path, options: list[str], word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    answer = CliRunner().invoke(app, ["label", str(campaign), "--no-browser", "--port", "0", *options])
    assert isinstance(answer.exception, FieldcheckError)
    assert word in str(answer.exception)
    with Campaign.open(campaign) as found:
        assert found.state.invited == {}


def test_a_file_that_is_deleted_while_it_is_served(campaign: Path) -> None:
    child = serving(campaign)
    address = address_of(child)
    about = httpx.get(f"{address}api/campaign", timeout=PATIENCE).json()["campaign"]

    def post(path: str, **fields: object) -> httpx.Response:
        body = {"campaign": about, "by": "Ada", **fields}
        return httpx.post(f"{address}api/{path}", json=body, timeout=PATIENCE)

    items = [item["id"] for item in post("next", n=2).json()["items"]]
    assert post("label", key="a" * 16, item=items[0], label="cat").status_code == 200
    campaign.unlink()
    assert post("label", key="b" * 16, item=items[1], label="cat").status_code == 503
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=PATIENCE)
    assert child.returncode != 0
    assert "Traceback" not in errors
    assert "c.db.rescued" in errors
    with Campaign.open(campaign.with_name("c.db.rescued")) as rescued:
        assert str(rescued.state.items[items[0]].label) == "cat"


def test_a_port_in_use(campaign: Path, listening: int) -> None:
    with pytest.raises(FieldcheckError, match=f"port {listening} is in use"):
        serve(campaign, port=listening)


def test_an_address_of_another_machine(campaign: Path) -> None:
    with pytest.raises(FieldcheckError, match="cannot listen"):
        serve(campaign, host="192.0.2.1", port=0)


def test_addresses() -> None:
    assert _address("127.0.0.1", 80) == "http://127.0.0.1:80/"
    assert _link(_address("::1", 80), "abc") == "http://[::1]:80/?token=abc"
    assert _link("https://label.example.org/pool-7", "abc") == "https://label.example.org/pool-7/?token=abc"


@pytest.fixture
def shelf(campaign: Path) -> Iterator[Path]:
    """The campaign and its pool in a folder in which nothing can be written, for somebody who is not root."""
    folder = Path(tempfile.mkdtemp(prefix="fieldcheck-shelf-"))
    for name in ("pool.csv", "c.db"):
        shutil.copy(campaign.with_name(name), folder / name)
        (folder / name).chmod(0o444)
    folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    yield folder / "c.db"
    if root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_campaign_that_can_only_be_read_is_refused_before_anybody_labels(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    with pytest.raises(StoreError, match="can only be read"):
        serve(shelf, port=0, tell=told.append)
    assert told == []
    with Campaign.open(shelf) as campaign:  # to look at it is fine
        assert len(campaign.state.items) == 20


def test_a_campaign_that_is_not_there(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["label", str(tmp_path / "none.db"), "--no-browser"])
    assert answer.exit_code != 0
    assert "not found" in str(answer.exception)
