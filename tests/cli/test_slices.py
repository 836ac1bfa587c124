"""``estimate --by`` and ``--metrics``: from a filled-in sheet to slices and metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldcheck.sources.sharded import ShardedPool

from .sheets import CLASSES, Run, fill, outcomes_of, read, truth_of, write

BUDGET = 120


def labelled(run: Run, pool: Path, design: str, labels: object = truth_of) -> None:
    """A sheet, labelled wave by wave."""
    more = run("sample", pool, "-d", design, "-n", BUDGET, "-o", "sheet.csv", "--json")
    assert more.code == 0, more.err
    fill(Path("sheet.csv"), labels(pool))  # type: ignore[operator]
    while not more.json["complete"]:
        more = run("sample", pool, "-o", "sheet.csv", "--continue", "--json")
        assert more.code == 0, more.err
        fill(Path("sheet.csv"), labels(pool))  # type: ignore[operator]


@pytest.mark.parametrize("design", ["waves", "srs"])
def test_by_column_and_metrics_as_json(run: Run, tea: Path, design: str) -> None:
    labelled(run, tea, design)
    plain = run("estimate", "sheet.csv", "--json").json
    done = run("estimate", "sheet.csv", "--by", "prediction", "--by", "kind", "--metrics", "recall,confusion", "--json")
    assert done.code == 0, done.err
    assert {key: done.json[key] for key in plain} == plain
    assert [part["by"] for part in done.json["slices"]] == ["prediction", "kind"]
    assert {row["slice"] for row in done.json["slices"][0]["rows"]} == set(CLASSES)
    assert sum(row["labels"] for row in done.json["slices"][1]["rows"]) == BUDGET
    assert {score["metric"] for score in done.json["metrics"]["scores"]} == {"recall"}
    assert sum(map(sum, done.json["metrics"]["confusion"]["counts"])) == pytest.approx(240, abs=1e-6)


def test_a_folder_of_shards_stays_where_it_is(run: Run, tea: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices and metrics by other processes are those of the file, to the bit, and nothing is read whole."""
    assert run("shard", tea, "--out", "cut", "--rows", 100).code == 0
    truth, found = truth_of(tea), []
    for pool, name, engine in ((tea, "one.db", "local"), ("cut", "two.db", "processes:workers=1")):
        run("start", pool, "--campaign", name, "--budget", BUDGET, "--items", "none")
        while items := run("next", name, "--out", "next.csv", "--by", "Eva", "--force", "--json").json["items"]:
            write(Path("said.csv"), ["id", "label"], [[item, truth[item]] for item in items])
            assert run("import", name, "said.csv", "--by", "Eva").code == 0
        with monkeypatch.context() as patch:
            patch.setattr(ShardedPool, "in_memory", lambda *_: pytest.fail("read whole"))
            words = ("--by", "prediction", "--by", "kind", "--by", "lsa", "--metrics", "recall,confusion")
            done = run("estimate", name, *words, "--engine", engine, "--json")
            told = run("report", name, "--out", "page.html", "--by", "kind", "--engine", engine)
        assert (done.code, told.code) == (0, 0), done.err + told.err
        assert "Accuracy by kind" in Path("page.html").read_text(encoding="utf-8")
        found.append((done.json["slices"], done.json["metrics"]))
    assert found[0] == found[1]
    assert sum(row["labels"] for row in found[1][0][1]["rows"]) == BUDGET


