"""Comparisons: the same numbers with any number of processes, in any company, and after any crash."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fieldcheck.accuracy import designs
from fieldcheck.accuracy.assessment.known import Field
from fieldcheck.accuracy.assessment.sampling import build_design
from fieldcheck.accuracy.assessment.simulate import repetition
from fieldcheck.bench import Result, Study, cells, run, split_specs
from fieldcheck.bench.offsets import OffsetBins
from fieldcheck.bench.result import CellResult
from fieldcheck.bench.rows import Row
from fieldcheck.core.errors import BenchError, DesignError, FieldcheckError
from fieldcheck.engines import Processes
from fieldcheck.sources import load

from .subjects import write_subject

KEYS = {
    *("subject", "task", "design", "auxiliary", "budget", "repetitions", "truth", "mean", "bias", "bias_se"),
    *("rmse", "rmedse", "failures_mean", "failures_sd", "coverage", "width_mean", "cpu_seconds"),
}


@pytest.fixture
def plan(tmp_path):
    subjects = [
        write_subject(tmp_path / "one.csv"),
        write_subject(tmp_path / "two.csv", accuracy=0.95, seed=2),
    ]
    return Study(subjects, ("srs", "sups", "ssrs:k=4"), ("confidence", "dsa"), budgets=(20, 60), repetitions=6)


def numbers(result: Result) -> list[dict[str, object]]:
    """All that must not differ between two runs: everything but the time."""
    return [numbers_of(one) for one in result.cells]


def numbers_of(one: CellResult) -> dict[str, object]:
    return {**one.as_record(), "cpu_seconds": 0}


def test_rows_are_what_numpy_says(plan):
    result = run(plan)
    for one, row in zip(result.cells, result.rows(), strict=True):
        field = Field.of(load(plan.sources()[row["subject"]]))
        errors = one.values - (1 - field.losses).mean()
        assert row["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
        assert row["rmedse"] == pytest.approx(np.sqrt(np.median(errors**2)))
        assert row["bias"] == pytest.approx(errors.mean())
        assert row["bias_se"] == pytest.approx(np.std(one.values, ddof=1) / np.sqrt(6))
        assert row["mean"] == pytest.approx(one.values.mean())
        assert row["failures_mean"] == pytest.approx(one.failures.mean())
        assert row["failures_sd"] == pytest.approx(np.std(one.failures, ddof=1))
        assert row["coverage"] == np.mean((one.low <= row["truth"]) & (row["truth"] <= one.high))
        assert row["width_mean"] == pytest.approx((one.high - one.low).mean())
        assert row["trusted_share"] == one.trusted.mean()


def test_rows_have_the_promised_keys(plan):
    row = run(replace(plan, repetitions=1)).rows()[0]
    assert KEYS | {"trusted_share", "exposed_mean", "group", "failing"} == set(row) == set(Row.__annotations__)
    assert math.isnan(row["bias_se"])


def test_srs_has_one_row_with_none(plan):
    rows = run(plan).rows()
    places = {(row["design"], row["auxiliary"]) for row in rows}
    assert {aux for design, aux in places if design == "srs"} == {"none"}
    assert {aux for design, aux in places if design == "sups"} == {"confidence", "dsa"}
    assert len(rows) == 2 * 2 * (1 + 2 + 2)


def test_each_repetition_is_the_campaign_of_its_seed(plan):
    one = run(plan).cells[0]
    field = Field.of(load(plan.sources()[one.cell.subject]))
    seeds = plan.seeds()
    outcomes = [repetition(field, build_design("srs"), budget=20, seed=seed) for seed in seeds]
    assert [outcome.value for outcome in outcomes] == one.values.tolist()
    assert len(set(seeds)) == len(seeds)


def test_seeds_do_not_depend_on_how_many_there_are(plan):
    assert replace(plan, repetitions=3).seeds() == plan.seeds()[:3]
    assert replace(plan, seed=1).seeds() != plan.seeds()


def test_two_processes_give_the_same_numbers(plan):
    assert numbers(run(plan, engine=Processes(2))) == numbers(run(plan))


def test_nothing_is_still_closing_when_it_returns(plan):
    before = set(threading.enumerate())
    run(plan, engine=Processes(2))
    assert set(threading.enumerate()) <= before
    assert not multiprocessing.active_children()


def test_interrupted_while_its_processes_start_it_ends_them_and_no_others(plan, monkeypatch):
    started = []

    @contextmanager
    def interrupted():
        yield
        started.extend(multiprocessing.active_children())
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["fieldcheck.engines.processes"], "_deaf", interrupted)
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(3600,))
    other.start()
    with pytest.raises(KeyboardInterrupt):
        run(plan, engine=Processes(2))
    assert other.is_alive()
    other.terminate()
    other.join()
    assert sorted(child.exitcode for child in started) == [-signal.SIGTERM] * 3


KILLED = """
import sys
from fieldcheck.bench import Study, run
from fieldcheck.engines import Processes

