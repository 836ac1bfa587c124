"""Files of labels: what is read from them, what is refused and where, and what a campaign takes."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange import csv as label_csv
from fieldcheck.campaign.exchange import formats, label_studio, labels
from fieldcheck.campaign.exchange.base import Fault, LabelLine
from fieldcheck.campaign.exchange.export import (
    as_file,
    copy_pictures,
    file_name,
    labelling_config,
)
from fieldcheck.campaign.exchange.intake import Intake, prepare, take
from fieldcheck.campaign.exchange.reading import read_lines
from fieldcheck.campaign.item_state import Annotation
from fieldcheck.core.errors import CampaignError, LabelError, StoreError
from fieldcheck.core.label import Missing, TrueClass
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files import text as long_cells
from fieldcheck.sources.pools.arrays import from_arrays

CLASSES = ("cat", "dog", "-bird")


def pool_of(**more: Any) -> Pool:
    said = [CLASSES[at % 3] for at in range(30)]
    return from_arrays(y_pred=said, ids=[f"i{at:02d}" for at in range(30)], **more)


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """All of ten items drawn, by simple random sampling."""
    with Campaign.create(tmp_path / "c.db", pool_of(), "srs", budget=10, seed=1) as made:
        yield made


@pytest.fixture
def ids(campaign: Campaign) -> list[str]:
    return list(campaign.state.items)


def lines_of(path: Path, **options: Any) -> list[LabelLine | Fault]:
    return list(read_lines(path, **options))


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def export(*tasks: Any) -> str:
    return json.dumps(tasks)


def task(item: str, *annotations: Any) -> dict[str, Any]:
    return {"id": 7, "data": {"id": item, "fieldcheck_id": item}, "annotations": list(annotations)}


def choice(*choices: str, by: Any = None, name: str = "label") -> dict[str, Any]:
    value = {"choices": list(choices)}
    result = [{"from_name": name, "to_name": "item", "type": "choices", "value": value}]
    return {"result": result, "completed_by": by, "was_cancelled": False}


def test_a_table_is_read_whatever_a_spreadsheet_made_of_it(tmp_path: Path) -> None:
    wanted = [LabelLine("line 2", "a", "cat"), LabelLine("line 3", "b", "")]
    for text in ("id,label\na,cat\nb,\n", "id;label\r\na;cat\r\nb;\r\n", "\ufeffid\tlabel\na\tcat\nb\t\n"):
        assert lines_of(written(tmp_path / "l.csv", text)) == wanted


def test_names_reasons_and_label_studios_own_ids_have_their_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "l.csv", "id,Fieldcheck_ID,LABEL,annotator,reason\n812,a,?,Ada,too dark\n")
    assert lines_of(path) == [LabelLine("line 2", "a", "?", "Ada", reason="too dark")]


def test_label_studios_own_tables_wrap_numbers_up(tmp_path: Path) -> None:
    """As Label Studio 1.23.2 exports them."""
    text = '"annotator","fieldcheck_id","id","label"\n"1","a","a","[{""number"":8.25}]"\n"","b","b","[{"\n'
    path = written(tmp_path / "l.csv", text)
    assert lines_of(path) == [LabelLine("line 2", "a", "8.25", "annotator 1"), LabelLine("line 3", "b", "[{")]


def test_lines_are_counted_where_an_editor_shows_them(tmp_path: Path) -> None:
    path = written(tmp_path / "l.csv", 'id,text,label\na,"one\ntwo\nthree",cat\n\nb,x\nc,x,dog\n')
    assert lines_of(path) == [
        LabelLine("line 2", "a", "cat"),
        Fault("line 6", "2 cells for 3 columns; quote cells that contain the separator"),
        LabelLine("line 7", "c", "dog"),
    ]


def test_a_line_that_is_not_text_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    found = lines_of(written(tmp_path / "l.csv", b"id,label\na,caf\xe9\nb,dog\n"))
    assert [type(one) for one in found] == [Fault, LabelLine]
    assert "UTF-8" in str(found[0])
    assert str(found[0]).startswith("line 2")
    assert lines_of(written(tmp_path / "l.csv", b"id,label\na,caf\xe9\n"), encoding="latin-1") == [
        LabelLine("line 2", "a", "café")
    ]


def test_wide_text_is_read_when_it_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "l.csv", "id,label\na,cat\n".encode("utf-16"))
    assert lines_of(path, encoding="utf-16") == [LabelLine("line 2", "a", "cat")]
    with pytest.raises(LabelError, match="utf-16"):
        lines_of(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \r\n", "empty"),
        (b"a,b\n1,2\n", "no column 'id'"),
        (b"id,text\n1,2\n", "no column 'label'"),
        (b"PK\x03\x04rest", "spreadsheet"),
        (b'id,label\n"a,cat\n', "line 2"),
        (b'[{"data": {"id": "a"}}', "not JSON"),
        (b'[{"data": {"id": "a"}} {}]', "comma"),
        (b'[\n{"id": 1},\n{"id" 2}]', "after line 3"),
        (b"[" + b"9" * 5000 + b"]", "not JSON"),
        (b"[" * 200_000, "not JSON"),
    ],
)
def test_files_that_cannot_be_read_are_refused_with_the_place(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(LabelError, match=words):
        lines_of(written(tmp_path / "labels", content))


def test_missing_files_folders_and_encodings_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path):
        with pytest.raises(LabelError):
            lines_of(path)
    with pytest.raises(LabelError, match="no encoding"):
        lines_of(written(tmp_path / "l.csv", "id,label\n"), encoding="utf-99")


def test_one_endless_line_is_refused_before_it_is_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_csv, "LONGEST", 1000)
    for text in ("id,label\na," + "x" * 5000 + "\n", "id,label\n" + 'a,"' + "x\n" * 5000):
        with pytest.raises(LabelError, match="longer than"):
            lines_of(written(tmp_path / "l.csv", text))
    assert len(lines_of(written(tmp_path / "l.csv", "id,label\n" + "a,cat\n" * 500))) == 500


def test_two_files_with_long_cells_are_read_at_once(tmp_path: Path) -> None:
    """Python's limit for a cell is one for the whole process: the end of one file must not lower it for the other."""
    text = "id,text,label\n" + "".join(f"i{at},{'x' * 200_000},cat\n" for at in range(3))
    slow, quick = (read_lines(written(tmp_path / name, text)) for name in ("slow.csv", "quick.csv"))
    assert next(iter(slow)) is not None
    assert len(list(quick)) == 3
    assert len(list(slow)) == 2
    assert csv.field_size_limit() == long_cells.USUAL_CELL  # and nothing of it is left to others