def test_a_sheet_of_a_folder_of_shards_heeds_the_engine(run: Run, tea: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("shard", tea, "--out", "cut", "--rows", 100).code == 0
    labelled(run, Path("cut"), "waves", lambda _: truth_of(tea))
    here = run("estimate", "sheet.csv", "--json").json
    monkeypatch.setattr(ShardedPool, "in_memory", lambda *_: pytest.fail("read whole"))
    assert run("estimate", "sheet.csv", "--engine", "processes:workers=1", "--json").json == here
    assert "no engine 'dask'" in run("estimate", "sheet.csv", "--engine", "dask").err


def test_people_read_tables_and_notes(run: Run, tea: Path) -> None:
    labelled(run, tea, "waves")
    done = run("estimate", "sheet.csv", "--by", "kind", "--metrics", "accuracy,precision,recall,f1,confusion")
    assert done.code == 0, done.err
    for words in ("Accuracy by kind", "Darjeeling", "macro", "Confusion matrix", "expected to miss", "this pool"):
        assert words in done.out


def test_the_report_has_slices_and_matrix(run: Run, tea: Path) -> None:
    labelled(run, tea, "waves")
    done = run("estimate", "sheet.csv", "--by", "kind", "--metrics", "confusion,recall", "--html", "report.html")
    assert done.code == 0, done.err
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Accuracy by kind" in page
    assert "Confusion matrix" in page


def test_right_and_wrong_suffice_for_precision_only(run: Run, tea: Path) -> None:
    labelled(run, tea, "waves", outcomes_of)
    assert run("estimate", "sheet.csv", "--metrics", "accuracy,precision", "--json").code == 0
    done = run("estimate", "sheet.csv", "--metrics", "recall")
    assert done.code == 2
    assert "right or wrong" in done.err


def test_regression_has_slices_but_no_recall(run: Run, price: Path) -> None:
    labelled(run, price, "srs")
    assert run("estimate", "sheet.csv", "--by", "spread", "--json").code == 0
    done = run("estimate", "sheet.csv", "--metrics", "recall")
    assert done.code == 2
    assert "classes" in done.err


def test_a_pool_that_was_moved_is_asked_for(run: Run, tea: Path, tmp_path: Path) -> None:
    labelled(run, tea, "srs")
    (tmp_path / "elsewhere").mkdir()
    moved = tea.rename(tmp_path / "elsewhere" / "moved.csv")
    done = run("estimate", "sheet.csv", "--by", "kind")
    assert done.code == 2
    assert "--pool" in done.err
    assert run("estimate", "sheet.csv", "--by", "kind", "--pool", moved).code == 0
    assert run("estimate", "sheet.csv", "--by", "kind").code == 0


@pytest.mark.parametrize(("words", "said"), [(("--by", "kid"), "no column"), (("--metrics", "auc"), "no metric 'auc'")])
def test_what_is_not_there_is_named(run: Run, tea: Path, words: tuple[str, str], said: str) -> None:
    labelled(run, tea, "srs")
    done = run("estimate", "sheet.csv", *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_skipped_items_do_not_break_metrics(run: Run, tea: Path) -> None:
    labelled(run, tea, "srs")
    rows = read(Path("sheet.csv"))
    labels = truth_of(tea)
    labels[rows[3]["id"]] = "skip"
    fill(Path("sheet.csv"), labels)
    done = run("estimate", "sheet.csv", "--metrics", "recall", "--by", "kind", "--json")
    assert done.code == 0, done.err
    assert sum(row["labels"] for row in done.json["slices"][0]["rows"]) == BUDGET - 1


def test_a_column_that_is_not_there(run: Run, tea: Path) -> None:
    labelled(run, tea, "srs")
    done = run("estimate", "sheet.csv", "--by", "nope")
    assert done.code == 2
    assert "prediction, confidence, " in done.err


def test_slices_with_too_few_labels_have_no_empty_chart(run: Run, tea: Path) -> None:
    run("sample", tea, "-d", "srs", "-n", 10, "-o", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    assert run("estimate", "sheet.csv", "--by", "prediction", "--html", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "too few labels" in page
    assert "nothing to show" not in page


def test_a_budget_under_ten_is_told_how_to_go_on(run: Run, tea: Path) -> None:
    run("sample", tea, "-d", "srs", "-n", 6, "-o", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    done = run("estimate", "sheet.csv")
    assert done.code == 2
    assert "fieldcheck extend" in done.err
    assert run("extend", "sheet.csv", "--budget", 10).code == 0
    assert run("sample", tea, "--out", "sheet.csv", "--continue").code == 0
    fill(Path("sheet.csv"), truth_of(tea))
    assert run("estimate", "sheet.csv").code == 0