if __name__ == "__main__":
    plan = Study([sys.argv[1]], ("srs", "waves"), ("confidence",), (60, 80, 100), repetitions=3_000)
    run(plan, engine=Processes(2), progress=lambda *_: print("one cell is done", flush=True))
"""


def test_workers_end_with_a_bench_that_is_killed(tmp_path):
    """With minutes of work before them: none stays behind."""
    (tmp_path / "script.py").write_text(KILLED)
    call = [sys.executable, tmp_path / "script.py", write_subject(tmp_path / "one.csv")]
    with subprocess.Popen(call, stdout=subprocess.PIPE) as bench:
        assert bench.stdout is not None
        assert bench.stdout.readline()
        workers = spawned_by(bench.pid)
        bench.kill()
    try:
        assert len(workers) == 2
        assert waited(lambda: not any(map(alive, workers)))
    finally:
        for worker in filter(alive, workers):
            os.kill(worker, signal.SIGKILL)


def waited(found, *, seconds: float = 30):
    """What is found at last."""
    end = time.monotonic() + seconds
    while not (result := found()) and time.monotonic() < end:
        time.sleep(0.1)
    return result


def spawned_by(parent: int) -> list[int]:
    """Its worker processes; the helper that looks after shared memory is none."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            own = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            found += [int(place.name)] * (own == parent and b"spawn_main" in (place / "cmdline").read_bytes())
    return found


def alive(process: int) -> bool:
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_pools_in_memory_are_as_good_as_files(plan):
    pools = replace(plan, subjects=[load(path) for path in plan.subjects])
    assert numbers(run(pools, engine=Processes(2))) == numbers(run(plan))


def test_an_error_in_a_worker_reaches_the_user(plan, tmp_path):
    pools = [load(path) for path in plan.subjects]
    (tmp_path / "gone.npy").write_bytes(b"not an array")
    with pytest.raises(BenchError, match="activations of 'one'"):
        run(replace(plan, subjects=pools, activations={"one": tmp_path / "gone.npy"}), engine=Processes(2))


def test_a_cell_does_not_depend_on_its_company(plan):
    whole = {tuple(one.cell): one for one in run(plan).cells}
    alone = run(replace(plan, designs=("ssrs:k=4",), auxiliaries=("dsa",), budgets=(60,))).cells[0]
    assert alone.values.tolist() == whole[tuple(alone.cell)].values.tolist()


ALTERNATIVES = ("confidence", "dsa", "dsa+confidence", "margin", "auto")


@pytest.mark.parametrize("name", list(designs.registry))
def test_a_row_is_the_same_in_a_joint_bench_as_alone(name, tmp_path):
    """Each technique with each choice of auxiliary variables, after all the others had their turn on the same pool."""
    pool = tmp_path / "one.csv"
    write_subject(pool, size=120, third="margin")
    np.save(tmp_path / "one.npy", np.random.default_rng(0).random((120, 3)))
    common = {"budgets": (25,), "repetitions": 2, "activations": {"one": tmp_path / "one.npy"}}
    joint = {one.cell: one for one in run(Study([pool], tuple(designs.registry), ALTERNATIVES, **common)).cells}
    rows = []
    for choice in ALTERNATIVES:
        with contextlib.suppress(DesignError):  # most techniques take one variable at a time
            rows += run(Study([pool], (name,), (choice,), **common)).cells
    assert rows
    for alone in rows:
        assert numbers_of(alone) == numbers_of(joint[alone.cell])


def test_waves_with_other_variables_is_another_row(tmp_path):
    plan = Study([write_subject(tmp_path / "one.csv")], ("waves",), ("confidence", "dsa", "confidence+dsa"), (60,))
    assert len({tuple(one.values.tolist()) for one in run(replace(plan, repetitions=3)).cells}) == 3


