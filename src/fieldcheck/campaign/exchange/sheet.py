"""A sheet: a campaign with a CSV file for its page. What people write there is taken whenever the sheet is opened."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.base import Fault, LabelLine, harmless
from fieldcheck.campaign.exchange.export import as_file, shown
from fieldcheck.campaign.exchange.intake import find_id, prepare, spellings, take
from fieldcheck.campaign.exchange.reading import read_lines
from fieldcheck.campaign.stores import is_address
from fieldcheck.core import words
from fieldcheck.core.errors import LabelError, SampleError
from fieldcheck.core.pool.engine import Engine
from fieldcheck.files.whole import write_text

ENDING = ".campaign.db"

DATABASE = b"SQLite format 3\0"

DATABASES = frozenset({".db", ".sqlite", ".sqlite3"})
"""Suffixes that no sheet has: what is missing or damaged there is a campaign."""


def campaign_file(sheet: Path) -> Path:
    """The campaign of a sheet: ``to_label.campaign.db`` beside ``to_label.csv``."""
    return sheet.with_suffix(ENDING)


def is_sheet(place: str) -> bool:
    """Whether it is a sheet, and not a campaign."""
    if is_address(place) or Path(place).suffix.lower() in DATABASES:
        return False
    try:
        with Path(place).open("rb") as stream:
            return stream.read(len(DATABASE)) != DATABASE
    except OSError:
        return True


def open_sheet(
    sheet: Path, *, pool: Path | None = None, new_classes: Sequence[str] = (), engine: Engine | None = None
) -> Campaign:
    """The campaign of a sheet, with all labels that are filled in; ``engine`` is where the steps of shards run."""
    if sheet.is_dir() or not sheet.exists():
        what = "is a folder" if sheet.is_dir() else "is not found"
        raise SampleError(f"{sheet} {what}", rule="a campaign, or a file that `fieldcheck sample` wrote")
    beside = campaign_file(sheet)
    if not beside.exists():
        raise SampleError(
            f"{beside}: not found",
            rule=f"{sheet.name} belongs to the campaign that `fieldcheck sample` wrote beside it",
            hint="keep both files in one folder, under the names they were given",
        )
    campaign = Campaign.open(beside, pool=pool, engine=engine)
    try:
        campaign.declare(*new_classes)
        take_in(campaign, sheet)
    except BaseException:
        campaign.disconnect()
        raise
    return campaign


def take_in(campaign: Campaign, sheet: Path) -> None:
    """Record what is filled in, and take back what was cleared; a sheet with a bad line is refused as a whole."""
    if campaign.state.closed:
        return
    lines = list(read_lines(sheet))
    found = prepare(campaign, lines)
    if found.faulty:
        raise _refused(sheet, found.faults, found.faulty)
    take(campaign, found)
    for item in _cleared(campaign, lines):
        campaign.retract(item)


def _refused(sheet: Path, faults: Sequence[Fault], count: int) -> LabelError:
    first, _, hint = str(faults[0]).partition("; try: ")
    more = f", and {words.counted(count - 1, 'further line')}: {faults[1].where}, ..." if len(faults) > 1 else ""
    return LabelError(
        f"{sheet}, {first}{more}",
        rule="every line is checked before any is taken",
        hint=hint or "correct it, or clear the cell to leave the item unlabelled",
    )


def _cleared(campaign: Campaign, lines: Iterable[LabelLine | Fault]) -> list[str]:
    """Items that had a label in this sheet, and have an empty cell now."""
    items = campaign.state.items
    known = spellings(tuple(items))
    blank = {line.item for line in lines if isinstance(line, LabelLine) and not (line.text or line.skipped)}
    names = [name for shown in blank if (name := find_id(shown, known)) is not None]
    return [name for name in names if items[name].annotation_of("") is not None]


def write_sheet(campaign: Campaign, sheet: Path, *, predictions: bool = False) -> None:
    """The items that were drawn, to be filled in."""
    write_text(sheet, as_file("csv", campaign, tuple(campaign.state.items), predictions=predictions))


def add_items(campaign: Campaign, sheet: Path, items: Sequence[str]) -> None:
    """Further items below those of a sheet; what people wrote there stays as it is, whatever columns they added."""
    text = sheet.read_text(encoding="utf-8")
    header = text.partition("\n")[0].lstrip("\N{ZERO WIDTH NO-BREAK SPACE}")
    delimiter = max(",;\t", key=header.count)
    columns = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    rows = io.StringIO()
    writer = csv.writer(rows, delimiter=delimiter, lineterminator="\r\n" if "\r\n" in text else "\n")
    for one in shown(campaign, items, predictions="prediction" in columns):
        said = "" if one.prediction is None else str(one.prediction)
        cells = {**one.cells(), "id": one.item, "prediction": said}
        writer.writerow([harmless(cells.get(name, cells.get(name.lower(), ""))) for name in columns])
    write_text(sheet, text + ("" if text.endswith("\n") else "\n") + rows.getvalue())
