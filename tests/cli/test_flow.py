"""The whole way: sample, people label, estimate; it ends where ``simulate`` ends with the same seed."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

from fieldcheck.accuracy import designs

from .sheets import Run, fill, outcomes_of, read, rewrite, truth_of, write

SAME = ("metric", "value", "interval", "standard_error", "labels", "failures", "population", "design", "auxiliary")
BUDGET = 60
AT_ONCE = (
    *("srs", "srs:replace=yes", "css", "sups", "rhc", "ssrs", "ssrs:k=4", "2ups"),
    *("deepest", "deepest:r=0.6,weights=selected"),
)
IN_ROUNDS = ("gbs:batch=20", "gbs:batch=7,replace=yes", "waves")
REGRESSION = ("srs", "css", "sups", "rhc", "ssrs", "2ups", "deepest")


def needs(design: str, auxiliary: str) -> list[str]:
    return [] if design.startswith("srs") else ["--auxiliary", auxiliary]


def check_same(run: Run, sheet: Path, *assess: object) -> None:
    """The estimate from the sheet is that of the simulated campaign, to the last bit."""
    estimated, simulated = run("estimate", sheet, "--json"), run("simulate", *assess, "--json")
    assert (estimated.code, simulated.code) == (0, 0), estimated.err + simulated.err
    assert {key: estimated.json[key] for key in SAME} == {key: simulated.json[key] for key in SAME}


def test_every_design_goes_the_whole_way() -> None:
    """A design that is added to the registry is added to the lists above."""
    walked = {spec.partition(":")[0] for spec in (*AT_ONCE, *IN_ROUNDS, "ces")}
    assert walked == set(designs.registry)


@pytest.mark.parametrize("design", AT_ONCE)
@pytest.mark.parametrize("labels", [truth_of, outcomes_of])
def test_labels_give_what_assess_gives(run: Run, tea: Path, design: str, labels: object) -> None:
    asked = (tea, "--design", design, *needs(design, "confidence"), "--budget", BUDGET, "--seed", 5)
    assert run("sample", *asked, "--out", "sheet.csv").code == 0
    fill(Path("sheet.csv"), labels(tea))  # type: ignore[operator]
    check_same(run, Path("sheet.csv"), *asked)


@pytest.mark.parametrize("design", REGRESSION)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_regression_numbers_give_what_assess_gives(run: Run, price: Path, design: str, loss: str) -> None:
    asked = (price, "--design", design, *needs(design, "spread"), "--budget", BUDGET, "--seed", 5, "--loss", loss)
    assert run("sample", *asked, "--out", "sheet.csv").code == 0
    fill(Path("sheet.csv"), truth_of(price))
    check_same(run, Path("sheet.csv"), *asked)


def test_a_failure_threshold_travels_with_the_sheet(run: Run, price: Path) -> None:
    asked = (price, "--design", "srs", "--budget", BUDGET, "--threshold", 0.3)
    run("sample", *asked, "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(price))
    check_same(run, Path("sheet.csv"), *asked)


def test_ces_takes_activations(run: Run, tea: Path, layer: Path) -> None:
    asked = (tea, "--design", "ces:groups=20", "--budget", BUDGET, "--activations", layer)
    assert run("sample", *asked, "--out", "sheet.csv").code == 0
    fill(Path("sheet.csv"), truth_of(tea))
    check_same(run, Path("sheet.csv"), *asked)


@pytest.mark.parametrize("kind", ["tea", "price"])
@pytest.mark.parametrize("design", IN_ROUNDS)
def test_designs_that_learn_go_on_in_rounds(run: Run, request: pytest.FixtureRequest, kind: str, design: str) -> None:
    pool = request.getfixturevalue(kind)
    auxiliary = "confidence" if kind == "tea" else "spread"
    asked = (pool, "--design", design, "--auxiliary", auxiliary, "--budget", BUDGET, "--seed", 2)
    complete = run("sample", *asked, "--out", "sheet.csv", "--json").json["complete"]
    rounds = 0
    while not complete:
        fill(Path("sheet.csv"), truth_of(pool))
        more = run("sample", pool, "--out", "sheet.csv", "--continue", "--json")
        assert more.code == 0, more.err
        complete, rounds = more.json["complete"], rounds + 1
    fill(Path("sheet.csv"), truth_of(pool))
    assert rounds >= 1
    check_same(run, Path("sheet.csv"), *asked)


def test_an_unfinished_gbs_sheet_says_so(run: Run, tea: Path) -> None:
    run("sample", tea, "-d", "gbs:batch=20", "-a", "confidence", "-n", BUDGET, "-o", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    run("sample", tea, "-o", "sheet.csv", "--continue")
    fill(Path("sheet.csv"), truth_of(tea))
    assert "of the budget to go · fieldcheck sample" in run("estimate", "sheet.csv", "--json").json["next"]


def test_continuing_keeps_labels_and_asks_only_for_new_ones(run: Run, tea: Path) -> None:
    run("sample", tea, "-d", "gbs:batch=20", "-a", "confidence", "-n", BUDGET, "-o", "sheet.csv")
    before = fill(Path("sheet.csv"), truth_of(tea))
    done = run("sample", tea, "-o", "sheet.csv", "--continue", "--json")
    after = read(Path("sheet.csv"))
    assert after[: len(before)] == before
    assert [row["id"] for row in after if not row["label"]] == done.json["to_label"]


def test_continuing_keeps_what_people_wrote_beside_their_labels(run: Run, tea: Path) -> None:
    run("sample", tea, "-d", "gbs:batch=20", "-a", "confidence", "-n", BUDGET, "-o", "sheet.csv")
    rows = fill(Path("sheet.csv"), truth_of(tea))
    rewrite(Path("sheet.csv"), [{"who": "Ada", **row, "remark": f"=cup {at}"} for at, row in enumerate(rows)])
    assert run("sample", tea, "-o", "sheet.csv", "--continue").code == 0
    after = read(Path("sheet.csv"))
    assert list(after[0]) == ["who", "id", "kind", "label", "reason", "remark"]
    assert [row["remark"] for row in after[: len(rows)]] == [f"=cup {at}" for at in range(len(rows))]
    assert {row["who"] for row in after[: len(rows)]} == {"Ada"}
    assert {row["who"] for row in after[len(rows) :]} == {""}


def test_items_drawn_twice_are_labelled_once(run: Run, tea: Path) -> None:
    run("sample", tea, "--design", "srs:replace=yes", "--budget", 200, "--out", "sheet.csv")
    ids = [row["id"] for row in read(Path("sheet.csv"))]
    assert len(ids) == len(set(ids)) < 200


def _semicolons(path: Path) -> None:
    rows = read(path)
    text = "\n".join(";".join(f'"{cell}"' for cell in row) for row in [list(rows[0]), *(r.values() for r in rows)])
    path.write_text(text, encoding="utf-8")


def _shuffled(path: Path) -> None:
    rows = read(path)
    random.Random(1).shuffle(rows)  # noqa: S311 -- any order
    rewrite(path, rows)


def _with_mark(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def _unix_to_windows(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def _extra_columns(path: Path) -> None:
    rewrite(path, [{"who": "Ada", **row, "remark": "easy; really"} for row in read(path)])


def _tabs(path: Path) -> None:
    rows = read(path)
    path.write_text("\n".join("\t".join(row) for row in [list(rows[0]), *(r.values() for r in rows)]), encoding="utf-8")


def _blank_lines(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + ",,\n\n", encoding="utf-8")


def _decomposed(path: Path) -> None:
    import unicodedata

    path.write_text(unicodedata.normalize("NFD", path.read_text(encoding="utf-8")), encoding="utf-8")


def _shouted(path: Path) -> None:
    rewrite(path, [{**row, "label": row["label"].upper()} for row in read(path)])


@pytest.mark.parametrize(
    "change",
    [
        *(_semicolons, _shuffled, _with_mark, _unix_to_windows, _extra_columns),
        *(_tabs, _blank_lines, _decomposed, _shouted),
    ],
)
def test_what_spreadsheets_do_to_a_sheet_does_not_matter(run: Run, tea: Path, change: object) -> None:
    run("sample", tea, "--budget", 30, "--out", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea))
    plain = run("estimate", "sheet.csv", "--json")
    change(Path("sheet.csv"))  # type: ignore[operator]
    assert run("estimate", "sheet.csv", "--json").out == plain.out != ""


def test_whole_numbers_may_come_back_with_a_decimal_point(run: Run, tmp_path: Path) -> None:
    pool = write(tmp_path / "digits.csv", ["id", "prediction"], ([item, item % 10] for item in range(40)))
    run("sample", pool, "--budget", 20, "--out", "sheet.csv")
    rows = [{"id": f"{row['id']}.0", "label": f"{int(row['id']) % 10}.0"} for row in read(Path("sheet.csv"))]
    rewrite(Path("sheet.csv"), rows)
    done = run("estimate", "sheet.csv", "--json").json
    assert (done["value"], done["labels"]) == (1.0, 20)


def test_zeros_before_a_number_may_be_lost(run: Run, tmp_path: Path) -> None:
    pool = write(tmp_path / "files.csv", ["id", "prediction"], ([f"{item:05d}", "a"] for item in range(30)))
    run("sample", pool, "--budget", 10, "--out", "sheet.csv")
    rewrite(Path("sheet.csv"), [{"id": str(int(row["id"])), "label": "a"} for row in read(Path("sheet.csv"))])
    assert run("estimate", "sheet.csv", "--json").json["labels"] == 10


def test_truth_values_come_back_in_any_case(run: Run, tmp_path: Path) -> None:
    pool = write(tmp_path / "spam.csv", ["id", "prediction"], ([item, item % 2 == 0] for item in range(30)))
    run("sample", pool, "--budget", 10, "--out", "sheet.csv")
    labels = {str(item): "TRUE" if item % 2 == 0 else "FALSE" for item in range(30)}
    fill(Path("sheet.csv"), labels)
    assert run("estimate", "sheet.csv", "--json").json["value"] == 1.0


def test_formulas_are_written_harmless_and_matched_on_the_way_back(run: Run, tmp_path: Path) -> None:
    names = ["=cmd()", "+a", "-b", "@c", "'=d", "plain", "-1.5e", "x"]
    rows = ([name, "-yes" if at % 2 else "=no", f"={name}"] for at, name in enumerate(names))
    pool = write(tmp_path / "evil.csv", ["id", "prediction", "remark"], rows)
    run("sample", pool, "-d", "srs", "--budget", 8, "--out", "sheet.csv", "--show-predictions")
    cells = [cell for row in read(Path("sheet.csv")) for cell in row.values() if cell]
    assert not [cell for cell in cells if cell[0] in "=+-@\t\r"]
    rewrite(Path("sheet.csv"), [{**row, "label": row["prediction"]} for row in read(Path("sheet.csv"))])
    done = run("estimate", "sheet.csv", "--json").json
    assert (done["value"], done["labels"]) == (1.0, 8)


def test_labels_that_look_like_formulas_survive_further_rounds(run: Run, tmp_path: Path) -> None:
    rows = ([item, "=a" if item % 2 else "-b", (item % 17) / 17] for item in range(60))
    pool = write(tmp_path / "evil.csv", ["id", "prediction", "confidence"], rows)
    run("sample", pool, "-d", "gbs:k=3,batch=5", "-n", 20, "-o", "sheet.csv")
    for _ in range(3):
        fill(Path("sheet.csv"), {str(item): "=a" if item % 2 else "-b" for item in range(60)})
        assert run("sample", pool, "-o", "sheet.csv", "--continue").code == 0
    fill(Path("sheet.csv"), {str(item): "=a" if item % 2 else "-b" for item in range(60)})
    assert run("estimate", "sheet.csv", "--json").json["value"] == 1.0


def test_a_pool_with_its_own_label_column_does_not_get_in_the_way(run: Run, tmp_path: Path) -> None:
    rows = ([item, "a", "b" if item % 2 else "", "said"] for item in range(30))
    pool = write(tmp_path / "partly.csv", ["id", "prediction", "Label", "note"], rows)
    run("sample", pool, "--budget", 10, "--out", "sheet.csv")
    assert list(read(Path("sheet.csv"))[0]) == ["id", "note", "label", "reason"]
    fill(Path("sheet.csv"), {str(item): "a" for item in range(30)})
    assert run("estimate", "sheet.csv", "--json").json["value"] == 1.0


def test_long_documents_are_read_as_they_were_written(run: Run, tmp_path: Path) -> None:
    pool = write(tmp_path / "docs.csv", ["id", "prediction", "text"], ([n, "a", "long " * 20_000] for n in range(11)))
    run("sample", pool, "--budget", 10, "--out", "sheet.csv")
    text = Path("sheet.csv").read_text(encoding="utf-8")
    Path("sheet.csv").write_text(text.replace("long,,\n", "long,a,\n"), encoding="utf-8")
    assert run("estimate", "sheet.csv", "--json").json["labels"] == 10


def test_predictions_are_hidden_from_labellers_unless_asked_for(run: Run, tea: Path) -> None:
    run("sample", tea, "--budget", 10, "--out", "hidden.csv")
    run("sample", tea, "--budget", 10, "--out", "shown.csv", "--show-predictions")
    assert list(read(Path("hidden.csv"))[0]) == ["id", "kind", "label", "reason"]
    assert list(read(Path("shown.csv"))[0]) == ["id", "prediction", "kind", "label", "reason"]


@pytest.mark.parametrize("design", ["srs", "css", "sups", "ssrs:k=3", "2ups", "deepest"])
def test_the_first_labels_give_a_first_estimate(run: Run, tea: Path, design: str) -> None:
    run("sample", tea, "-d", design, "-n", BUDGET, "-o", "sheet.csv")
    fill(Path("sheet.csv"), truth_of(tea), first=30)
    done = run("estimate", "sheet.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["labels"] == 30
    assert done.json["warnings"] == []


def test_labels_after_a_gap_are_not_used_and_this_is_said(run: Run, tea: Path) -> None:
    run("sample", tea, "-d", "srs", "-n", BUDGET, "-o", "sheet.csv")
    rows = fill(Path("sheet.csv"), truth_of(tea))
    rows[30]["label"] = ""
    rewrite(Path("sheet.csv"), rows)
    done = run("estimate", "sheet.csv", "--json").json
    assert done["labels"] == 30
    assert f"29 labels count only once item '{rows[30]['id']}'" in " ".join(done["warnings"])


def test_classes_and_outcomes_in_one_sheet_are_read_as_in_a_campaign(run: Run, tea: Path) -> None:
    asked = (tea, "--design", "srs", "--budget", BUDGET, "--seed", 5)
    run("sample", *asked, "--out", "sheet.csv")
    classes, outcomes = truth_of(tea), outcomes_of(tea)
    fill(Path("sheet.csv"), {name: (classes if at % 2 else outcomes)[name] for at, name in enumerate(classes)})
    check_same(run, Path("sheet.csv"), *asked)


def test_a_class_is_spelt_right_or_declared(run: Run, tea: Path) -> None:
    run("sample", tea, "--design", "srs", "--budget", BUDGET, "--out", "sheet.csv")
    rows = fill(Path("sheet.csv"), truth_of(tea))
    rows[3]["label"] = "blak tea"
    rewrite(Path("sheet.csv"), rows)
    refused = run("estimate", "sheet.csv")
    assert refused.code != 0
    assert "line 5: label 'blak tea'" in refused.err
    assert "black tea" in refused.err
    rows[3]["label"] = "coffee"
    rewrite(Path("sheet.csv"), rows)
    assert "--new-class 'coffee'" in " ".join(run("estimate", "sheet.csv").err.split())
    declared = run("estimate", "sheet.csv", "--new-class", "coffee")
    assert declared.code == 0, declared.err
    assert run("estimate", "sheet.csv").code == 0


def test_what_is_printed_works_when_pasted(run: Run, tmp_path: Path) -> None:
    """How columns were mapped is remembered; no command has to say it twice."""
    rows = ([f"k{item}", "ab"[item % 2], (60 + item % 40) / 100] for item in range(80))
    pool = write(tmp_path / "my export.csv", ["col a", "col b", "col c"], rows)
    mapped = ("-c", "id=col a", "-c", "prediction=col b", "-c", "confidence=col c")
    done = run("sample", pool, *mapped, "--budget", 40, "--out", "a b.csv")
    assert done.code == 0, done.err
    labels = {f"k{item}": "ab"[item % 2] for item in range(80)}
    words = shlex.split(done.out.partition("for further items: ")[2])
    for _ in range(2):
        fill(Path("a b.csv"), labels)
        assert words[:2] == ["fieldcheck", "sample"], done.out
        done = run(*words[1:])
        assert done.code == 0, done.err
        if "then: " in done.out:
            break
    fill(Path("a b.csv"), labels)
    words = shlex.split(done.out.partition("then: ")[2])
    assert run(*words[1:], "--json").json["value"] > 0.999


def test_one_reader_for_sheets_and_campaigns(run: Run, tea: Path) -> None:
    """All labels agree with the model, half of them as classes, half as right: every way to read them says 100 %."""
    run("sample", tea, "--design", "srs", "--budget", 40, "--out", "s.csv", "--show-predictions")
    rows = read(Path("s.csv"))
    rewrite(Path("s.csv"), [{**row, "label": "right" if at % 2 else row["prediction"]} for at, row in enumerate(rows)])
    assert run("estimate", "s.csv", "--json").json["value"] == 1.0
    run("start", tea, "--campaign", "e.db", "--design", "srs", "--budget", 40)
    assert run("import", "e.db", "s.csv").code == 0
    assert run("estimate", "e.db", "--json").json["value"] == 1.0
    rewrite(Path("s.csv"), [{**rows[0], "label": rows[0]["prediction"] + "x"}, *rows[1:]])
    for done in (run("estimate", "s.csv"), run("import", "e.db", "s.csv")):
        assert done.code == 2, done.out
        assert "is no class" in done.err, done.err


def test_a_cleared_cell_takes_the_label_back(run: Run, tea: Path) -> None:
    run("sample", tea, "--design", "srs", "--budget", 20, "--out", "s.csv")
    rows = fill(Path("s.csv"), truth_of(tea))
    assert run("estimate", "s.csv", "--json").json["labels"] == 20
    rewrite(Path("s.csv"), [*rows[:-1], {**rows[-1], "label": ""}])
    assert run("estimate", "s.csv", "--json").json["labels"] == 19


def test_a_sheet_without_its_campaign(run: Run, tea: Path) -> None:
    run("sample", tea, "--design", "srs", "--budget", 20, "--out", "s.csv")
    assert "exists already" in run("sample", tea, "--budget", 20, "--out", "s.csv").err
    assert run("sample", tea, "--design", "srs", "--budget", 10, "--out", "s.csv", "--force").code == 0
    assert len(read(Path("s.csv"))) == 10
    Path("s.campaign.db").unlink()
    done = run("estimate", "s.csv")
    assert done.code == 2
    assert "s.campaign.db: not found" in done.err
