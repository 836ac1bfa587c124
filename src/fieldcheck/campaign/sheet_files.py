"""A labelling sheet as files: a CSV that people fill in, and a JSON sidecar beside it that they leave alone."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from fieldcheck.campaign.answers import Answer
from fieldcheck.campaign.sheet import FORMAT, Sheet
from fieldcheck.core.column import value_at
from fieldcheck.core.errors import FieldcheckError, LabelError, SampleError
from fieldcheck.core.pool import Pool

LABEL = "label"


def sidecar(path: Path) -> Path:
    """Where the sidecar of a sheet is."""
    return path.with_name(path.name + ".fieldcheck.json")


def write_sheet(
    sheet: Sheet,
    path: Path,
    pool: Pool,
    *,
    show_predictions: bool = False,
    answers: Mapping[str, Answer] | None = None,
) -> None:
    """The CSV file and its sidecar; each is complete or not there at all.

    show_predictions
        Off by default: whoever sees what the model said tends to agree with it.
    answers
        Labels that are known already.
    """
    extra = [name for name, column in pool.columns.items() if not isinstance(column, np.ndarray)]
    shown = ["prediction"] if show_predictions and sheet.predictions is not None else []
    known = answers or {}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", *shown, *extra, LABEL])
    for at, item in enumerate(sheet.sample.to_label().tolist()):
        name = sheet.ids[at]
        predicted = [sheet.predictions[at]] if shown and sheet.predictions is not None else []
        answer = known[name].text if name in known else ""
        cells = [name, *predicted, *(value_at(pool.columns[column], item) for column in extra), answer]
        writer.writerow([harmless(cell) for cell in cells])
    _replace(sidecar(path), json.dumps(sheet.as_record()))
    _replace(path, text.getvalue())


def harmless(cell: object) -> object:
    """A text cell that a spreadsheet will not run as a formula; numbers stay as they are."""
    if not isinstance(cell, str) or cell[:1] not in ("=", "+", "-", "@", "\t", "\r"):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".part")
    try:
        beside.write_text(text, encoding="utf-8", newline="")
        os.replace(beside, path)
    except OSError as error:
        raise SampleError(
            f"{path}: cannot be written ({error.strerror})",
            rule="the folder must exist and be writable",
            hint="--out with another place",
        ) from None


def read_sheet(path: Path) -> Sheet:
    """The sheet behind a CSV file, from its sidecar."""
    beside = sidecar(path)
    try:
        record = json.loads(beside.read_text(encoding="utf-8"))
        newer = int(record["format"]) > FORMAT
        if not newer:
            return Sheet.from_record(record)
    except FileNotFoundError:
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


def read_answers(path: Path, sheet: Sheet) -> dict[str, Answer]:
    """The labels that are filled in, by id; rows may be in any order, and unlabelled ones may be gone."""
    known = {str(harmless(name)): name for name in sheet.ids}
    found: dict[str, Answer] = {}
    for line, shown, text in _rows(path):
        name = shown if shown in sheet.ids else known.get(shown) or known.get(shown.removesuffix(".0"))
        if name is None:
            raise LabelError(
                f"{path}: item '{shown}' on line {line} is not in this sample",
                rule="labels belong to the items that were drawn: others have no known chance of being there",
                hint="remove the line",
            )
        if not text:
            continue
        if name in found and found[name].text != text:
            raise LabelError(
                f"{path}: item '{shown}' is '{found[name].text}' on line {found[name].line}, '{text}' on line {line}",
                rule="one label per item",
                hint="remove one of the lines",
            )
        found[name] = Answer(name, line, text)
    if not found:
        raise LabelError(
            f"{path}: no label is filled in",
            rule=f"the column '{LABEL}' holds the labels",
            hint="fill it in and save as CSV",
        )
    return found


def _rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, id and label of each row."""
    reader = csv.reader(io.StringIO(text := _text(path)), delimiter=_delimiter(text))
    header = [cell.strip().lower() for cell in next(reader, [])]
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
        yield reader.line_num, cells[at_id].strip(), cells[at_label].strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise LabelError(f"{path}: not found", hint="the path of the filled-in sheet") from None
    except UnicodeDecodeError as error:
        raise LabelError(
            f"{path}: byte {error.start} is not UTF-8",
            rule="a sheet is saved as CSV in UTF-8",
            hint="in a spreadsheet: save as, CSV UTF-8",
        ) from None
    except OSError as error:
        raise LabelError(f"{path}: cannot be read ({error.strerror})") from None


def _delimiter(text: str) -> str:
    """Spreadsheets of half the world write semicolons."""
    header = text.partition("\n")[0]
    return max(",;\t", key=header.count)
