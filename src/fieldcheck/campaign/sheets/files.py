"""A labelling sheet as files: a CSV that people fill in, and a JSON sidecar beside it that they leave alone."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fieldcheck import sources
from fieldcheck.accuracy.assessment.labelled import FORMAT, Sheet
from fieldcheck.campaign.labels import read
from fieldcheck.core.errors import FieldcheckError, LabelError, SampleError
from fieldcheck.core.label import Label
from fieldcheck.core.pool.column import value_at
from fieldcheck.core.pool.pool import Pool
from fieldcheck.files.text import long_cells, open_text
from fieldcheck.files.whole import write_text

if TYPE_CHECKING:
    from _csv import Reader


LABEL = "label"


OURS = frozenset({"id", "prediction", LABEL})
"""Columns of a sheet that no column of the pool may stand in for."""


def sidecar(path: Path) -> Path:
    """Where the sidecar of a sheet is."""
    return path.with_name(path.name + ".fieldcheck.json")


def write_sheet(
    sheet: Sheet,
    path: Path,
    pool: Pool,
    *,
    show_predictions: bool = False,
    answers: Mapping[str, Label] | None = None,
    remarks: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """The CSV file and its sidecar; each is complete or not there at all.

    show_predictions
        Off by default: whoever sees what the model said tends to agree with it.
    answers
        Labels that are known already.
    remarks
        By id, what people wrote into columns of their own.
    """
    texts = [name for name, column in pool.columns.items() if not isinstance(column, np.ndarray)]
    extra = [name for name in texts if name.strip().lower() not in OURS]
    shown = ["prediction"] if show_predictions and sheet.predictions is not None else []
    known, said = answers or {}, remarks or {}
    added = list(dict.fromkeys(name for cells in said.values() for name in cells))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", *shown, *extra, LABEL, *added])
    for at, item in enumerate(sheet.sample.to_label().tolist()):
        name = sheet.ids[at]
        predicted = [sheet.predictions[at]] if shown and sheet.predictions is not None else []
        answer = str(known[name]) if name in known else ""
        cells = [name, *predicted, *(value_at(pool.columns[column], item) for column in extra), answer]
        own = [said.get(name, {}).get(column, "") for column in added]
        writer.writerow([harmless(cell) for cell in (*cells, *own)])
    write_text(sidecar(path), json.dumps(sheet.as_record()))
    write_text(path, text.getvalue())


def harmless(cell: object) -> object:
    """A text cell that a spreadsheet will not run as a formula; numbers stay as they are."""
    if not isinstance(cell, str) or cell[:1] not in ("=", "+", "-", "@", "\t", "\r"):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def meant(text: str) -> str:
    """The inverse of ``harmless``."""
    return text[1:] if text[:1] == "'" and harmless(text[1:]) == text else text


def read_sheet(path: Path) -> Sheet:
    """The sheet behind a CSV file, from its sidecar."""
    beside = sidecar(path)
    try:
        record = json.loads(beside.read_text(encoding="utf-8"))
        newer = int(record["format"]) > FORMAT
        if not newer:
            return Sheet.from_record(record)
    except FileNotFoundError:
        if not path.exists():
            raise SampleError(
                f"{path}: not found", rule="a file that fieldcheck wrote for labels", hint="check its name and folder"
            ) from None
        raise SampleError(
            f"{beside}: not found",
            rule=f"{path.name} is estimated with the probabilities that `fieldcheck sample` wrote beside it",
            hint="keep both files in one folder, under the names they were given",
        ) from None
    except FieldcheckError:
        raise
    except (OSError, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SampleError(
            f"{beside}: damaged ({type(error).__name__}: {error})",
            rule="the sidecar is written by `fieldcheck sample` and is not to be edited",
            hint="restore it, or run `fieldcheck sample` again with the same seed: it gives the same file",
        ) from None
    raise SampleError(
        f"{beside}: written by a newer fieldcheck (format {record['format']})",
        rule=f"this version reads format {FORMAT}",
        hint="pip install --upgrade fieldcheck",
    )


def read_pool(path: Path, sheet: Sheet, given: Path | None = None) -> Pool:
    """The pool of a sheet: as given, or as the sidecar remembers it."""
    places = [given] if given else [Path(sheet.pool_file), path.parent / Path(sheet.pool_file).name]
    there = next((place for place in places if place.is_file()), None)
    if there is None:
        raise SampleError(
            f"{places[0]}: not found",
            rule="this needs the pool that the sample was drawn from",
            hint="--pool FILE",
        )
    return sources.load(there, **sheet.pool_options)


def read_answers(path: Path, sheet: Sheet, *, several_models: bool = False) -> dict[str, Label]:
    """The labels that are filled in, by id; rows may be in any order, and unlabelled ones may be gone.

    several_models
        Whether ``right`` could mean any of them.
    """
    known = spellings(sheet.ids)
    classes = sheet.classes if sheet.predictions is not None else ()
    said = {} if several_models else dict(zip(sheet.ids, sheet.predictions or (), strict=False))
    found: dict[str, Label] = {}
    lines: dict[str, int] = {}
    for line, shown, text, _ in _rows(path):
        name = find_id(shown, known)
        if name is None:
            raise LabelError(
                f"{path}: item '{shown}' on line {line} is not in this sample",
                rule="labels belong to the items that were drawn: others have no known chance of being there",
                hint="remove the line",
            )
        if not text:
            continue
        label = read(text, task=sheet.task, classes=classes, prediction=said.get(name), item=name, where=f"line {line}")
        if name in found and found[name] != label:
            raise LabelError(
                f"{path}: item '{shown}' is '{found[name]}' on line {lines[name]}, '{label}' on line {line}",
                rule="one label per item",
                hint="remove one of the lines",
            )
        found[name], lines[name] = label, line
    if not found:
        raise LabelError(
            f"{path}: no label is filled in",
            rule=f"the column '{LABEL}' holds the labels",
            hint="fill it in and save as CSV",
        )
    return found


def read_remarks(path: Path, sheet: Sheet, pool: Pool) -> dict[str, dict[str, str]]:
    """By id, what people wrote into columns of their own: they are not lost when the sheet is written again."""
    known, ours = spellings(sheet.ids), OURS | {name.strip().lower() for name in pool.columns}
    found = {}
    for _, shown, _, cells in _rows(path):
        own = {name: meant(cell) for name, cell in cells.items() if name.strip().lower() not in ours}
        found[find_id(shown, known)] = own
    return {name: own for name, own in found.items() if name is not None}


def find_id(shown: str, known: Mapping[str, str]) -> str | None:
    return known.get(composed(shown), known.get(shown.removesuffix(".0")))


def spellings(ids: Sequence[str]) -> dict[str, str]:
    """From what a row may say to the id it means: as it is, as it was written, and without the zeros before a number.

    Spreadsheets drop those zeros; ids that then are alike are only found in full.
    """
    short = {name: str(int(name)) for name in ids if name.isdecimal()}
    count = Counter(short.values())
    numbers = {number: name for name, number in short.items() if count[number] == 1}
    written = {composed(str(harmless(name))): name for name in ids}
    return numbers | written | {composed(name): name for name in ids}


def composed(text: str) -> str:
    """Text as it is compared: without blanks around it, an umlaut as one character."""
    return unicodedata.normalize("NFC", text.strip())


Row = tuple[int, str, str, dict[str, str]]
"""Line, id, label, and all cells by the name of their column."""


def _rows(path: Path) -> Iterator[Row]:
    text = _text(path)
    try:
        with long_cells(len(text)):
            yield from _cells(path, csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    except csv.Error as error:
        raise LabelError(
            f"{path}: cannot be read as CSV ({error})", rule="a sheet is text", hint="save it again as CSV UTF-8"
        ) from None


def _cells(path: Path, reader: Reader) -> Iterator[Row]:
    names = next(reader, [])
    header = [name.strip().lower() for name in names]
    for needed in ("id", LABEL):
        if needed not in header:
            raise LabelError(
                f"{path}: no column '{needed}'",
                rule=f"a sheet has the columns id and {LABEL}; this one has: {', '.join(header) or 'nothing'}",
                hint="the file that `fieldcheck sample` wrote",
            )
    at_id, at_label = header.index("id"), header.index(LABEL)
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise LabelError(
                f"{path}: line {reader.line_num} has {len(cells)} cells instead of {len(header)}",
                rule="every row has one cell per column",
                hint="quote cells that contain the separator",
            )
        yield (
            reader.line_num,
            cells[at_id].strip(),
            meant(cells[at_label].strip()),
            dict(zip(names, cells, strict=True)),
        )


def _text(path: Path) -> str:
    with open_text(path, None, LabelError) as stream:
        return stream.read()


def _delimiter(text: str) -> str:
    """Spreadsheets of half the world write semicolons."""
    header = text.partition("\n")[0]
    return max(",;\t", key=header.count)