def test_without_a_word_waves_takes_all_that_is_known_to_help(tmp_path):
    plan = Study([write_subject(tmp_path / "one.csv", third="margin")], ("waves",), (), (60,), repetitions=3)
    own, named = (run(replace(plan, auxiliaries=choice)).cells[0] for choice in ((), ("confidence+dsa",)))
    assert own.cell.auxiliary == "auto"
    assert own.values.tolist() == named.values.tolist()


def test_killed_and_resumed_is_as_never_stopped(plan, tmp_path):
    journal = tmp_path / "journal.jsonl"
    whole = run(plan, resume=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + len(whole.cells)
    journal.write_bytes(b"".join(lines[:6]) + lines[6][: len(lines[6]) // 2])
    ran = []
    resumed = run(plan, resume=journal, progress=lambda done, total, cell: ran.append((done, total, cell)))
    assert numbers(resumed) == numbers(whole)
    assert [cell for _, _, cell in ran] == [one.cell for one in whole.cells[5:]]
    assert ran[-1][:2] == (len(whole.cells), len(whole.cells))
    assert len(journal.read_bytes().splitlines()) == len(lines)


def test_a_finished_journal_runs_nothing(plan, tmp_path, monkeypatch):
    journal = tmp_path / "journal.jsonl"
    whole = run(plan, resume=journal)
    monkeypatch.setattr(cells.simulate, "repetition", None)
    again = run(plan, resume=journal)
    assert [one.as_record() for one in again.cells] == [one.as_record() for one in whole.cells]


@pytest.mark.parametrize(
    "change",
    [{"seed": 1}, {"repetitions": 5}, {"level": 0.9}, {"designs": ("sups:floor=0.2", "srs", "ssrs:k=4")}],
)
def test_cells_of_other_settings_do_not_match_and_are_kept(plan, tmp_path, change):
    journal = tmp_path / "journal.jsonl"
    run(plan, resume=journal)
    before = journal.read_bytes()
    other = replace(plan, **change)
    assert numbers(run(other, resume=journal)) == numbers(run(other))
    assert journal.read_bytes().startswith(before)
    assert len(journal.read_bytes()) > len(before)


def test_a_changed_file_does_not_match(plan, tmp_path):
    journal = tmp_path / "journal.jsonl"
    run(plan, resume=journal)
    write_subject(tmp_path / "one.csv", seed=9)
    assert numbers(run(plan, resume=journal)) == numbers(run(plan))


@pytest.mark.parametrize("content", ["id,prediction\n1,2\n", '{"fieldcheck": "else"}\n', "half a line"])
def test_what_is_not_a_journal_is_refused_and_left_alone(plan, tmp_path, content):
    other = tmp_path / "precious.csv"
    other.write_text(content)
    with pytest.raises(BenchError):
        run(plan, resume=other)
    assert other.read_text() == content


def test_a_crash_within_the_first_line_is_no_harm(plan, tmp_path):
    journal = tmp_path / "journal.jsonl"
    journal.write_text('{"fieldcheck": "fini')
    run(plan, resume=journal)
    assert len(run(plan, resume=journal).cells) == len(journal.read_text().splitlines()) - 1


def test_a_journal_that_cannot_be_opened_is_refused(plan, tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "journal.jsonl"):
        with pytest.raises(BenchError):
            run(plan, resume=path)


def test_damage_inside_a_journal_is_named(plan, tmp_path):
    journal = tmp_path / "journal.jsonl"
    run(plan, resume=journal)
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:2], "{broken\n", *lines[3:]]))
    with pytest.raises(BenchError, match="line 3"):
        run(plan, resume=journal)


def test_budget_over_the_pool_is_refused_before_anything_runs(plan, monkeypatch):
    monkeypatch.setattr(cells.simulate, "repetition", None)
    with pytest.raises(BenchError, match="401"):
        run(replace(plan, budgets=(20, 401)))


def test_a_missing_auxiliary_is_an_error_only_when_nobody_has_it(plan, tmp_path):
    with pytest.raises(BenchError, match="vae"):
        run(replace(plan, auxiliaries=("confidence", "vae")))
    third = write_subject(tmp_path / "three.csv", regression=True)
    result = run(replace(plan, subjects=[*plan.subjects, third], auxiliaries=("confidence", "sae"), budgets=(20,)))
    assert {(r["subject"], r["auxiliary"]) for r in result.rows() if r["design"] == "sups"} == {
        ("one", "confidence"),
        ("two", "confidence"),
        ("three", "sae"),
    }
    assert any("three" in note and "confidence" in note for note in result.notes)