def test_one_endless_task_is_refused_before_it_is_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_studio, "LONGEST", 200_000)
    path = written(tmp_path / "l.json", '[{"data": "' + "x" * 1_000_000 + '"}]')
    with pytest.raises(LabelError, match="never ends"):
        lines_of(path)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_large_file_takes_no_more_memory_than_a_small_one(campaign: Campaign, tmp_path: Path, kind: str) -> None:
    """Both files are many times larger than what their reading may hold at a time."""
    row = "nobody,cat," + "x" * 500 + "\n"
    one = json.dumps(task("nobody", choice("cat")) | {"meta": "x" * 500})
    text = "id,label,text\n" + row * 6_000 if kind == "csv" else "[" + ",\n".join([one] * 6_000) + "]"
    path = written(tmp_path / f"l.{kind}", text)
    tracemalloc.start()
    found = prepare(campaign, read_lines(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.faulty, len(found.faults)) == (6_000, 100)
    assert peak < path.stat().st_size / 5


CASES = [
    (task("a", choice("cat", by=3)), [LabelLine("task 1", "a", "cat", "annotator 3")]),
    (task("a", choice("cat", by={"id": 3, "email": "a@b.c"})), [LabelLine("task 1", "a", "cat", "a@b.c")]),
    (
        task("a", choice("cat", by=1), choice("dog", by=2)),
        [LabelLine("task 1", "a", "cat", "annotator 1"), LabelLine("task 1", "a", "dog", "annotator 2")],
    ),
    (
        task("a", {"result": [], "was_cancelled": True, "completed_by": 1}),
        [LabelLine("task 1", "a", "", "annotator 1", skipped=True, reason="skipped in Label Studio")],
    ),
    (task("a", {"result": []}), [LabelLine("task 1", "a", "")]),
    (task("a"), []),
    ({"data": {"id": "a"}}, []),
    ({"data": {"id": 12}, "annotations": [choice("cat")]}, [LabelLine("task 1", "12", "cat")]),
    (task("a", {"result": [{"from_name": "label", "value": {"number": 2.5}}]}), [LabelLine("task 1", "a", "2.5")]),
    (task("a", {"result": [{"value": {"text": [" right "]}}]}), [LabelLine("task 1", "a", "right")]),
    ({"id": 7, "fieldcheck_id": "a", "label": "cat", "annotator": 2}, [LabelLine("task 1", "a", "cat", "annotator 2")]),
    ({"id": 7, "fieldcheck_id": "a", "label": {"choices": ["cat"]}}, [LabelLine("task 1", "a", "cat")]),
    ({"id": 7, "fieldcheck_id": "a", "label": [{"number": 8.25}]}, [LabelLine("task 1", "a", "8.25")]),
    ({"id": 7, "fieldcheck_id": "a"}, [LabelLine("task 1", "a", "")]),
]


@pytest.mark.parametrize(("found", "wanted"), CASES)
def test_what_label_studio_exports_is_read(tmp_path: Path, found: Any, wanted: list[LabelLine]) -> None:
    assert lines_of(written(tmp_path / "e.json", export(found))) == wanted


@pytest.mark.parametrize(
    "found",
    [
        *("text", None, 3, []),
        {"id": 7, "label": "cat"},
        {"data": {"image": "a.png"}, "annotations": [choice("cat")]},
        task("a", choice("cat", "dog")),
        task("a", {"result": [*choice("cat", name="x")["result"], *choice("dog", name="y")["result"]]}),
        task("a", {"result": [{"value": {"rectanglelabels": ["cat"]}}]}),
        task("a", choice("\ud800")),
        task("a", choice("\0")),
        task("a", choice("x" * 2_000)),
        task("a", {"result": [{"value": {"choices": [{"deep": 1}]}}]}),
        task("a", "annotation"),
    ],
)
def test_tasks_that_cannot_be_understood_are_named(tmp_path: Path, found: Any) -> None:
    (fault,) = lines_of(written(tmp_path / "e.json", export(found)))
    assert isinstance(fault, Fault)
    assert fault.where == "task 1"


@given(st.lists(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5), max_size=8))
@settings(max_examples=40, deadline=None)
def test_elements_come_one_by_one_wherever_the_window_ends(values: list[Any]) -> None:
    for indent in (None, 2):
        text = json.dumps(values, indent=indent)
        original, label_studio.CHUNK = label_studio.CHUNK, 3
        try:
            found = list(label_studio._elements(io.StringIO(text), Path("x")))
        finally:
            label_studio.CHUNK = original
        assert json.dumps(found) == json.dumps(values)


