"""Ids, classes, columns, names and titles of an enemy: no terminal obeys them, no page runs them.

Every verb must be tried here, or be named among those that show nothing of others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from fieldcheck.cli.app import VERBS
from fieldcheck.cli.tomography import tomography
from fieldcheck.core.words import visible

from .sheets import Done, Run, read, rewrite, write

OBEYED = "\x1b]0;owned\x07\x9b2J\x1bc\x08\x7f\u202e\u2066"
"""What terminals obey, and we never write: titles, erasing, resetting, deleting, directions of writing."""


OBEYED_PIECES = ("\x1b]", "\x07", "\x9b", "\x1bc", "\x08", "\x7f", "\u202e", "\u2066")


RUN = "\"'></script></style></title></textarea><fc-evil onfcevil=1>{{7*7}}"
"""What pages would run, if it ever became a part of them."""


FORGED = "\nfieldcheck: all is well"
"""A line end, so that what comes after it would look like a line of ours."""


EVIL = f"{OBEYED}{FORGED}{RUN}"


SHOW_NOTHING = {
    *("demo", "designs", "tomography init", "tomography list"),
}
"""Verbs that show data of their own."""


def pool(path: Path, *, shift: int = 0) -> Path:
    classes = [f"{EVIL}{name}" for name in ("cat", "dog")]
    rows = [
        [f"{EVIL}{at}", classes[(at + shift) % 2], 0.5 + at / 120, classes[at % 2 if at % 5 else 0], f"{EVIL}{at % 2}"]
        for at in range(60)
    ]
    return write(path, ["id", "prediction", "confidence", "target", f"{EVIL}part"], rows)


def evil_results() -> Path:
    """Results of a comparison whose subject has a name of the enemy."""
    found = json.loads(Path("measured.json").read_text())
    for row in found["rows"]:
        row["subject"] = EVIL
    Path("measured.json").write_text(json.dumps(found))
    return Path("measured.json")


def label_all(sheet: str, truth: dict[str, str]) -> None:
    rows = read(Path(sheet))
    for row in rows:
        row["label"] = truth[row["id"].removeprefix("'")]
    rewrite(Path(sheet), rows)


Step = tuple[tuple[object, ...], Done]


def models_and_people(do: Callable[..., Step], file: Path) -> Iterator[Step]:
    """Verbs that need a model, a server or results of others, as far as they get without."""
    yield do("predict", "none", file, "--auxiliary", "margin", "--out", "again.csv", code=2)
    yield do("predict", "none", file, "--out", "again.csv")
    yield do("predict", f"{EVIL}.onnx", file, "--out", "again.csv", code=2)
    yield do("predict", "none", file, "--auxiliary", EVIL, "--out", "again.csv", code=2)
    yield do("inspect", file)
    yield do("inspect", file, "--json")
    yield do("extend", "c.db", "--budget", EVIL, code=2)
    yield do("label", "c.db", "--revoke", EVIL, code=2)
    yield do("label", "c.db", "--invite", EVIL, code=2)
    yield do("label", f"{EVIL}.db", code=2)
    yield do("recommend", "--subject", EVIL, code=2)
    results = evil_results()
    yield do("recommend", "--results", results, "--task", "classification")
    yield do("recommend", "--results", results, "--task", "classification", "--json")


def taken_elsewhere(do: Callable[..., Step], file: Path, truth: dict[str, str]) -> Iterator[Step]:
    """Labels and items in files of other programs, pools in pieces."""
    yield do("export", "c.db", "--out", "labels.csv")
    yield do("export", "c.db", "--out", "labels.jsonl", "--json")
    yield do("export", "c.db", "--out", f"labels.{EVIL}", code=2)
    yield do("start", file, "--campaign", "half.db", "--budget", 20, "--train-share", 0.5, "--title", EVIL)
    do("next", "half.db", "--out", "half.csv", "--by", "Eva")
    label_all("half.csv", truth)
    do("import", "half.db", "half.csv", "--by", "Eva")
    yield do("export", "half.db", "--for-training", "training")
    yield do("export", "half.db", "--for-training", f"training{OBEYED}", "--json")
    yield do("shard", file, "--out", "pieces", "--rows", 25, "--json")
    yield do("shard", file, "--out", "others", "--engine", EVIL, code=2)
    yield do("inspect", "pieces")


def before_labels(do: Callable[..., Step], file: Path, other: Path) -> Iterator[Step]:
    """What is asked of a pool alone."""
    for json_too in ((), ("--json",)):
        yield do("simulate", file, "--budget", 20, *json_too)
        yield do("auxiliary", file, *json_too)
        yield do("plan", file, "--budget", 20, *json_too)
        yield do("simulate", file, "--against", other, "--budget", 20, *json_too)
    for problem in (("--truth", EVIL), ("--auxiliary", EVIL), ("--column", f"id={EVIL}"), ("--design", EVIL)):
        yield do("simulate", file, "--budget", 20, *problem, code=2)
    yield do("simulate", file, "--budget", 20, "--html", "assess.html")
    yield do("auxiliary", file, "--html", "auxiliary.html")
    yield do("plan", file, "--budget", 20, "--html", "plan.html")
    yield do("bench", file, "--budget", 20, "--repetitions", 2, "--design", "srs,ssrs", "--html", "bench.html")
    yield do("bench", file, "--budget", 20, "--repetitions", 2, "--design", "srs", "--json", "-")
    do("bench", file, "--budget", 20, "--repetitions", 3, "--design", "srs,ssrs", "--json", "measured.json")


def session(run: Run) -> Iterator[Step]:
    """Every verb on pools of the enemy, with what it said."""

    def do(*words: object, code: int = 0) -> Step:
        done = run(*words)
        assert done.code == code, (words, done)
        return words, done

    file, other = pool(Path("pool.csv")), pool(Path("other.csv"), shift=1)
    truth = {row["id"]: row["target"] for row in read(file)}
    part = f"{EVIL}part"
    yield from before_labels(do, file, other)
    yield do("sample", file, "--out", "sheet.csv", "--budget", 20)
    yield do("estimate", "sheet.csv", code=2)
    label_all("sheet.csv", truth)
    yield do("estimate", "sheet.csv", "--by", part, "--metrics", "f1,confusion", "--html", "sheet.html")
    yield do("start", other, "--campaign", "again.db", "--reuse", "sheet.csv", "--labels-unseen")
    yield do("estimate", "again.db")
    yield do("report", "again.db", "--out", "again.html")
    yield do("start", file, "--campaign", "rivals.db", "--against", other, "--budget", 20)
    yield do("next", "rivals.db", "--out", "rivals.csv", "--by", "Eva")
    label_all("rivals.csv", truth)
    yield do("import", "rivals.db", "rivals.csv", "--by", "Eva")
    yield do("estimate", "rivals.db")
    yield do("report", "rivals.db", "--out", "rivals.html")
    yield do("start", file, "--campaign", "c.db", "--budget", 20, "--title", EVIL, "--design", "srs")
    yield do("start", file, "--campaign", "c.db", "--budget", 20, code=2)
    yield do("next", "c.db", "--out", "next.csv", "--by", "Eva")
    write(Path("bad.csv"), ["id", "label"], [[f"{EVIL}no", "x"], [f"{EVIL}1", EVIL]])
    yield do("import", "c.db", "bad.csv", "--by", "Eva", code=2)
    label_all("next.csv", truth)
    yield do("import", "c.db", "next.csv", "--by", "Eva")
    for json_too in ((), ("--json",)):
        yield do("status", "c.db", *json_too)
        yield do("estimate", "c.db", "--by", part, "--metrics", "f1,confusion", *json_too)
        yield do("failures", "c.db", *json_too)
        yield do("check", "c.db", "--min-accuracy", 0.5, *json_too)
    yield do("check", "c.db", "--min-accuracy", 0.5, "--junit", "junit.xml")
    yield do("failures", "c.db", "--out", "failures.csv")
    yield do("shard", file, "--out", "shards")
    yield do("report", "c.db", "--out", "report.html", "--by", part)
    yield from models_and_people(do, file)
    yield from taken_elsewhere(do, file, truth)
    yield do("backup", "c.db", "--out", "copy.db")
    yield do("verify", "copy.db")
    yield from tomography_session(run)


def tomography_session(run: Run) -> Iterator[Step]:
    """A recorded truth whose words are the enemy's."""
    tests = np.stack(np.unravel_index(np.arange(12), (4, 3)), axis=1)
    held = np.random.default_rng(1).random((12, 40)) < 0.8
    np.savez("truth.npz", tests=tests, correct=held, perturbations=np.array(["zoom", "blur"]))
    Path("space.toml").write_text('surrogate = "logistic"\n[truth]\nfile = "truth.npz"\n[plan]\nkind = "full"\n')
    assert run("tomography", "run", "space.toml", "--out", "run").code == 0
    np.savez(
        "evil.npz", tests=tests, correct=held, perturbations=np.array([EVIL, "blur"]), inputs=np.array([EVIL] * 40)
    )
    Path("evil_space.toml").write_text('[truth]\nfile = "evil.npz"\n[plan]\nkind = "full"\n')
    Path("worse.toml").write_text(
        f'surrogate = {json.dumps(EVIL)}\n{json.dumps(EVIL)} = 1\n[truth]\nfile = "truth.npz"\n'
    )
    head = json.loads(Path("run/run.json").read_text())
    head["space"][0]["words"] = {EVIL: [1, 2]}
    Path("run/run.json").write_text(json.dumps(head))
    Path("evil.toml").write_text(f"{json.dumps(EVIL)} = [1, 2]\n")
    for words in (
        ("run", "evil_space.toml", "--out", "evil_run"),
        ("run", "worse.toml", "--out", "worse_run"),
        ("run", "space.toml", "--out", f"{EVIL}/run"),
        ("bench", "evil.npz", "--budget", "0.5", "--repetitions", 1, "--plan", "uniform", "--surrogate", "logistic"),
        ("bench", f"{EVIL}.npz"),
        ("query", "run", "zoom >= 1"),
        ("query", "run", f"zoom = {EVIL}"),
        ("query", "run", "zoom >= 1", "--profile", "evil.toml"),
        ("query", "run", "zoom >= 1", "--json"),
        ("worst", "run"),
        ("independence", "run"),
        ("independence", "run", "--json"),
        ("check", "run", "zoom >= 1", "--min-robustness", 0.5),
        ("report", "run", "--out", "tomography.html"),
    ):
        yield ("tomography", *words), run("tomography", *words)


