"""How the command line starts: what it loads, how it lists its verbs, what the shell completes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import fieldcheck
from fieldcheck.cli.app import VERBS, Verbs, app

SLOW = ("numpy", "scipy", "pyarrow", "pandas", "sklearn", "starlette", "torch", "PIL", "jinja2")


def loaded(*words: str, cwd: Path) -> set[str]:
    """The packages that a command has loaded when it ends."""
    code = f"""
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), sep="\\n", file=sys.stderr))
sys.argv = ["fieldcheck", *{list(words)!r}]
from fieldcheck.cli import main
main()
"""
    env = {**os.environ, "PYTHONPATH": str(Path(fieldcheck.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=cwd, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("words", ["--version", "--help"])
def test_help_and_version_load_nothing_slow(words: str, tmp_path: Path) -> None:
    found = loaded(words, cwd=tmp_path)
    assert found & {*SLOW, "fieldcheck.accuracy", "fieldcheck.campaign"} == set()


def test_status_loads_no_more_than_it_shows(tmp_path: Path) -> None:
    rows = "\n".join(f"{at},{'ab'[at % 2]},0.{at % 40 + 55}" for at in range(200))
    (tmp_path / "pool.csv").write_text(f"id,prediction,confidence\n{rows}\n")
    loaded("start", "pool.csv", "--campaign", "c.db", "--budget", "50", cwd=tmp_path)
    found = loaded("status", "c.db", cwd=tmp_path)
    slow = {"sklearn", "starlette", "torch", "PIL.Image", "jinja2", "scipy.stats"}
    assert found & {*slow, "fieldcheck.tomography", "fieldcheck.bench", "fieldcheck.web", "fieldcheck.report"} == set()


def test_every_verb_has_a_group_and_loads() -> None:
    assert list(dict.fromkeys(verb.group for verb in VERBS.values())) == [
        "Start",
        "Label",
        "Decide",
        "Research",
        "Break",
    ]
    command = typer.main.get_command(app)
    assert isinstance(command, Verbs)
    for name, verb in VERBS.items():
        assert verb.help
        assert len(verb.help) <= 75
        assert verb.load(name).help


SAME = {
    "truth": "--truth",
    "show_predictions": "--show-predictions",
    "columns": "--column",
    "out": "--out",
    "force": "--force",
}
"""Options that mean the same everywhere, by the name of their parameter."""


@pytest.mark.parametrize("name", [name for name in VERBS if name != "tomography"])
def test_the_same_option_has_the_same_name(name: str) -> None:
    for parameter in VERBS[name].load(name).params:
        if parameter.name in SAME and not (name == "predict" and parameter.name == "columns"):
            assert SAME[parameter.name] in parameter.opts


def completed(text: str, tmp_path: Path) -> list[str]:
    env = {
        **os.environ,
        "PYTHONPATH": str(Path(fieldcheck.__file__).parents[1]),
        "_FIELDCHECK_COMPLETE": "complete_bash",
        "COMP_WORDS": text,
        "COMP_CWORD": str(text.count(" ")),
    }
    words = [sys.executable, "-m", "fieldcheck"]
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=tmp_path, check=True)
    return done.stdout.split()


def test_bash_completes_verbs_and_options(tmp_path: Path) -> None:
    assert completed("fieldcheck st", tmp_path) == ["start", "status"]
    assert set(completed("fieldcheck ", tmp_path)) == set(VERBS)
    assert completed("fieldcheck start --bud", tmp_path) == ["--budget"]
    assert completed("fieldcheck tomography quer", tmp_path) == ["query"]


def test_the_script_for_the_shell_is_printed(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(fieldcheck.__file__).parents[1]), "_FIELDCHECK_COMPLETE": "source_bash"}
    words = [sys.executable, "-m", "fieldcheck"]
    done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=tmp_path, check=True)
    assert "complete -o default -F _fieldcheck_completion fieldcheck" in done.stdout