def take_file(campaign: Campaign, path: Path, **options: Any) -> Intake:
    found = prepare(campaign, read_lines(path), **options)
    take(campaign, found)
    return found


def label_file(tmp_path: Path, *rows: tuple[str, ...], header: str = "id,label") -> Path:
    text = io.StringIO()
    csv.writer(text).writerows([header.split(","), *rows])
    return written(tmp_path / "l.csv", text.getvalue())


def labels_of(campaign: Campaign) -> dict[str, str]:
    return {name: str(item.label) for name, item in campaign.refresh().items.items() if item.standing == "labelled"}


def test_part_of_a_file_repeats_and_corrections_are_fine(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    first = take_file(campaign, label_file(tmp_path, (ids[0], "cat"), (ids[0], "CAT"), (ids[1], "dog"), (ids[2], "")))
    assert (len(first.new), first.known, first.blank) == (2, 1, 1)
    again = take_file(campaign, label_file(tmp_path, (ids[0], "dog"), (ids[1], "dog"), (ids[2], "'-bird")))
    assert [given.item for given in again.corrections] == [ids[0]]
    assert [given.item for given in again.new] == [ids[2]]
    assert again.known == 1
    assert labels_of(campaign) == {ids[0]: "dog", ids[1]: "dog", ids[2]: "-bird"}


def test_nothing_changes_when_a_file_is_taken_twice(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    path = label_file(
        tmp_path, *[(name, "cat", "") for name in ids[:4]], (ids[4], "?", "dark"), header="id,label,reason"
    )
    take_file(campaign, path)
    before = campaign.refresh().number
    found = take_file(campaign, path)
    assert (found.new, found.corrections, found.known) == ((), (), 5)
    assert campaign.refresh().number == before


def test_every_bad_line_is_named_with_its_reason(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    undrawn = next(f"i{at:02d}" for at in range(30) if f"i{at:02d}" not in ids)
    rows = [(ids[0], "cat"), ("i999", "cat"), (undrawn, "cat"), (ids[1], "catt"), (ids[2], "dog"), (ids[2], "cat")]
    found = prepare(campaign, read_lines(label_file(tmp_path, *rows)))
    assert [fault.where for fault in found.faults] == ["line 3", "line 4", "line 5", "line 6", "line 7"]
    words = [fault.problem for fault in found.faults]
    assert "no item 'i999'" in words[0]
    assert "not asked for" in words[1]
    assert "try: cat" in words[2]
    assert "is 'dog' here and 'cat' in line 7" in words[3]
    assert "is 'cat' here and 'dog' in line 6" in words[4]
    assert (found.faulty, [given.item for given in found.new]) == (5, [ids[0]])
    assert campaign.refresh().number == 2  # created and drawn: nothing was changed by looking


def test_the_later_of_two_labels_wins_when_asked(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    path = label_file(tmp_path, (ids[2], "dog"), (ids[2], "cat"))
    assert take_file(campaign, path, last_wins=True).faulty == 0
    assert labels_of(campaign) == {ids[2]: "cat"}


def test_several_people_in_one_file_are_several_people(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    rows = [(ids[0], "cat", "Ada"), (ids[0], "dog", "Bob"), (ids[1], "cat", "")]
    found = take_file(campaign, label_file(tmp_path, *rows, header="id,label,annotator"))
    assert [given.by for given in found.new] == ["Ada", "Bob", ""]
    assert campaign.progress().disputed == 1


def test_a_line_that_names_another_than_the_one_who_imports_is_a_fault(
    campaign: Campaign, ids: list[str], tmp_path: Path
) -> None:
    rows = [(ids[0], "cat", "ADA"), (ids[1], "dog", "Bob"), (ids[2], "cat", "")]
    found = prepare(campaign, read_lines(label_file(tmp_path, *rows, header="id,label,annotator")), by="Ada")
    assert [(given.item, given.by) for given in found.new] == [(ids[0], "Ada"), (ids[2], "Ada")]
    (fault,) = found.faults
    assert fault.where == "line 3"
    assert "'Bob'" in fault.problem
    assert "'Ada'" in fault.problem


def test_names_in_other_letters_are_one_person_also_in_a_file(
    campaign: Campaign, ids: list[str], tmp_path: Path
) -> None:
    rows = [(ids[0], "cat", "Ada"), (ids[0], "cat", "ada"), (ids[1], "cat", "ADA"), (ids[1], "dog", "Ada")]
    found = take_file(campaign, label_file(tmp_path, *rows, header="id,label,annotator"))
    assert [given.by for given in found.new] == ["Ada"]
    assert (found.known, found.faulty) == (1, 2)
    assert campaign.progress().annotators == {"Ada": 1}


def test_every_line_of_a_clash_is_named(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    path = label_file(tmp_path, (ids[0], "dog"), (ids[1], "cat"), (ids[0], "cat"), (ids[0], "dog"), (ids[0], "-bird"))
    found = prepare(campaign, read_lines(path))
    assert [str(fault).partition(";")[0] for fault in found.faults] == [
        f"line 2: item '{ids[0]}' is 'dog' here and 'cat' in line 4",
        f"line 4: item '{ids[0]}' is 'cat' here and 'dog' in line 2",
        f"line 5: item '{ids[0]}' is 'dog' here and 'cat' in line 4",
        f"line 6: item '{ids[0]}' is '-bird' here and 'dog' in line 2",
    ]
    assert (found.faulty, [given.item for given in found.new]) == (4, [ids[1]])


def test_what_others_said_differently_is_listed(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    campaign.tell(ids[0], "cat", by="Ada")
    found = prepare(campaign, read_lines(label_file(tmp_path, (ids[0], "dog"))), by="Bob")
    assert found.disagreements == (f"line 2: item '{ids[0]}' is 'dog'; Ada said 'cat'",)
    assert len(found.new) == 1


def test_skips_keep_their_reason(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    rows = [(ids[0], "?", "too dark"), (ids[1], "unclear", ""), (ids[2], "skip", "")]
    take_file(campaign, label_file(tmp_path, *rows, header="id,label,reason"))
    assert [campaign.state.items[name].skips[0].label for name in ids[:3]] == [
        Missing(why) for why in ("too dark", "unclear", "")
    ]


def test_names_that_no_store_keeps_are_faults(campaign: Campaign, ids: list[str], tmp_path: Path) -> None:
    rows = [(ids[0], "cat", "x" * 999), (ids[1], "cat", "a\x07b")]
    found = prepare(campaign, read_lines(label_file(tmp_path, *rows, header="id,label,by")))
    assert found.faulty == 2
    with pytest.raises(CampaignError):
        prepare(campaign, [], by="x" * 999)


def test_numbers_are_checked(tmp_path: Path) -> None:
    pool = from_arrays(y_pred=np.arange(20) + 0.5)
    with Campaign.create(tmp_path / "c.db", pool, "srs", budget=4, seed=1) as campaign:
        rows = [(name, text) for name, text in zip(campaign.state.items, ("1.5", "nan", "1,5", "two"), strict=True)]
        found = prepare(campaign, read_lines(label_file(tmp_path, *rows)))
    assert (len(found.new), found.faulty) == (1, 3)


def test_a_store_that_fails_takes_nothing_of_the_file(
    campaign: Campaign, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is one change of the campaign: it is stored as a whole or not at all."""
    found = prepare(campaign, read_lines(label_file(tmp_path, *[(name, "cat") for name in ids])))
    before = campaign.refresh().number
    assert take(campaign, found) == len(ids)
    assert campaign.refresh().number == before + len(ids)

    def failing(events: object, *, seen: int) -> object:
        raise StoreError("the disk is full")

    changed = prepare(campaign, read_lines(label_file(tmp_path, *[(name, "dog") for name in ids])))
    monkeypatch.setattr(campaign.log._store, "append", failing)
    with pytest.raises(StoreError):
        take(campaign, changed)
    assert campaign.refresh().number == before + len(ids)


def test_one_bad_label_stops_all(campaign: Campaign, ids: list[str]) -> None:
    before = campaign.refresh().number
    with pytest.raises(LabelError):
        campaign.tell_all([Annotation(ids[0], TrueClass("cat")), Annotation(ids[1], TrueClass("no such class"))])
    assert campaign.refresh().number == before
    assert [
        event.kind
        for event in campaign.tell_all([Annotation(ids[0], TrueClass("cat")), Annotation(ids[1], Missing("dark"))])
    ] == [
        "labelled",
        "skipped",
    ]
    assert campaign.tell_all([Annotation(ids[0], TrueClass("cat")), Annotation(ids[1], Missing("dark"))]) == []
    campaign.close()
    with pytest.raises(CampaignError):
        campaign.tell_all([Annotation(ids[2], TrueClass("cat"))])


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([*CLASSES, "right", "?", "nonsense", ""])), max_size=25))
@settings(max_examples=12, deadline=None)
def test_taking_a_file_equals_telling_its_good_lines(tmp_path_factory: pytest.TempPathFactory, rows: Any) -> None:
    """The campaign after an import is the one in which somebody told every good line, the last for each item."""
    folder = tmp_path_factory.mktemp("same")
    with (
        Campaign.create(folder / "a.db", pool_of(), "srs", budget=10, seed=1) as taken,
        Campaign.create(folder / "b.db", pool_of(), "srs", budget=10, seed=1) as told,
    ):
        ids = list(taken.state.items)
        named = [(ids[at], text) for at, text in rows]
        take_file(taken, label_file(folder, *named), last_wins=True)
        for name, text in named:
            if text not in ("", "nonsense"):
                told.tell(name, text)
        assert {one: item.label for one, item in taken.refresh().items.items()} == {
            one: item.label for one, item in told.refresh().items.items()
        }


@pytest.fixture
def pictures(tmp_path: Path) -> Iterator[Campaign]:
    """Items with files of their own: one in a folder below, one that is gone, and ids that are no file names."""
    names = ["a b.png", "sub/ü.png", "../secret.png", "=cmd()", "e.png", "f.png"]
    folder = tmp_path / "items"
    (folder / "sub").mkdir(parents=True)
    for name in ("a b.png", "sub/ü.png", "e.png"):
        (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n" + name.encode())
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\nsecret")
    pool = from_arrays(y_pred=["cat"] * 6, ids=names, metadata={"note": ["=1+1"] * 6, "label": ["x"] * 6})
    with Campaign.create(tmp_path / "c.db", pool, "srs", budget=6, seed=1, items=folder, new_classes=["dog"]) as made:
        yield made


def test_a_table_to_fill_in_shows_the_items_and_runs_nothing(pictures: Campaign) -> None:
    items = pictures.ask("Ada", n=6)
    rows = {
        row["id"].removeprefix("'"): row
        for row in csv.DictReader(io.StringIO(as_file("csv", pictures, items, by="Ada")))
    }
    assert list(rows) == items
    assert rows["sub/ü.png"]["file"] == "sub/ü.png"
    assert rows["../secret.png"]["note"] == "'=1+1"
    assert rows["e.png"] | {"label": "", "reason": "", "annotator": "Ada"} == rows["e.png"]
    assert not [cell for row in rows.values() for cell in row.values() if cell[:1] in ("=", "+", "@")]
    assert "prediction" not in rows["e.png"]
    assert next(csv.DictReader(io.StringIO(as_file("csv", pictures, items, predictions=True))))["prediction"] == "cat"


def test_a_table_comes_back_as_it_went(pictures: Campaign, tmp_path: Path) -> None:
    text = as_file("csv", pictures, pictures.ask(n=6))
    rows = list(csv.DictReader(io.StringIO(text)))
    found = take_file(pictures, label_file(tmp_path, *[(row["id"], "dog") for row in rows]))
    assert (len(found.new), found.faulty) == (6, 0)
    failing = [one.item for one in pictures.failures()]
    listed = list(csv.DictReader(io.StringIO(labels.as_text(labels.records(pictures, failing), "csv"))))
    assert {row["id"] for row in listed} == {row["id"] for row in rows}
    assert {(row["label"], row["prediction"]) for row in listed} == {("dog", "cat")}


def test_tasks_carry_our_id_and_address_pictures(pictures: Campaign) -> None:
    tasks = json.loads(as_file("label_studio", pictures, pictures.ask(n=6), base="https://files/?d="))
    data = {one["data"]["id"]: one["data"] for one in tasks}
    assert data["sub/ü.png"]["image"] == "https://files/?d=sub/%C3%BC.png"
    assert "image" not in data["../secret.png"]
    assert all(one["id"] == one["fieldcheck_id"] for one in data.values())
    assert "prediction" not in str(tasks)


def test_pictures_are_copied_under_safe_names(pictures: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert copy_pictures(pictures, pictures.state.items, out) == 3
    assert {path.parent for path in out.iterdir()} == {out}
    assert {path.read_bytes()[8:] for path in out.iterdir()} == {b"a b.png", "sub/ü.png".encode(), b"e.png"}


@given(st.text(min_size=1, max_size=120), st.text(min_size=1, max_size=120))
def test_file_names_stay_in_their_folder_and_apart(one: str, other: str) -> None:
    names = [file_name(item, ".png") for item in (one, other)]
    assert all(Path(name).name == name and not name.startswith(".") and len(name) < 120 for name in names)
    assert (names[0] == names[1]) <= (one.removesuffix(".png") == other.removesuffix(".png"))


@pytest.mark.parametrize(("shown", "tag"), [("image", "Image"), ("text", "Text"), ("row", "Table")])
def test_the_labelling_interface_is_xml_with_every_class(shown: Any, tag: str) -> None:
    names = ("cat", '"><Evil/>', "a & b")
    root = Xml.fromstring(label_studio.config(shown, names))  # noqa: S314 -- our own
    assert [choice.get("value") for choice in root.iter("Choice")] == list(names)
    assert [one.get("name") for one in root.iter(tag)] == ["item"]
    outcomes = Xml.fromstring(label_studio.config(shown, ()))  # noqa: S314
    assert [choice.get("value") for choice in outcomes.iter("Choice")] == ["right", "wrong"]


def test_the_interface_fits_the_campaign(pictures: Campaign) -> None:
    text = labelling_config(pictures, ["a b.png", "e.png", "f.png"], predictions=True)
    assert "<Image" in text
    assert "$prediction" in text
    assert 'value="dog"' in text


def test_where_two_people_are_wanted_a_label_has_a_name(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "two.db", pool_of(), "srs", budget=4, seed=1, labels_per_item=2) as campaign:
        rows = [(name, "cat") for name in campaign.state.items]
        assert prepare(campaign, read_lines(label_file(tmp_path, *rows))).faulty == 4
        assert len(prepare(campaign, read_lines(label_file(tmp_path, *rows)), by="Ada").new) == 4


def test_json_lines_there_and_back(tmp_path: Path, pictures: Campaign) -> None:
    items = pictures.ask("Ada", n=6)
    text = as_file("jsonl", pictures, items, by="Ada")
    filled = [json.dumps({**json.loads(line), "label": "cat"}) for line in text.splitlines()]
    bad = ['{"id": ', "[1]", '{"label": "cat"}', '{"id": "x", "label": ["cat"]}', ""]
    found = lines_of(written(tmp_path / "labels.jsonl", "\n".join([*filled, *bad]).encode()))
    assert [(line.item, line.text, line.by) for line in found[:6]] == [(item, "cat", "Ada") for item in items]
    assert [str(one)[:7] for one in found[6:]] == ["line 7:", "line 8:", "line 9:", "line 10"]
    assert all(isinstance(one, Fault) for one in found[6:])


def test_a_format_of_ones_own_is_one_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipes:
        name = "pipes"
        suffixes = (".pipes",)
        recognises = staticmethod(lambda start: start.startswith("|"))
        read = staticmethod(lambda stream, path: (LabelLine("line", *line.strip().split("|")[1:3]) for line in stream))
        write = staticmethod(lambda items, *, by, base: "".join(f"|{one.item}|\n" for one in items))

    monkeypatch.setitem(formats.registry._entries, "pipes", Pipes)
    assert formats.format_for(".PIPES") == "pipes"
    found = lines_of(written(tmp_path / "labels", b"|a|cat\n|b|dog\n"))
    assert [(line.item, line.text) for line in found] == [("a", "cat"), ("b", "dog")]
