"""``fieldcheck label`` as a process: its address, its port, its end."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import fieldcheck
from fieldcheck.campaign import Campaign
from fieldcheck.cli.app import app
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.sources import save
from fieldcheck.web.serve import _address, serve

from .sites import animals

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


def test_a_visit_and_ctrl_c(campaign: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "fieldcheck", "label", str(campaign), "--port", "0", "--no-browser"],
        env=os.environ | CODE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    address = re.findall(r"http://\S+", child.stdout.readline())[0]
    with httpx.stream("GET", f"{address}api/events") as stream:
        assert next(stream.iter_lines()) == "event: state"
        assert httpx.get(f"{address}api/campaign").json()["title"] == "pool"
        child.send_signal(signal.SIGINT)  # while somebody listens
        _, errors = child.communicate(timeout=20)
    assert child.returncode == 0
    assert errors == ""


def test_a_port_in_use(campaign: Path, listening: int) -> None:
    with pytest.raises(FieldcheckError, match=f"port {listening} is in use"):
        serve(campaign, port=listening)


def test_an_address_of_another_machine(campaign: Path) -> None:
    with pytest.raises(FieldcheckError, match="cannot listen"):
        serve(campaign, host="192.0.2.1", port=0)


def test_addresses() -> None:
    assert _address("127.0.0.1", 80, None) == "http://127.0.0.1:80/"
    assert _address("::1", 80, "abc") == "http://[::1]:80/?token=abc"


def test_a_campaign_that_is_not_there(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["label", str(tmp_path / "none.db"), "--no-browser"])
    assert answer.exit_code != 0
    assert "not found" in str(answer.exception)
