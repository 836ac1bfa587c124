"""What each verb prints, for people and for programs."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fieldcheck.accuracy import designs

from .sheets import CODE, Done, Run, fill, read, rewrite, truth_of

VERBS = ("demo", "designs", "simulate", "sample", "estimate", "bench", "recommend")
ESTIMATE_KEYS = {
    *("metric", "value", "interval", "standard_error", "labels", "failures", "population", "task", "design"),
    *("auxiliary", "paper", "budget", "seed", "truth", "warnings", "notes", "versions", "sentence"),
}
ROW_KEYS = {
    *("subject", "task", "design", "auxiliary", "budget", "repetitions", "truth", "mean", "bias", "bias_se"),
    *("rmse", "rmedse", "failures_mean", "failures_sd", "coverage", "width_mean", "cpu_seconds"),
}
COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_a_terminal(columns: int, *words: object) -> list[str]:
    """The lines that a person sees."""
    here, there = pty.openpty()
    env = {**os.environ, **CODE, "COLUMNS": str(columns), "TERM": "xterm"}
    command = [sys.executable, "-m", "fieldcheck", *map(str, words)]
    child = subprocess.Popen(command, stdout=there, stderr=subprocess.DEVNULL, env=env)
    os.close(there)
    pieces = []
    try:
        while piece := os.read(here, 65_536):
            pieces.append(piece)
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(here)
    assert child.wait() == 0
    return COLOUR.sub("", b"".join(pieces).decode()).splitlines()


def test_version(run: Run) -> None:
    done = run("--version")
    assert done.code == 0
    assert done.out.startswith("fieldcheck ")
    assert "numpy" in done.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(run: Run, verb: str) -> None:
    done = run(verb, "-h")
    assert done.code == 0
    assert f"Usage: fieldcheck {verb}" in done.out
    assert run(verb, "--help").out == done.out


def test_help_lists_every_verb(run: Run) -> None:
    assert all(f" {verb} " in run("-h").out for verb in VERBS)


def test_designs_as_json(run: Run) -> None:
    found = run("designs", "--json").json["designs"]
    assert [one["name"] for one in found] == list(designs.registry)
    assert {"name", "title", "needs", "estimator", "parameters", "paper", "remark"} <= set(found[0])


def test_designs_piped_is_a_table(run: Run) -> None:
    lines = run("designs").out.splitlines()[1:]
    assert [line.split("\t")[0] for line in lines] == ["name", *designs.registry]
    assert {line.count("\t") for line in lines} == {6}


@pytest.mark.parametrize("columns", [80, 120])
def test_designs_can_be_read_on_a_terminal(columns: int) -> None:
    lines = on_a_terminal(columns, "designs")
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= columns
    for name in designs.registry:
        design = designs.registry[name]
        assert f"{name} {design.title}" in text
        assert " ".join(design.paper.split()) in text


def test_bench_fits_a_terminal(tea: Path) -> None:
    lines = on_a_terminal(80, "bench", tea, "-d", "srs,deepest", "-n", 20, "-r", 2)
    assert max(map(len, lines)) <= 80
    assert any(re.match(r"deepest +confidence +20 ", line) for line in lines)


def test_an_estimate_fits_a_terminal(tea: Path) -> None:
    lines = on_a_terminal(80, "simulate", tea, "-d", "deepest", "-n", 15)
    assert max(map(len, lines)) <= 80
    assert "warning: only 15 labels" in " ".join(" ".join(lines).split())


def test_assess_as_json(run: Run, tea: Path) -> None:
    done = run("simulate", tea, "-d", "ssrs:k=4", "-a", "lsa", "-n", 40, "-s", 3, "--json")
    assert (done.code, done.err) == (0, "")
    assert set(done.json) >= ESTIMATE_KEYS
    assert set(done.json["interval"]) == {"low", "high", "level", "kind", "basis", "method", "trusted", "note"}
    assert (done.json["design"], done.json["auxiliary"]) == ("ssrs:k=4", "lsa")
    truths = [row == said for row, said in zip(truth_of(tea).values(), _predictions(tea), strict=True)]
    assert done.json["truth"] == pytest.approx(sum(truths) / len(truths), abs=1e-12)


def _predictions(pool: Path) -> list[str]:
    return [row["prediction"] for row in read(pool)]


def test_assess_for_people_says_the_same(run: Run, tea: Path) -> None:
    asked = ("simulate", tea, "-n", 40)
    answer, found = " ".join(run(*asked).out.split()), run(*asked, "--json").json
    bounds = f"{100 * found['interval']['low']:.1f} % – {100 * found['interval']['high']:.1f} %, protected"
    assert answer.startswith(f"Accuracy {100 * found['shown']:.1f} % 95 % interval {bounds}")
    assert f"{found['labels']} labels, {found['failures']} failures, pool of 240" in answer


@pytest.mark.parametrize(("metric", "loss"), [("rmse", "squared"), ("mse", "squared"), ("1-mae", "absolute")])
def test_regression_on_other_scales(run: Run, price: Path, metric: str, loss: str) -> None:
    asked = ("simulate", price, "-n", 40, "--loss", loss, "--json")
    plain, other = run(*asked).json, run(*asked, "--metric", metric).json
    mean_loss = 1 - plain["value"] if loss == "squared" else plain["value"]
    expected = {"rmse": mean_loss**0.5, "mse": mean_loss, "1-mae": 1 - mean_loss}[metric]
    assert other["value"] == pytest.approx(expected, rel=1e-12)
    assert other["interval"]["low"] <= other["value"] <= other["interval"]["high"]


def test_a_report_is_written_beside_the_estimate(run: Run, tea: Path) -> None:
    done = run("simulate", tea, "-n", 40, "--html", "report.html", "--json")
    assert done.json["labels"] == 40
    assert "report.html" in done.err
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html")


@pytest.mark.parametrize("words", ["simulate {} -d deepest -n 40 --json", "bench {} -d srs,css -n 20 -r 3 --json -"])
def test_same_seed_same_output(run: Run, tea: Path, words: str) -> None:
    def call(seed: int) -> object:
        return _timeless(run(*words.format(tea).split(), "--seed", seed))

    assert call(1) == call(1) != call(2)


def _timeless(done: Done) -> object:
    """Output without what a clock says."""
    for row in done.json.get("rows", []):
        row["cpu_seconds"] = 0
    return re.sub(r'"cpu_seconds": [0-9.e-]+', "", done.out)


def test_sample_tells_what_is_next(run: Run, tea: Path) -> None:
    assert "fieldcheck estimate sheet.csv" in run("sample", tea, "-n", 10, "-o", "sheet.csv").out
    fill(Path("sheet.csv"), truth_of(tea))
    assert "all are labelled" in run("sample", tea, "-o", "sheet.csv", "--continue").out
    assert "--continue" in run("sample", tea, "-d", "gbs", "-n", 20, "-o", "gbs.csv").out


def test_sample_as_json(run: Run, tea: Path) -> None:
    done = run("sample", tea, "-n", 10, "-o", "sheet.csv", "--json").json
    assert set(done) == {"file", "items", "to_label", "complete"}
    assert len(done["items"]) == 10


def _rows(path: str) -> list[dict[str, object]]:
    rows = json.loads(Path(path).read_text(encoding="utf-8"))["rows"]
    return [{key: value for key, value in row.items() if key != "cpu_seconds"} for row in rows]


def test_bench_groups_by_words_or_by_a_table(run: Run, tea: Path, price: Path) -> None:
    Path("sets.csv").write_text("subject,dataset\ntea,shop\nprice,shop\n")
    asked = ("bench", tea, price, "-d", "srs", "-n", 20, "-r", 2, "--json", "-")
    for words in ("shop=tea,price", "sets.csv:dataset"):
        rows = json.loads(run(*asked, "--group", words).out)["rows"]
        assert {row["group"] for row in rows} == {"shop"}
    assert {row["group"] for row in json.loads(run(*asked).out)["rows"]} == {"tea", "price"}
    for words in ("sets.csv", "absent.csv", "shop=coffee"):
        refused = run(*asked, "--group", words)
        assert refused.code == 2
        assert "rule:" in refused.err


def test_bench_rows_do_not_depend_on_the_number_of_workers(run: Run, tea: Path) -> None:
    asked = ("bench", tea, "-d", "srs,ssrs,gbs", "-a", "confidence,lsa", "-n", "20,40", "-r", 3)
    assert (
        run(*asked, "--json", "one.json").code
        == run(*asked, "--json", "two.json", "--engine", "processes:workers=2").code
        == 0
    )
    rows = _rows("one.json")
    assert rows == _rows("two.json")
    assert set(rows[0]) | {"cpu_seconds"} >= ROW_KEYS
    assert len(rows) == 2 * (1 + 2 * 2)
    assert {row["auxiliary"] for row in rows if row["design"] == "srs"} == {"none"}


def test_bench_writes_tables_and_a_report(run: Run, tea: Path, price: Path) -> None:
    files = ("--html", "bench.html", "--tables", "tables", "--json", "rows.json")
    done = run("bench", tea, price, "-d", "srs,sups,ssrs", "-a", "confidence,spread", "-n", "20,50", "-r", 3, *files)
    assert (done.code, done.out) == (0, "")
    assert Path("bench.html").read_text(encoding="utf-8").startswith("<!doctype html")
    suffixes = {path.suffix for path in Path("tables").iterdir()}
    assert suffixes == {".csv", ".tex", ".svg"}
    lines = Path("tables/repetitions.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * 2 * 3 * 3


def test_recommend_answers_from_own_results(run: Run, tea: Path) -> None:
    run("bench", tea, "-d", "srs,ssrs,sups", "-n", "20,50", "-r", 5, "--json", "rows.json")
    done = run("recommend", "--objective", "estimate", "--results", "rows.json", "--json").json
    assert done["design"] in ("srs", "ssrs", "sups")
    assert len(done["standings"]) == 3
    assert done["design"] in run("recommend", "--objective", "estimate", "--results", "rows.json").out


def test_recommend_answers_from_the_results_that_ship(run: Run) -> None:
    done = run("recommend", "--objective", "expose", "--task", "classification", "--budget", 200, "--json")
    assert done.code == 0, done.err
    assert done.json["design"].partition(":")[0] in designs.registry


@pytest.mark.parametrize(
    "words",
    ["--objective fame", "--task ranking", "--accuracy medium", "--auxiliary nope", "--budget -5"],
)
def test_recommend_refuses_what_it_does_not_know(run: Run, tea: Path, words: str) -> None:
    run("bench", tea, "-d", "srs,ssrs", "-n", "20", "-r", 2, "--json", "rows.json")
    done = run("recommend", "--results", "rows.json", *words.split())
    assert (done.code, done.out) == (2, ""), done.err


def test_a_leaking_auxiliary_variable_is_called_out(run: Run, tea: Path) -> None:
    rewrite(tea, [{**row, "lsa": "9" if row["target"] != row["prediction"] else "1"} for row in read(tea)])
    done = run("simulate", tea, "-d", "ssrs", "-a", "lsa", "-n", 40, "--json")
    assert "computed from the labels" in " ".join(done.json["warnings"])
