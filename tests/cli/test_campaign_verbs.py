"""A campaign on the command line: start, next, import, status, estimate, failures, check, report."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from fieldcheck.campaign.campaign import Campaign

from .sheets import Done, Run, fill, read, rewrite, truth_of, write

BUDGET = 60
SAME = ("metric", "value", "interval", "beside", "standard_error", "labels", "failures", "population")


def start(run: Run, pool: Path, *more: object, budget: int | None = BUDGET) -> Done:
    labels = () if budget is None else ("--budget", budget)
    return run("start", pool, "--campaign", "c.db", "--seed", 5, *labels, *more)


def label_all(run: Run, truth: dict[str, str]) -> int:
    """Ask and answer with files until nothing is left; how many files it took."""
    for number in range(50):
        done = run("next", "c.db", "-n", BUDGET, "--out", f"to_label_{number}.csv", "--json")
        assert done.code == 0, done.err
        if not done.json["items"]:
            return number
        fill(Path(f"to_label_{number}.csv"), truth)
        taken = run("import", "c.db", f"to_label_{number}.csv")
        assert taken.code == 0, taken.err
    raise AssertionError("it never ends")


@pytest.fixture
def labelled(run: Run, tea: Path) -> Path:
    """A campaign over tea, all labelled."""
    truth = truth_of(tea)
    with Campaign.create("c.db", tea, budget=BUDGET, seed=5) as campaign:
        while items := campaign.ask(n=BUDGET):
            for item in items:
                campaign.tell(item, truth[item])
    return tea


@pytest.mark.parametrize("design", ["waves", "srs", "gbs:batch=20"])
def test_a_campaign_ends_where_a_simulation_with_the_same_seed_ends(run: Run, tea: Path, design: str) -> None:
    with_auxiliary = () if design == "srs" else ("--auxiliary", "confidence")
    assert start(run, tea, "--design", design, *with_auxiliary).code == 0
    label_all(run, truth_of(tea))
    simulated = run("simulate", tea, "--design", design, *with_auxiliary, "--budget", BUDGET, "--seed", 5, "--json")
    estimated = run("estimate", "c.db", "--json")
    assert {key: estimated.json[key] for key in SAME} == {key: simulated.json[key] for key in SAME}


def test_numbers_too(run: Run, price: Path) -> None:
    assert start(run, price, "--auxiliary", "spread").code == 0
    label_all(run, truth_of(price))
    asked = (price, "--auxiliary", "spread", "--budget", BUDGET, "--seed", 5, "--json")
    estimated, simulated = run("estimate", "c.db", "--json").json, run("simulate", *asked).json
    assert {key: estimated[key] for key in SAME} == {key: simulated[key] for key in SAME}
    found = run("estimate", "c.db", "--metric", "rmse", "--level", 0.96, "--json").json
    rmse = next(one for one in (found["interval"], found["beside"]) if one["basis"] == "protected")
    for bound, code in ((rmse["high"] * 1.001, 0), (rmse["low"] * 0.999, 1), ((rmse["low"] + rmse["high"]) / 2, 2)):
        assert run("check", "c.db", "--max-rmse", bound).code == code
    assert run("check", "c.db", "--min-accuracy", 0.9).code == 3


def test_whoever_asks_for_the_mean_absolute_error_is_told_how_to_get_it(run: Run, price: Path) -> None:
    assert start(run, price, "--auxiliary", "spread").code == 0
    label_all(run, truth_of(price))
    for words in (
        ("check", "c.db", "--max-mae", 1),
        ("estimate", "c.db", "--metric", "mae"),
        ("report", "c.db", "--out", "r.html", "--max-mae", 1),
    ):
        assert "--loss absolute" in run(*words).err
    assert "--loss squared" in run("simulate", price, "--budget", 30, "--loss", "absolute", "--metric", "rmse").err


def test_a_campaign_is_not_overwritten(run: Run, tea: Path) -> None:
    assert start(run, tea).code == 0
    before = Path("c.db").read_bytes()
    again = start(run, tea)
    assert (again.code, Path("c.db").read_bytes()) == (2, before)
    assert "Traceback" not in again.err
    write(Path("note.csv"), ["id"], [["a"]])
    assert run("start", tea, "--campaign", "note.csv").code == 2
    assert Path("note.csv").read_text() == "id\na\n" or Path("note.csv").read_text() == "id\r\na\r\n"


def test_slices_and_metrics_are_those_of_a_sheet(run: Run, labelled: Path) -> None:
    found = run("estimate", "c.db", "--by", "kind", "--metrics", "precision", "--html", "e.html", "--json")
    assert found.code == 0, found.err
    assert {row["slice"] for row in found.json["slices"][0]["rows"]} == {"Darjeeling", "=cmd()"}
    assert found.json["metrics"]
    assert "<h1>" in Path("e.html").read_text(encoding="utf-8")


def test_status_before_the_first_label_and_after_the_last(run: Run, tea: Path) -> None:
    start(run, tea)
    early = run("status", "c.db", "--json").json
    assert (early["labelled"], early["complete"], early["estimate"]) == (0, False, None)
    assert "no estimate yet" in run("status", "c.db").out
    label_all(run, truth_of(tea))
    late = run("status", "c.db", "--json").json
    assert (late["labelled"], late["complete"]) == (BUDGET, True)
    assert late["estimate"]["value"] == run("estimate", "c.db", "--json").json["value"]


def test_next_gives_the_same_items_again_until_they_are_labelled(run: Run, tea: Path) -> None:
    start(run, tea)
    first = run("next", "c.db", "-n", 4, "--by", "Ada", "--out", "a.csv", "--json").json["items"]
    assert run("next", "c.db", "-n", 4, "--by", "Ada", "--out", "b.csv", "--json").json["items"] == first
    others = run("next", "c.db", "-n", 4, "--by", "Bob", "--out", "d.csv", "--json").json["items"]
    assert not set(first) & set(others)
    assert {row["annotator"] for row in read(Path("a.csv"))} == {"Ada"}
    fill(Path("a.csv"), truth_of(tea))
    run("import", "c.db", "a.csv")
    assert run("status", "c.db", "--json").json["annotators"] == {"Ada": 4}


def test_next_overwrites_nothing_and_knows_its_formats(run: Run, tea: Path) -> None:
    start(run, tea)
    Path("a.csv").write_text("mine")
    assert run("next", "c.db", "--out", "a.csv").code == 2
    assert Path("a.csv").read_text() == "mine"
    assert run("next", "c.db", "--out", "a.csv", "--force").code == 0
    for words in (("--out", "a.xlsx"), ("--out", "b.csv", "--config", "c.xml"), ("--out", "t.json", "--as", "x")):
        assert run("next", "c.db", *words).code == 2


def test_predictions_are_hidden_unless_asked_for(run: Run, tea: Path) -> None:
    start(run, tea)
    run("next", "c.db", "--out", "t.json", "-n", 3)
    assert "prediction" not in Path("t.json").read_text(encoding="utf-8")
    run("next", "c.db", "--out", "p.json", "-n", 3, "--as", "right-wrong", "--config", "config.xml")
    assert all(task["data"]["prediction"] for task in json.loads(Path("p.json").read_text(encoding="utf-8")))
    choices = Xml.parse("config.xml").getroot().iter("Choice")  # noqa: S314 -- our own
    assert [choice.get("value") for choice in choices] == ["right", "wrong"]


def test_texts_that_a_model_wrote_are_in_the_sheet(run: Run, tmp_path: Path) -> None:
    pool = write(
        tmp_path / "logs.csv", ["id", "prompt", "completion"], [[at, f"p {at}", f"text {at}"] for at in range(90)]
    )
    asked = run("start", pool, "--budget", 20)
    assert "--column prediction=completion" in asked.err
    run("start", pool, "--budget", 20, "--column", "prediction=completion")
    run("next", "logs.db", "--out", "to_label.csv")
    assert {row["prediction"] for row in read(Path("to_label.csv"))} <= {f"text {at}" for at in range(90)}


def test_label_studio_tasks_come_back_as_labels(run: Run, tea: Path) -> None:
    start(run, tea)
    run("next", "c.db", "--out", "tasks.json", "-n", 5)
    tasks, truth = json.loads(Path("tasks.json").read_text(encoding="utf-8")), truth_of(tea)
    for number, task in enumerate(tasks):
        result = [{"from_name": "label", "value": {"choices": [truth[task["data"]["id"]]]}}]
        task["annotations"] = [
            {"result": [] if number == 4 else result, "was_cancelled": number == 4, "completed_by": 1}
        ]
    Path("export.json").write_text(json.dumps(tasks), encoding="utf-8")
    taken = run("import", "c.db", "export.json", "--json").json
    assert (len(taken["new"]), taken["bad"]) == (5, 0)
    progress = run("status", "c.db", "--json").json
    assert (progress["labelled"], progress["skipped"]) == (4, 1)


def test_a_file_with_a_bad_line_is_refused_as_a_whole_or_taken_in_part(run: Run, tea: Path) -> None:
    start(run, tea)
    run("next", "c.db", "--out", "a.csv", "-n", 3)
    rows = fill(Path("a.csv"), truth_of(tea))
    rewrite(Path("a.csv"), [*rows[:2], {**rows[2], "label": "coffee"}])
    refused = run("import", "c.db", "a.csv")
    assert refused.code == 2
    assert "line 4" in refused.err
    assert "coffee" in refused.err
    assert run("status", "c.db", "--json").json["labelled"] == 0
    assert run("import", "c.db", "a.csv", "--good-lines", "--dry-run").code == 0
    assert run("status", "c.db", "--json").json["labelled"] == 0
    partly = run("import", "c.db", "a.csv", "--good-lines")
    assert (partly.code, run("status", "c.db", "--json").json["labelled"]) == (0, 2)
    assert "line 4" in partly.err


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\x02", b"PK\x03\x04", b"id;label", b"[1, 2", b"id,label\nnobody,x\n", b'id,label\n"a']
)
def test_bad_files_are_errors_not_tracebacks(run: Run, tea: Path, content: bytes) -> None:
    start(run, tea)
    Path("bad.csv").write_bytes(content)
    done = run("import", "c.db", "bad.csv")
    assert done.code == (0 if content == b"id;label" else 2)
    assert "Traceback" not in done.err


@pytest.mark.parametrize("verb", ["next", "import", "status", "failures", "report", "check", "estimate"])
def test_what_is_no_campaign_is_told_in_plain_words(run: Run, tea: Path, verb: str) -> None:
    more: dict[str, tuple[Any, ...]] = {
        "next": ("--out", "n.csv"),
        "import": (tea,),
        "report": ("--out", "r.html"),
        "check": ("--min-accuracy", 0.9),
    }
    Path("broken.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    for place in ("absent.db", "broken.db", tea, "postgresql://", "."):
        done = run(verb, place, *more.get(verb, ()))
        assert done.code == (3 if verb == "check" else 2), done.err
        assert "Traceback" not in done.err


def test_failures_are_listed_and_no_cell_is_a_formula(run: Run, labelled: Path) -> None:
    truth = truth_of(labelled)
    with labelled.open(encoding="utf-8", newline="") as stream:
        said = {row["id"]: row["prediction"] for row in csv.DictReader(stream)}
    assert run("failures", "c.db", "--out", "failing.csv").code == 0
    rows = read(Path("failing.csv"))
    assert rows
    assert all(truth[row["id"]] == row["label"] != said[row["id"]] == row["prediction"] for row in rows)
    assert {row["kind"] for row in rows} <= {"Darjeeling", "'=cmd()"}
    assert len(run("failures", "c.db", "--json").json["failures"]) == len(rows)
    assert run("failures", "c.db").out.count("\n") == len(rows) + 1


def test_check_passes_fails_and_leaves_open(run: Run, labelled: Path) -> None:
    with Campaign.open("c.db") as campaign:
        interval = asdict(campaign.estimate(level=0.96).protected)
    bounds = {0: interval["low"] - 0.001, 1: interval["high"] + 0.001, 2: (interval["low"] + interval["high"]) / 2}
    elements = {0: "system-out", 1: "failure", 2: "skipped"}
    for code, bound in bounds.items():
        done = run("check", "c.db", "--min-accuracy", bound, "--junit", "j.xml", "--json")
        assert done.code == code
        assert done.json["decision"] == ["passed", "failed", "undecided"][code]
        (case,) = Xml.parse("j.xml").getroot().iter("testcase")  # noqa: S314 -- our own
        assert [child.tag for child in case] == [elements[code]]
    assert done.json["checks"][0]["more_labels"] > 0
    assert run("check", "c.db", "--min-accuracy", bounds[2], "--undecided-exit", 0).code == 0


def test_check_before_the_labels_is_undecided(run: Run, tea: Path) -> None:
    start(run, tea)
    done = run("check", "c.db", "--min-accuracy", 0.9)
    assert done.code == 2
    assert done.out.startswith("PRELIMINARY")


def test_a_budget_that_is_spent_can_be_extended(run: Run, labelled: Path) -> None:
    """Each extension is a further look, at a smaller error; before its labels are there it is preliminary."""
    middle = run("estimate", "c.db", "--json").json["value"]
    first = run("check", "c.db", "--min-accuracy", middle, "--json").json["checks"][0]["look"]
    assert (first["number"], first["error"], first["preliminary"]) == (1, pytest.approx(0.04), False)
    budget = first["labels"]
    done = run("extend", "c.db", "--budget", "+5", "--json").json
    assert done == {"budget": budget + 5, "extensions": 1, "to_label": 5}
    assert run("extend", "c.db", "--budget", budget).code == 2
    checked = run("check", "c.db", "--min-accuracy", middle, "--json")
    look = checked.json["checks"][0]["look"]
    assert (checked.code, look["number"], look["error"]) == (2, 2, pytest.approx(0.008))
    assert (look["labels"], look["labels_there"], look["preliminary"]) == (budget + 5, budget, True)


def test_a_sheet_can_be_extended(run: Run, tea: Path) -> None:
    run("sample", tea, "--budget", 30, "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    run("sample", tea, "--out", "sheet.csv", "--continue")
    fill(Path("sheet.csv"), truth_of(tea))
    done = run("extend", "sheet.csv", "--budget", 40)
    assert "--continue" in done.out
    assert "10 items to label" in run("sample", tea, "--out", "sheet.csv", "--continue").out


def test_check_reads_sheets_too(run: Run, tea: Path) -> None:
    run("sample", tea, "--budget", 30, "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    assert run("check", "sheet.csv", "--min-accuracy", 0.01).code == 0


def test_a_check_that_cannot_be_done_is_an_error_in_junit(run: Run, tmp_path: Path) -> None:
    done = run("check", "absent <&>.db", "--min-accuracy", 0.9, "--junit", "j.xml")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("StoreError: absent <&>.db: not found")
    root = Xml.parse("j.xml").getroot()  # noqa: S314 -- our own
    assert root.get("errors") == "1"
    assert [child.tag for child in next(root.iter("testcase"))] == ["error"]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--min-accuracy", 95),
        ("--max-rmse", 0),
        ("--min-acuracy", 0.9),
        ("--min-accuracy", "much"),
        ("c.db", "--min-accuracy", 0.9),
    ],
)
def test_checks_without_sense_are_no_verdict(run: Run, labelled: Path, words: tuple[object, ...]) -> None:
    assert run("check", "c.db", *words).code == 3
    assert run("status", "c.db", "--min-acuracy", 0.9).code == 2


def test_nothing_goes_into_a_closed_campaign(run: Run, labelled: Path) -> None:
    with Campaign.open("c.db") as campaign:
        campaign.close()
    write(Path("more.csv"), ["id", "label"], [["cup_0001", "black tea"]])
    assert run("import", "c.db", "more.csv").code == 2
    assert "closed" in run("next", "c.db", "--out", "n.csv").out
    assert not Path("n.csv").exists()
    assert run("estimate", "c.db").code == 0


def test_without_a_budget_it_goes_on_until_somebody_stops(run: Run, tea: Path) -> None:
    assert start(run, tea, "--objective", "balanced", budget=None).code == 0
    for number in range(3):
        run("next", "c.db", "-n", 40, "--out", f"{number}.csv")
        fill(Path(f"{number}.csv"), truth_of(tea))
        assert run("import", "c.db", f"{number}.csv").code == 0
    found = run("status", "c.db", "--json").json
    assert (found["budget"], found["complete"]) == (None, False)
    assert found["labelled"] > 40


def test_a_first_budget_may_be_what_is_drawn_already(run: Run, tea: Path) -> None:
    """It decides at the error of an extension: labels were looked at before."""
    start(run, tea, budget=None)
    early = run("check", "c.db", "--min-accuracy", "0.2")
    assert early.code == 2
    assert "`fieldcheck extend` sets" in early.out
    run("next", "c.db", "-n", 40, "--out", "first.csv")
    fill(Path("first.csv"), truth_of(tea))
    run("import", "c.db", "first.csv")
    assert "the next wave · " in run("status", "c.db").out
    done = run("extend", "c.db", "--budget", 40)
    assert (done.code, done.err) == (0, "")
    decided = run("check", "c.db", "--min-accuracy", "0.2", "--json").json["checks"][0]
    assert (decided["decision"], decided["look"]["error"]) == ("passed", pytest.approx(0.008))


def test_a_campaign_without_a_name_is_called_as_the_pool(run: Run, tea: Path) -> None:
    done = run("start", tea, "--budget", 20)
    assert f"fieldcheck label {tea.stem}.db" in done.out
    assert Path(f"{tea.stem}.db").exists()
    again = run("start", tea, "--budget", 20)
    assert again.code == 2
    assert f"fieldcheck status {tea.stem}.db" in again.err.replace(str(Path.cwd()) + "/", "")


def test_what_is_to_be_proven_is_said(run: Run, tea: Path) -> None:
    assert "until at least 20 % is proven" in start(run, tea, "--certify", "0.2", budget=None).out
    label_all(run, truth_of(tea))
    said = run("status", "c.db").out
    assert "PASSED: accuracy at least 20 %" in said
    assert "Next: the report" in said


def test_several_labels_for_an_item(run: Run, tea: Path) -> None:
    start(run, tea, "--labels-per-item", 2, "--new-class", "coffee", "--new-class", "water", budget=10)
    truth = truth_of(tea)
    for name in ("Ada", "Bob"):
        run("next", "c.db", "-n", 10, "--by", name, "--out", f"{name}.csv")
        rows = fill(Path(f"{name}.csv"), truth)
        if name == "Bob":
            rewrite(Path("Bob.csv"), [{**rows[0], "label": "Coffee"}, *rows[1:]])
        taken = run("import", "c.db", f"{name}.csv")
        assert taken.code == 0, taken.err
    assert "different" in taken.err
    found = run("status", "c.db", "--json").json
    assert (found["disputed"], found["agreement"]) == (1, 0.9)
    stuck = run("next", "c.db", "--by", "Ada", "--out", "ada2.csv").out
    assert "1 item waits for the lead, because people disagree" in stuck
    assert run("next", "c.db", "--disputed", "--out", "disputed.csv").out.endswith("--settle --by lead\n")
    fill(Path("disputed.csv"), truth)
    shutil.copy("c.db", "settled.db")
    taken = run("import", "settled.db", "disputed.csv", "--settle", "--by", "lead")
    assert (taken.code, taken.err) == (0, "")
    assert run("status", "settled.db", "--json").json["complete"]
    assert "1 known already" in run("import", "settled.db", "disputed.csv", "--settle", "--by", "lead").out
    assert "nothing to settle" in run("next", "settled.db", "--disputed", "--out", "d2.csv").out
    assert len(run("next", "c.db", "--by", "Eve", "--out", "eve.csv", "--json").json["items"]) == 1


def test_the_report_is_one_file(run: Run, labelled: Path) -> None:
    done = run("report", "c.db", "--out", "r.html", "--min-accuracy", 0.5, "--by", "kind", "--json")
    assert done.code == 0, done.err
    text = Path("r.html").read_text(encoding="utf-8")
    assert "accuracy at least 50 %" in text
    assert run("report", "c.db", "--out", "r.html", "--min-accuracy", 0.5, "--max-rmse", 1).code == 2
    assert run("report", "c.db", "--out", "no/such/r.html").code == 2
    assert run("report", "c.db", "--out", "r.html", "--by", "nonsense").code == 2


def test_a_pool_that_was_moved_is_named_again(run: Run, tea: Path, tmp_path: Path) -> None:
    start(run, tea)
    (tmp_path / "away").mkdir()
    tea.rename(tmp_path / "away" / "elsewhere.csv")
    gone = run("status", "c.db")
    assert (gone.code, "--pool" in gone.err) == (2, True)
    assert run("status", "c.db", "--pool", "away/elsewhere.csv").code == 0
    assert run("status", "c.db").code == 0
    write(Path("other.csv"), ["id", "prediction"], [["a", "b"]])
    assert run("status", "c.db", "--pool", "other.csv").code == 2
    assert run("status", "c.db").code == 0


def test_several_people_for_each_item_are_spoken_of(run: Run, tea: Path) -> None:
    begun = start(run, tea, "--design", "srs", "--labels-per-item", 2, budget=4)
    assert "4 items with 2 labels each" in begun.out
    run("next", "c.db", "-n", 1, "--out", "a.csv", "--by", "Ada")
    rewrite(Path("a.csv"), [{**read(Path("a.csv"))[0], "label": "?"}])
    run("import", "c.db", "a.csv")
    assert "1 item waits for more of its 2 people" in run("status", "c.db").out
    assert json.loads(run("status", "c.db", "--json").out)["begun"] == 1


def test_one_of_a_thing_is_one_thing(run: Run, tea: Path) -> None:
    start(run, tea, "--design", "srs", budget=2)
    assert run("next", "c.db", "-n", 1, "--out", "a.csv").out.startswith("1 item to label")
    rewrite(Path("a.csv"), [{**read(Path("a.csv"))[0], "label": "coffee"}])
    assert "1 line cannot be taken" in run("import", "c.db", "a.csv").err
    rewrite(Path("a.csv"), [{**read(Path("a.csv"))[0], "label": "?"}])
    assert "1 new (1 skipped item among them)" in run("import", "c.db", "a.csv").out
    assert "1 item to label" in run("status", "c.db").out
    assert "1 item is waiting" in page_of(run)
    run("next", "c.db", "-n", 1, "--out", "b.csv", "--by", "Ada")
    assert "1 item is with others" in run("next", "c.db", "--out", "d.csv", "--by", "Bob").out


def page_of(run: Run) -> str:
    assert run("report", "c.db", "--out", "r.html").code == 0
    return Path("r.html").read_text(encoding="utf-8")


def test_a_file_that_names_another_than_by_is_refused(run: Run, tea: Path) -> None:
    start(run, tea)
    run("next", "c.db", "--out", "a.csv", "-n", 2, "--by", "Ada")
    fill(Path("a.csv"), truth_of(tea))
    refused = run("import", "c.db", "a.csv", "--by", "Bob")
    assert refused.code == 2
    assert "line 2: it names 'Ada', and --by names 'Bob'" in refused.err
    assert run("import", "c.db", "a.csv", "--by", "ada").code == 0
    assert run("status", "c.db", "--json").json["annotators"] == {"Ada": 2}


def test_both_lines_of_a_clash_are_named(run: Run, tea: Path) -> None:
    start(run, tea)
    run("next", "c.db", "--out", "a.csv", "-n", 2)
    first, second = fill(Path("a.csv"), truth_of(tea))
    other = next(name for name in truth_of(tea).values() if name != first["label"])
    rewrite(Path("a.csv"), [first, second, {**first, "label": other}])
    done = run("import", "c.db", "a.csv", "--good-lines")
    assert done.code == 0
    assert "a.csv, line 2: " in done.err
    assert "a.csv, line 4: " in done.err
    assert "1 new, 2 bad" in done.out


def test_a_backup_is_restored_and_verified_elsewhere(run: Run, labelled: Path, tmp_path: Path) -> None:
    assert run("backup", "c.db", "--out", "copy.db").code == 0
    assert "--force" in run("backup", "c.db", "--out", "copy.db").err
    assert run("backup", "c.db", "--out", "copy.db", "--force").code == 0
    assert run("backup", "c.db").code == 0
    assert len(list(tmp_path.glob("c-2*.db"))) == 1
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("copy.db", labelled.name):
        (tmp_path / name).rename(elsewhere / name)
    found, first = run("verify", "elsewhere/copy.db", "--json"), run("verify", "c.db", "--pool", "elsewhere/tea.csv")
    assert (found.code, found.json["holds"]) == (0, True)
    assert [check["holds"] for check in found.json["checks"]] == [True] * 5
    assert found.json["estimate"]["value"] == run("estimate", "elsewhere/copy.db", "--json").json["value"]
    assert first.code == 0
    assert found.json["fingerprint"] in first.out


def test_verify_says_what_does_not_hold_and_what_it_cannot_tell(run: Run, labelled: Path, tmp_path: Path) -> None:
    assert run("verify", "none.db").code == 3
    (tmp_path / "text.db").write_text("no campaign")
    assert run("verify", "text.db").code == 3
    labelled.write_text(labelled.read_text().replace("0.9", "0.8"))
    other = run("verify", "c.db")
    assert other.code == 1
    assert "pool" in other.out
    assert "NOT the one" in other.out
    with sqlite3.connect("c.db") as connection:
        connection.execute("DROP TRIGGER no_update")
        connection.execute("UPDATE events SET annotator = 'Eve' WHERE number = 5")
    connection.close()
    damaged = run("verify", "c.db", "--json")
    assert (damaged.code, damaged.json["holds"]) == (1, False)
    assert "event 5 is damaged" in damaged.json["checks"][0]["words"]
    labelled.unlink()
    assert run("verify", "c.db").code == 1  # damage is found without the pool


def test_instructions_and_descriptions_of_classes(run: Run, tea: Path) -> None:
    Path("how.md").write_text("# How\n\nSniff first.", encoding="utf-8")
    Path("classes.csv").write_text('name,description\ncoffee,"brown, bitter"\n', encoding="utf-8")
    given = ("--instructions", "how.md", "--class-descriptions", "classes.csv")
    refused = start(run, tea, *given)
    assert refused.code == 2
    assert "a description of 'coffee'" in refused.err
    assert "--new-class coffee" in refused.err
    assert start(run, tea, *given, "--new-class", "coffee").code == 0
    with Campaign.open("c.db") as campaign:
        assert campaign.settings.instructions.endswith("Sniff first.")
        assert campaign.settings.descriptions == {"coffee": "brown, bitter"}


@pytest.mark.parametrize("text", ["coffee", "coffee,", "a,b,c"])
def test_a_table_of_descriptions_that_is_none(run: Run, tea: Path, text: str) -> None:
    Path("classes.csv").write_text(text, encoding="utf-8")
    refused = start(run, tea, "--class-descriptions", "classes.csv")
    assert (refused.code, "two columns: name, description" in refused.err) == (2, True)
    assert not Path("c.db").exists()
