"""What is printed to be run, runs when it is pasted: the commands of results, hints, errors and reports."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from .sheets import Done, Run, fill, write

COMMAND = re.compile(r"fieldcheck (?=[a-z])(?:'[^']*'|[^'`\n;<·]|'(?=\w))+")
"""A command in a text: up to the end of its line, a semicolon, a raised point or a back-tick."""

PROSE = re.compile(r",\s|\s(?:for|if|to|which|with|as|where|or|and)\s|\s{2,}|\s[–—(]|[.,:]$")
"""Where a sentence goes on behind a command."""

FURTHER = re.compile(r"^  try:  ((?:-c|--[a-z]).*)$", re.MULTILINE)
"""Options that an error tells to add."""

RULE = re.compile(r"^(?:  rule:|Usage:) .*$", re.MULTILINE)
"""Rules name verbs, and tell nobody to run them."""

UNKNOWN = re.compile(r"\b(?:COLUMN|POOL)\b")
"""What only the person knows."""


class Terminal:
    """A person who pastes whatever is printed, each in a copy of the folder, and remembers what failed.

    places
        What a person puts in for a word in capitals.
    """

    def __init__(self, run: Run, folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run, self.folder, self.scratch, self.monkeypatch = run, folder, scratch, monkeypatch
        self.pasted: dict[str, int] = {}
        self.failed: list[str] = []
        self.places: dict[str, str] = {}

    def __call__(self, command: str, code: int = 0, first: Callable[[], object] = lambda: None) -> Done:
        """Type a command; what it prints is pasted, after what it says is to be done first."""
        done = self.run(*self._words(command))
        assert done.code == code, f"{command}\n{done.out}{done.err}"
        first()
        self._paste_all(command, done)
        return done

    def read(self, page: str) -> None:
        """A report is read, and what it says is pasted."""
        self._paste_all("", Done(0, html.unescape(re.sub(r"<[^>]+>", "\n", Path(page).read_text())), ""))

    def _paste_all(self, command: str, done: Done) -> None:
        text = RULE.sub("", f"{done.out}\n{done.err}")
        shown = [PROSE.split(found)[0].strip() for found in COMMAND.findall(text)]
        shown += [f"{command} {PROSE.split(found.partition(';')[0])[0]}" for found in FURTHER.findall(done.err)]
        for one in shown:
            if one not in self.pasted and not UNKNOWN.search(one):
                self.pasted[one] = self._paste(one)

    def _paste(self, command: str) -> int:
        shutil.rmtree(self.scratch, ignore_errors=True)
        shutil.copytree(self.folder, self.scratch)
        with self.monkeypatch.context() as elsewhere:
            elsewhere.chdir(self.scratch)
            words = self._words(command)
            done = self.run(*words)
        decided = "check" in words[:2] and done.code in (1, 2) and "rule:" not in done.err
        if done.code and not decided:
            self.failed.append(f"$ {command}\n[{done.code}] {done.out}{done.err}")
        return done.code

    def _words(self, command: str) -> list[str]:
        """As the shell hands them over."""
        for word, place in self.places.items():
            command = re.sub(rf"\b{word}\b", lambda _, place=place: place, command)  # type: ignore[misc]
        script = f"fieldcheck() {{ printf '%s\\0' \"$@\"; }}; {command}"
        told = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True, check=True)
        return told.stdout.split("\0")[:-1]


@pytest.fixture
def terminal(
    run: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Terminal]:
    monkeypatch.setattr("fieldcheck.web.serve", lambda *_, **__: None)
    made = Terminal(run, tmp_path, tmp_path_factory.mktemp("scratch") / "copy", monkeypatch)
    yield made
    assert len(made.pasted) >= 3, "a test that pastes nothing shows nothing"
    assert not made.failed, "\n".join(made.failed)


CLASSES = ("refund", "late delivery", "other")
HEADER = ("Ticket No.", "text", "Predicted Label", "score")


@pytest.fixture
def truth(tmp_path: Path) -> dict[str, str]:
    """Tickets of three models, with blanks in the names of files and classes; what is right, by id."""
    rng = np.random.default_rng(3)
    known, made = {}, {"my tickets.csv": [], "new model.csv": [], "known.csv": []}  # type: ignore[var-annotated]
    for at in range(240):
        name, right, sure = f"T-{at:03d}", CLASSES[rng.integers(3)], rng.beta(6, 2)
        known[name] = right
        for file, rows in made.items():
            said = right if rng.random() < sure else CLASSES[(CLASSES.index(right) + 1) % 3]
            rows.append([name, f"about {right}", said, f"{100 * sure:.1f}%"] + [right] * (file == "known.csv"))
    for file, rows in made.items():
        write(tmp_path / file, HEADER + ("right answer",) * (file == "known.csv"), rows)
    return known


Label = Callable[..., None]


@pytest.fixture
def label(run: Run, truth: dict[str, str]) -> Label:
    """Label so many items of a campaign, or all."""

    def call(campaign: str, count: int = 1_000) -> None:
        sheet = Path("sheet of a helper.csv")
        while count > 0:
            done = run("next", campaign, "-n", min(count, 50), "--by", "Ann", "--out", sheet, "--force")
            assert done.code == 0, done.err
            if "nothing is left" in done.out:
                break
            count -= len(fill(sheet, truth))
            assert run("import", campaign, sheet).code == 0
        sheet.unlink(missing_ok=True)

    return call


def test_a_campaign(terminal: Terminal, truth: dict[str, str], label: Label) -> None:
    terminal("fieldcheck inspect 'my tickets.csv'")
    terminal("fieldcheck inspect known.csv")
    terminal("fieldcheck plan 'my tickets.csv'")
    terminal("fieldcheck status 'my tickets.csv'", 2)
    terminal("fieldcheck start 'my tickets.csv' --campaign 'c 1.db' --budget 40")
    terminal("fieldcheck start 'my tickets.csv' --campaign 'c 1.db' --budget 40", 2)
    terminal("fieldcheck status 'c 1.db'")
    terminal("fieldcheck estimate 'c 1.db'", 2)
    terminal("fieldcheck next 'c 1.db' --out 'to label.csv'")
    terminal("fieldcheck next 'c 1.db' --out 'to label.csv'", 2)
    terminal("fieldcheck report 'to label.csv' --out r.html", 2)
    fill(Path("to label.csv"), truth)
    terminal("fieldcheck import 'c 1.db' 'to label.csv'")
    terminal("fieldcheck status 'c 1.db'")
    terminal("fieldcheck check 'c 1.db' --min-accuracy 0.9", 2)
    label("c 1.db")
    terminal("fieldcheck next 'c 1.db' --out more.csv")
    terminal("fieldcheck status 'c 1.db'")
    terminal("fieldcheck estimate 'c 1.db' --verbose")
    terminal("fieldcheck estimate 'c 1.db' --by colour", 2)
    terminal("fieldcheck extend 'c 1.db' --budget +10")
    terminal("fieldcheck report 'c 1.db' --out 'the report.html'")
    terminal.read("the report.html")
    terminal("fieldcheck report 'c 1.db' --out 'the report.html'")
    terminal("fieldcheck export 'c 1.db'", 2)
    terminal("fieldcheck export 'c 1.db' --for-training out", 2)
    terminal("fieldcheck backup 'c 1.db' --out 'copy of it.db'")
    terminal("fieldcheck verify 'copy of it.db'")
    terminal("fieldcheck label 'c 1.db' --revoke Zoe", 2)


def test_a_budget_that_is_too_small_for_a_number(terminal: Terminal, label: Label) -> None:
    terminal("fieldcheck start 'my tickets.csv' --campaign 'c 1.db' --budget 5")
    label("c 1.db")
    assert "fieldcheck extend 'c 1.db' --budget 10" in terminal("fieldcheck status 'c 1.db'").out
    terminal("fieldcheck report 'c 1.db' --out r.html")
    terminal.read("r.html")


def test_a_sheet(terminal: Terminal, truth: dict[str, str]) -> None:
    filled_in = partial(fill, Path("a sheet.csv"), truth)
    terminal("fieldcheck sample 'my tickets.csv' --budget 40 --out 'a sheet.csv'", first=filled_in)
    terminal("fieldcheck sample 'my tickets.csv' --budget 40 --out 'a sheet.csv'", 2)
    terminal("fieldcheck estimate 'a sheet.csv'")
    terminal("fieldcheck status 'a sheet.csv'")
    terminal("fieldcheck next 'a sheet.csv' --out further.csv")
    terminal("fieldcheck report 'a sheet.csv' --out s.html")
    terminal.read("s.html")
    terminal("fieldcheck extend 'a sheet.csv' --budget +20")


def test_a_comparison(terminal: Terminal, label: Label) -> None:
    terminal("fieldcheck start 'my tickets.csv' --against 'new model.csv' --campaign 'which.db' --budget 40")
    terminal("fieldcheck status which.db")
    label("which.db")
    terminal("fieldcheck estimate which.db")
    terminal("fieldcheck estimate which.db --by text", 2)
    terminal("fieldcheck check which.db --min-accuracy 0.9", 3)
    terminal("fieldcheck check which.db --best nobody", 3)
    terminal("fieldcheck report which.db --out w.html")
    terminal.read("w.html")


def test_a_new_version(terminal: Terminal, run: Run, label: Label) -> None:
    terminal.places = {"NEW_POOL": "'new model.csv'"}
    terminal("fieldcheck start 'my tickets.csv' --campaign v1.db --budget 60 --train-share 0.5")
    terminal("fieldcheck export v1.db --for-training out", 2)
    label("v1.db", 40)
    terminal("fieldcheck start 'new model.csv' --reuse v1.db --campaign v2.db", 2)
    terminal("fieldcheck export v1.db --for-training out")
    assert (
        "with such a campaign" in run("start", "new model.csv", "--trained-on", "known.csv", "--campaign", "v2.db").err
    )
    terminal("fieldcheck start 'new model.csv' --reuse v1.db --campaign v0.db --budget 0")
    terminal("fieldcheck start 'new model.csv' --reuse v1.db --campaign v2.db --budget 20")
    label("v2.db")
    terminal("fieldcheck estimate v2.db")
    terminal("fieldcheck estimate v2.db --by text")
    terminal("fieldcheck extend v2.db --budget +20", 2)
    terminal("fieldcheck report v2.db --out v2.html")
    terminal.read("v2.html")


def test_where_the_truth_is_known(terminal: Terminal, truth: dict[str, str]) -> None:
    terminal("fieldcheck simulate 'my tickets.csv'", 2)
    terminal("fieldcheck simulate known.csv", 2)
    terminal("fieldcheck auxiliary known.csv", 2)
    terminal("fieldcheck bench known.csv --design srs --budget 20 --repetitions 2", 2)
    terminal("fieldcheck simulate known.csv --truth 'right answer' --budget 40")
    terminal("fieldcheck simulate known.csv --truth 'right answer' --design nonsense", 2)
    terminal("fieldcheck designs")
    terminal("fieldcheck shard known.csv --out 'a folder' --rows 100")


def test_a_regression(terminal: Terminal, run: Run, price: Path) -> None:
    terminal("fieldcheck inspect price.csv")
    terminal("fieldcheck plan price.csv", 2)
    terminal("fieldcheck start price.csv --campaign p.db --budget 20 --certify 0.9", 2)
    terminal("fieldcheck start price.csv --campaign p.db --budget 20")
    terminal("fieldcheck status p.db")


def test_a_model(terminal: Terminal, network: Path) -> None:
    for file in network.iterdir():
        shutil.copy(file, file.name)
    terminal.places = {"MODEL": "digits.onnx", "INPUTS": "'digits.npz#images'"}
    terminal("fieldcheck status digits.onnx", 2)
    terminal("fieldcheck predict digits.onnx digits.npz --out 'my pool.csv'")
    terminal("fieldcheck tomography run space.toml --out 'a run'")
    terminal("fieldcheck tomography run space.toml --out 'a run'", 2)
    terminal("fieldcheck tomography query 'a run' 'fog = 1'", 2)
    terminal("fieldcheck tomography worst 'a run'")
    terminal("fieldcheck tomography report 'a run' --out tomography.html")
    terminal.read("tomography.html")
    terminal("fieldcheck status 'a run'", 2)


def test_pictures(terminal: Terminal, network: Path) -> None:
    for file in network.iterdir():
        shutil.copy(file, file.name)
    terminal("fieldcheck predict digits.onnx digits.npz --out 'my pool.csv'")
    terminal("fieldcheck start 'my pool.csv' --campaign p.db --items digits.npz --budget 20 --design srs")
    digits = np.load("digits.npz")["labels"]
    answers = {str(at): str(digit) for at, digit in enumerate(digits)}
    terminal("fieldcheck next p.db -n 20 --out sheet.csv", first=lambda: fill(Path("sheet.csv"), answers))
    terminal("fieldcheck import p.db sheet.csv")
    terminal("fieldcheck label p.db")  # when all is done, too
    terminal("fieldcheck status p.db")