def test_techniques_that_take_one_variable_refuse_two(plan):
    with pytest.raises(DesignError, match="several"):
        run(replace(plan, designs=("sups",), auxiliaries=("confidence+dsa",)))
    result = run(replace(plan, auxiliaries=("confidence", "confidence+dsa")))
    assert {row["auxiliary"] for row in result.rows()} == {"none", "confidence"}
    assert any("confidence+dsa" in note for note in result.notes)


def test_ces_needs_activations(plan, tmp_path):
    with pytest.raises(BenchError, match="activations"):
        run(replace(plan, designs=("ces", "srs")))
    np.save(tmp_path / "one.npy", np.random.default_rng(0).random((400, 6)))
    result = run(replace(plan, designs=("ces", "srs"), budgets=(60,), activations={"one": tmp_path / "one.npy"}))
    assert [r["auxiliary"] for r in result.rows() if r["design"] == "ces"] == ["none"]
    assert any("two" in note and "activations" in note for note in result.notes)


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            {"subjects": ()},
            {"designs": ()},
            {"budgets": ()},
            {"repetitions": 0},
            {"budgets": (1,)},
            {"level": 1.0},
            {"loss": "cubic"},
        ),
        *({"designs": ("nonesuch",)}, {"designs": ("sups:no=1",)}, {"subjects": ("a/x.csv", "b/x.csv")}),
    ],
)
def test_bad_plans_are_refused(plan, wrong):
    with pytest.raises(FieldcheckError):
        run(replace(plan, **wrong))


def test_a_leaking_variable_is_measured_but_not_ranked(plan, tmp_path):
    path = write_subject(tmp_path / "leaky.csv")
    lines = path.read_text().splitlines()
    told = [f"{line},{0.9 if ',Fail,' in line else 0.1}" for line in lines[1:]]
    path.write_text("\n".join([lines[0] + ",told", *told]) + "\n")
    result = run(replace(plan, subjects=[path], auxiliaries=("confidence", "told")))
    assert result.leaks == (("leaky", "told"),)
    assert "told" in {row["auxiliary"] for row in result.rows()}
    assert "told" not in {row["auxiliary"] for row in result.fair_rows()}
    assert any("told" in note for note in result.notes)


def test_json_and_csv_say_the_same(plan):
    result = run(replace(plan, repetitions=1))
    content = json.loads(result.to_json())
    assert content["seed"] == 0
    assert content["rows"][0]["bias_se"] is None
    assert set(content["versions"]) == {"fieldcheck", "numpy", "scipy", "python"}
    lines = list(csv.DictReader(io.StringIO(result.repetitions_csv())))
    assert len(lines) == len(result.cells)
    assert [float(line["value"]) for line in lines] == [row["mean"] for row in content["rows"]]


def test_a_record_brings_back_every_bit(plan, tmp_path):
    third = write_subject(tmp_path / "three.csv", regression=True)
    for one in run(replace(plan, subjects=[third], auxiliaries=("sae",))).cells:
        back = CellResult.from_record(json.loads(json.dumps(one.as_record())))
        assert back.as_record() == one.as_record()
        assert back.offsets.shape == (6, 10)
        assert np.array_equal(back.offsets.sum(axis=1), back.labels)


def test_offsets_fall_into_the_published_bins():
    bins = OffsetBins.of(np.array([0.0, 0.0999, 0.1, 0.5, 0.99, 1.0, 3.0]), 25)
    assert bins.edges.tolist() == [0, 2.5, 5, 7.5, 10, 12.5, 15, 17.5, 20, 22.5, 25]
    assert bins.count(np.arange(7)).tolist() == [2, 1, 0, 0, 0, 1, 0, 0, 0, 3]
    assert OffsetBins.of(np.array([0.0, 2.0]), None).edges[-1] == 2.0
    assert OffsetBins.of(np.zeros(3), None).count(np.arange(3))[0] == 3


def test_specs_are_split_at_techniques_only():
    text = "srs, ssrs:k=8,deepest:r=0.6,threshold=0.757,weights=selected,gbs"
    assert split_specs(text) == ("srs", "ssrs:k=8", "deepest:r=0.6,threshold=0.757,weights=selected", "gbs")
