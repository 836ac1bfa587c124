"""Tomography on the command line: a small real network on digits, and a recorded truth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.tomography import perturbations
from fieldcheck.tomography.setup.space_file import read_space_file

from .conftest import SPACE
from .sheets import CODE, Run


@pytest.fixture
def measured(network: Path, run: Run, tmp_path: Path) -> Path:
    done = run("tomography", "run", network / "space.toml", "--out", tmp_path / "run")
    assert done.code == 0, done.err
    return tmp_path / "run"


def test_a_run_is_queried_and_checked(measured: Path, run: Run) -> None:
    found = json.loads(run("tomography", "query", measured, "brightness = high or zoom > 1", "--json").out)
    assert found["tests"] == 24 + 8
    assert found["low"] <= found["robustness"] <= found["high"]
    assert found["base"] > 0.8
    assert found["measured"] + found["inferred"] == found["tests"]
    shown = run("tomography", "query", measured, "order <= 1")
    assert shown.out.startswith("robustness ")
    assert "unperturbed" in shown.out
    assert run("tomography", "check", measured, "order = 0", "--min-robustness", 0.5).code == 0
    assert run("tomography", "check", measured, "all", "--min-robustness", 0.999).code == 1
    decision = json.loads(run("tomography", "check", measured, "all", "--min-robustness", found["base"], "--json").out)
    assert decision["decision"] in ("failed", "undecided")


def test_the_outcomes_are_a_table_too(measured: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(measured / "outcomes.parquet")
    assert table.num_rows == 1200
    assert {"brightness", "zoom", "gaussian-noise", "input", "held"} <= set(table.column_names)


def test_the_weakest_are_named_and_drawn(measured: Path, run: Run, tmp_path: Path) -> None:
    found = json.loads(run("tomography", "worst", measured, "--order", 2, "-n", 4, "--json").out)
    assert len(found["conditions"]) == len(found["interactions"]) == 4
    assert found["conditions"][0]["robustness"] <= found["conditions"][-1]["robustness"]
    done = run("tomography", "report", measured, "--out", tmp_path / "page.html", "--query", "zoom >= 1")
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") >= 4
    assert "zoom &gt;= 1" in page
    ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])  # noqa: S314 -- our own page


def test_a_profile_weighs(measured: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "field.toml").write_text("brightness = [1, 0, 0, 0]\nzoom = [1, 0, 0]\ngaussian-noise = [1, 0, 0, 0]\n")
    found = json.loads(run("tomography", "query", measured, "all", "--profile", tmp_path / "field.toml", "--json").out)
    assert found["robustness"] == pytest.approx(found["base"], abs=1e-6)


@pytest.mark.parametrize("plan", ["pairs", "full"])
def test_a_rule_stops_tests(network: Path, run: Run, tmp_path: Path, plan: str) -> None:
    done = run(
        "tomography", "run", network / "space.toml", "--out", tmp_path / plan, "--plan", plan, "--half-width", 0.05,
        "--json",
    )  # fmt: skip
    found = json.loads(done.out)
    tests = {"pairs": 1 + 8 + (6 + 9 + 6), "full": 48}[plan]
    assert found["tests_measured"] == tests
    assert tests * 200 <= found["inferences"] < tests * 300
    assert found["model_share_of_cpu"] > 0


def kill_after(parts: int, folder: Path, *words: object) -> None:
    """Kill a run as soon as so many parts of its outcomes are on disk."""
    command = [sys.executable, "-m", "fieldcheck", *map(str, words)]
    pipe, env = subprocess.PIPE, os.environ | CODE
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=pipe, text=True, env=env)
    while process.poll() is None and len(list((folder / "outcomes").glob("[0-9]*.npz"))) < parts:
        time.sleep(0.01)
    process.kill()  # nothing happens where it has ended
    _, said = process.communicate()
    assert len(list((folder / "outcomes").glob("[0-9]*.npz"))) >= parts, said


def test_killed_and_resumed_is_the_same(network: Path, run: Run, tmp_path: Path) -> None:
    words = ["tomography", "run", str(network / "space.toml"), "--plan", "full", "--inferences", "14400"]
    run(*words, "--out", tmp_path / "whole")
    for wanted in (1, 2):
        kill_after(wanted, tmp_path / "broken", *words, "--out", tmp_path / "broken", "--resume")
    assert run(*words, "--out", tmp_path / "broken", "--resume").code == 0
    whole, broken = ((tmp_path / name / "outcomes").glob("[0-9]*.npz") for name in ("whole", "broken"))
    for one, other in zip(sorted(whole), sorted(broken), strict=True):
        with np.load(one) as a, np.load(other) as b:
            assert all(np.array_equal(a[name], b[name], equal_nan=True) for name in a.files)


def outcomes(folder: Path) -> list[tuple[int, int, float]]:
    """Test, input and outcome of every row, in the order in which they were run."""
    rows: list[tuple[int, int, float]] = []
    for path in sorted((folder / "outcomes").glob("[0-9]*.npz")):
        with np.load(path) as part:
            rows += zip(*(part[name].tolist() for name in ("tests", "inputs", "held")), strict=True)
    return rows


@pytest.mark.parametrize("plan", ["spread", "pairs"])
def test_a_finished_run_is_extended(network: Path, run: Run, tmp_path: Path, plan: str) -> None:
    words = ["tomography", "run", network / "space.toml", "--plan", plan, "--json"]
    assert run(*words, "--out", tmp_path / "run").code == 0
    before = outcomes(tmp_path / "run")
    assert run(*words, "--out", tmp_path / "run", "--inferences", 3000).code == 2
    done = run(*words, "--out", tmp_path / "run", "--inferences", 3000, "--resume")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    rows = outcomes(tmp_path / "run")
    assert rows[: len(before)] == before
    assert found["inferences"] == len(set(rows)) == len(rows)
    assert 2970 < len(rows) <= 3000  # of pairs, one more input takes 30
    run(*words, "--out", tmp_path / "large", "--inferences", 3000)
    assert sorted(outcomes(tmp_path / "large")) == sorted(rows)
    again = run(*words, "--out", tmp_path / "run", "--inferences", 3000, "--resume")
    assert json.loads(again.out)["held"] == found["held"]


def test_an_extension_that_is_killed_and_resumed_is_the_same(network: Path, run: Run, tmp_path: Path) -> None:
    words = ["tomography", "run", str(network / "space.toml"), "--plan", "full"]
    for name in ("whole", "broken"):
        run(*words, "--inferences", 480, "--out", tmp_path / name)
    more = [*words, "--inferences", "14400", "--resume", "--out"]
    run(*more, tmp_path / "whole")
    kill_after(2, tmp_path / "broken", *more, tmp_path / "broken")
    assert len(outcomes(tmp_path / "broken")) < 14_400
    assert run(*more, tmp_path / "broken").code == 0
    assert outcomes(tmp_path / "broken") == outcomes(tmp_path / "whole")


def test_the_half_width_that_was_reached_is_said(network: Path, run: Run, tmp_path: Path) -> None:
    words = ["tomography", "run", network / "space.toml", "--out", tmp_path / "run", "--plan", "pairs"]
    shown = run(*words, "--half-width", 0.05).out
    assert "wanted 0.05; all 30 tests" in shown
    narrower = run(*words, "--half-width", 0.03, "--resume", "--json")
    reached = json.loads(narrower.out)["ending"]["reached"]
    assert reached["largest"] <= reached["wanted"] == 0.03
    wider = run(*words, "--half-width", 0.05, "--resume")
    assert wider.code == 2
    assert "wider" in wider.err
    other = run(*words, "--inferences", 9000, "--resume")
    assert "another way to stop" in other.err


def test_bands_are_told_while_they_become_narrow(network: Path, run: Run, tmp_path: Path) -> None:
    done = run("tomography", "run", network / "space.toml", "--out", tmp_path / "run", "--half-width", 0.06)
    assert "half-width after 3,9" in done.err
    assert "on average, wanted 0.06" in done.out


def test_what_was_not_spent_is_said(network: Path, run: Run, tmp_path: Path) -> None:
    words = ["tomography", "run", network / "space.toml", "--plan", "pairs"]
    shown = run(*words, "--out", tmp_path / "a", "--inferences", 100).out
    assert "17 of 100 inferences were not spent: one more input takes 30" in shown
    shown = run(*words, "--out", tmp_path / "b", "--inferences", 10_000).out
    assert "1,000 of 10,000 inferences were not spent: each of the 30 tests ran on all 300 inputs" in shown


def test_unperturbed_inputs_that_go_wrong_are_a_warning(
    network: Path, measured: Path, run: Run, tmp_path: Path
) -> None:
    path = network / "unscaled.toml"
    path.write_text(SPACE.replace('file = "digits.onnx"', 'file = "digits.onnx"\nscale = "100,0.001"'))
    done = run("tomography", "run", path, "--out", tmp_path / "wrong")
    assert "unperturbed inputs are right" in done.err
    assert "scale" in done.err
    again = run("tomography", "run", network / "space.toml", "--out", measured, "--resume")
    assert "unperturbed inputs are right" not in again.err


def test_another_check_does_not_go_on(network: Path, measured: Path, run: Run) -> None:
    path = network / "other.toml"
    path.write_text(SPACE.replace("limit = 300", 'limit = 300\nlabel = "labels"'))
    done = run("tomography", "run", path, "--out", measured, "--resume")
    assert done.code == 2
    assert "another setting of [model], [data] or [check]" in done.err


def test_a_perturbation_of_ones_own(network: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stripes.py").write_text(
        "from fieldcheck.tomography import perturbations\n"
        "@perturbations.register('blackout', kind='image', levels=2)\n"
        "def blackout(image, severity, rng):\n"
        "    image[: 4 * severity] = 0\n"
        "    return image\n"
        "nothing = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = network / "own.toml"
    head = SPACE[: SPACE.index("[[perturbation]]")]
    path.write_text(head + "[[perturbation]]\nname = 'dark'\nlevels = 2\napply = 'stripes:blackout'\n")
    words = ("tomography", "run", path, "--plan", "full", "--inferences", 900, "--json")
    assert "trust" in run(*words, "--out", tmp_path / "out").err
    done = run(*words, "--out", tmp_path / "out", "--trust")
    assert done.code == 0, done.err
    query = json.loads(run("tomography", "query", tmp_path / "out", "dark = 2", "--surrogate", "gp", "--json").out)
    assert query["robustness"] < 0.3 < query["base"]  # all of the image is black: one class of ten is right
    path.write_text(path.read_text().replace("stripes:blackout", "stripes:nothing"))
    assert "no perturbation" in run(*words, "--out", tmp_path / "two", "--trust").err


def test_quality_is_measured_and_queried(network: Path, run: Run, tmp_path: Path) -> None:
    path = network / "quality.toml"
    path.write_text(SPACE + '[quality]\nscore = "kid"\nfeatures = "pixels"\ntests = 20\ninputs = 50\n')
    done = run("tomography", "run", path, "--out", tmp_path / "run", "--inferences", 600)
    assert done.code == 0, done.err
    assert "kid" in done.err
    found = json.loads(run("tomography", "query", tmp_path / "run", "quality <= 0.05", "--json").out)
    assert 1 <= found["tests"] < 48


@pytest.mark.parametrize("line", ['stop = "published"', 'surrogate = "tree"', "tests = 2", 'features = "none.onnx"'])
def test_quality_that_cannot_be_measured_is_refused_before_anything_is_spent(
    line: str, network: Path, run: Run, tmp_path: Path
) -> None:
    path = network / "quality.toml"
    path.write_text(SPACE + f'[quality]\nscore = "kid"\n{line}\n')
    done = run("tomography", "run", path, "--out", tmp_path / "run")
    assert done.code == 2
    assert "rule:" in done.err
    assert not (tmp_path / "run").exists()


def test_a_run_that_ended_before_its_first_perturbed_input_answers_nothing(
    network: Path, run: Run, tmp_path: Path
) -> None:
    path = network / "expect.toml"
    path.write_text(SPACE + "[check]\nexpect = 0.2\n")
    assert "expected were 20.0 %" in run("tomography", "run", path, "--out", tmp_path / "run").err
    asked = run("tomography", "query", tmp_path / "run", "all")
    assert (asked.code, asked.out) == (2, "")
    assert "only unperturbed inputs" in asked.err


def test_two_classes_that_are_mostly_right_are_no_guesses(run: Run, tmp_path: Path) -> None:
    tests = np.arange(3)[:, None]
    for share, warned in ((0.9, False), (0.5, True)):
        held = np.arange(200) < 200 * share - 10 * tests
        (tmp_path / "space.toml").write_text('[truth]\nfile = "truth.npz"\n')
        np.savez(tmp_path / "truth.npz", tests=tests, perturbations=["zoom"], correct=held, classes=2)
        done = run("tomography", "run", tmp_path / "space.toml", "--out", tmp_path / f"run{share}")
        assert done.code == 0, done.err
        assert ("guessing would have 50" in done.err) == warned


def test_parameters_without_a_default_are_named_alone(run: Run) -> None:
    listed = run("tomography", "list", "measures").out
    assert "\tcosts\n" in listed
    assert "MISSING" not in listed


def test_a_share_of_high_orders_is_added(network: Path, run: Run, tmp_path: Path) -> None:
    path = network / "share.toml"
    path.write_text(SPACE.replace('kind = "spread"', 'kind = "pairs"\nshare = 0.5'))
    found = json.loads(run("tomography", "run", path, "--out", tmp_path / "run", "--json").out)
    assert found["tests_measured"] == 30 + 9  # orders up to two; half of 18 tests of order three


def test_a_recorded_truth_stands_in(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    tests = np.indices((3, 3)).reshape(2, -1).T
    held = rng.random((9, 200)) < (0.95 - 0.2 * tests.sum(axis=1))[:, None]
    np.savez(
        tmp_path / "truth.npz", tests=tests, perturbations=np.array(["fog", "noise"]), inputs=200,
        correct=np.packbits(held, axis=1), labels=np.arange(200) % 4, classes=4,
    )  # fmt: skip
    (tmp_path / "space.toml").write_text('[truth]\nfile = "truth.npz"\n[plan]\nkind = "full"\n')
    assert run("tomography", "run", tmp_path / "space.toml", "--out", tmp_path / "run").code == 0
    found = json.loads(run("tomography", "query", tmp_path / "run", "fog = 2", "--json", "--surrogate", "gp").out)
    assert found["robustness"] == pytest.approx(held[6:].mean())
    assert found["rows"] == 600


def test_init_writes_a_file_that_is_read(run: Run, tmp_path: Path, network: Path) -> None:
    for family in ("mnist", "cifar", "driving", "signs", "text"):
        text = run("tomography", "init", "--family", family).out
        (tmp_path / "space.toml").write_text(text)
        space = read_space_file(tmp_path / "space.toml").space
        assert space is not None
        assert [axis.perturbation for axis in space.axes] == perturbations.family(family)
        done = run("tomography", "run", tmp_path / "space.toml", "--out", tmp_path / "run")
        assert done.code == 2
        assert "Error" in done.err
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nothing to test"),
        ("[model]\nfile = 'digits.onnx'\n[data]\nfile = 'digits.npz'", "no perturbation"),
        ("[modle]\nfile = 'x'", "model"),
        ("seed = 'x'\n[truth]\nfile = 'x'", "whole number"),
        ("[truth]\nfile = 3", "names no file"),
        ("nonsense", "TOML"),
        (SPACE.replace("digits.onnx", "digit.onnx"), "[model] names digit.onnx"),
        (SPACE.replace("digits.npz", "digit.npz"), "[data] names digit.npz"),
        (SPACE.replace('"logistic"', '"logistik"'), "logistic"),
        (SPACE.replace('"zoom"', '"qqq"'), "fieldcheck tomography list perturbations"),
        (SPACE.replace('"spread"', '"qqq"'), "fieldcheck tomography list plans"),
        (SPACE.replace("levels = 2", "levels = 9"), "severity"),
        (SPACE.replace('"zoom"', '"zoomm"'), "zoom"),
        (SPACE.replace('"zoom"', '"typos"'), "text"),
        (SPACE.replace("[plan]", "[check]\nkind = 'function'\nfunction = 'os:getcwd'\n[plan]"), "trust"),
        (SPACE.replace("[plan]", "[check]\nkind = 'tolerance'\n[plan]"), "tolerance"),
        (SPACE.replace('kind = "spread"', 'kind = "sprad"'), "spread"),
        (SPACE.replace("limit = 300", "limit = 1"), "two inputs"),
        (SPACE.replace('"gaussian-noise"', '"own"\napply = "os:getcwd"'), "trust"),
        (SPACE.replace("inferences = 1200", "half_width = 'x'"), "half_width"),
        (SPACE.replace('kind = "spread"', 'kind = "pairs"\nshare = "x"'), "share"),
    ],
)
def test_a_wrong_space_file_is_refused(network: Path, run: Run, tmp_path: Path, text: str, told: str) -> None:
    path = network / "wrong.toml"
    path.write_text(text)
    done = run("tomography", "run", path, "--out", tmp_path / "run")
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err


def test_what_there_is_is_listed(run: Run) -> None:
    shown = run("tomography", "list").out
    assert all(word in shown for word in ("motion-blur", "typos", "spread", "closure", "sequence", "share=0.0"))
    found = json.loads(run("tomography", "list", "plans", "--json").out)
    assert [row["name"] for row in found["plans"]] == ["spread", "pairs", "full", "ordered", "random"]
    assert run("tomography", "list", "nothing").code == 2


def test_a_wrong_query_is_refused_before_anything_is_fitted(
    measured: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fieldcheck.tomography.surrogates.Logistic.fit", lambda *_, **__: pytest.fail("fitted"))
    for words in (["query"], ["check", "--min-robustness", 0.5], ["report", "--out", tmp_path / "x.html", "--query"]):
        found = run("tomography", words[0], measured, *words[1:], "zom > 1")
        assert "no 'zom' here" in found.err


def test_wrong_queries_and_folders_are_refused(measured: Path, run: Run, tmp_path: Path, network: Path) -> None:
    wrong = run("tomography", "query", measured, "zom > 1")
    assert wrong.code == 2
    assert "^" in wrong.err
    assert run("tomography", "query", tmp_path / "nothing", "all").code == 2
    assert run("tomography", "run", network / "space.toml", "--out", measured).code == 2
    other = run("tomography", "run", network / "space.toml", "--out", measured, "--resume", "--inferences", 50)
    assert "1,200 inferences, 50 are fewer" in other.err
    assert "--inferences 1200" in other.err
    both = run(
        "tomography", "run", network / "space.toml", "--out", tmp_path / "x", "--inferences", 5, "--half-width", 0.1
    )
    assert both.code == 2
    assert run("tomography", "check", measured, "all", "--min-robustness", 90).code == 3
    assert run("tomography", "check", tmp_path / "nothing", "all", "--min-robustness", 0.9).code == 3


def test_what_is_advised_for_a_damaged_part_works_as_it_is_pasted(run: Run) -> None:
    tests = np.stack(np.unravel_index(np.arange(12), (4, 3)), axis=1)
    held = np.random.default_rng(1).random((12, 40)) < 0.8
    np.savez("truth.npz", tests=tests, correct=held, perturbations=np.array(["zoom", "blur"]))
    Path("space.toml").write_text('surrogate = "logistic"\n[truth]\nfile = "truth.npz"\n[plan]\nkind = "full"\n')
    words = ("tomography", "run", "space.toml", "--out", "my run")
    assert run(*words).code == 0
    before = run("tomography", "query", "my run", "order <= 1").out
    part = Path("my run/outcomes/000000.npz")
    part.write_bytes(part.read_bytes()[:100])
    told = run("tomography", "query", "my run", "order <= 1")
    assert told.code == 2
    command = told.err.partition("try:  ")[2].partition(", then")[0]
    subprocess.run(command, shell=True, check=True)  # noqa: S602 -- as a person pastes it
    assert not part.exists()
    assert run(*words, "--resume").code == 0
    assert run("tomography", "query", "my run", "order <= 1").out == before