def pages() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in Path().glob("*.html")}


def with_pages() -> Iterator[str]:
    """Verbs that write a page where they are asked to: each must be asked."""
    for name, verb in VERBS.items():
        command = verb.load(name)
        below = getattr(command, "commands", None) or {"": command}
        for last, one in below.items():
            if any("--html" in option.opts for option in one.params):
                yield f"{name} {last}".strip()


class Elements(HTMLParser):
    """Names of all elements and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}


@pytest.mark.parametrize("terminal", [False, True])
def test_nothing_of_an_enemy_is_obeyed(run: Run, terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    asked = list[tuple[str, tuple[object, ...]]]()
    for words, done in session(run):
        asked.append((" ".join(map(str, words[: 2 if words[0] == "tomography" else 1])), words))
        assert "unexpected" not in done.err, (words, done.err)
        is_file = words[:3] == ("failures", "c.db") and not terminal  # a CSV file for a program, not for a person
        for text in (*(() if is_file else (done.out,)), done.err):
            assert not any(piece in text for piece in OBEYED_PIECES), (words, text)
            assert terminal or text == visible(text), (words, text)
            # A CSV file has its line ends between quotes, wherever it is shown.
            assert "--json" in words or words[0] == "failures" or FORGED not in text, (words, text)
        if "--json" in words and done.code == 0:
            assert json.loads(done.out)
    found = pages()
    assert len(found) >= 7
    for name, page in found.items():
        assert not {name for name in Elements(page).names if "evil" in name}, name
    Xml.parse("junit.xml")  # noqa: S314 -- our own file
    assert set(with_pages()) - {verb for verb, words in asked if "--html" in words} == set()
    verbs = {f"tomography {one.name}" for one in tomography.registered_commands} | set(VERBS) - {"tomography"}
    assert verbs - {verb for verb, _ in asked} == SHOW_NOTHING
