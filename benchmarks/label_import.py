"""Label files of 1 MB and of 1 GB: peak memory and time of reading and checking them.

    python benchmarks/label_import.py --megabytes 1000

Each file is checked in a process of its own (nothing is stored: it is what ``fieldcheck import --dry-run`` does). The
files hold the campaign's items, repeated over and over, with long texts beside them; one more CSV file is a single
endless line. Peak memory is that of the whole process; its ratio to that with the small file is what matters.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.exchange.intake import prepare
from fieldcheck.campaign.exchange.reading import read_lines
from fieldcheck.core.errors import LabelError
from fieldcheck.sources.pools.arrays import from_arrays

ITEMS = 500
TEXT = "x" * 400


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--megabytes", type=int, default=1000, help="size of the large files")
    given = arguments.parse_args()
    print("| file | MB | seconds | MB/s | peak MB | peak, relative to 1 MB | found |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for kind in ("csv", "json", "one line"):
            compare(Path(name), kind, given.megabytes)


def compare(folder: Path, kind: str, megabytes: int) -> None:
    """One row for the small file, one for the large."""
    peaks = list[float]()
    for size in (1, megabytes):
        path = folder / f"labels.{'json' if kind == 'json' else 'csv'}"
        write(path, kind, size)
        with multiprocessing.get_context("spawn").Pool(1) as process:
            seconds, peak, found = process.apply(measure, (path,))
        peaks.append(peak)
        speed = size / seconds
        print(f"| {kind} | {size:,} | {seconds:.2f} | {speed:.0f} | {peak:.0f} | {peak / peaks[0]:.2f} | {found} |")
        path.unlink()


def write(path: Path, kind: str, megabytes: int) -> None:
    """The file, piece by piece."""
    with path.open("w", encoding="utf-8") as stream:
        for piece in pieces(kind, megabytes * 1_000_000):
            stream.write(piece)


def pieces(kind: str, size: int) -> Iterator[str]:
    if kind == "one line":
        yield "id,label\n"
        yield from (TEXT for _ in range(size // len(TEXT)))
        return
    block, rows = [(row_of if kind == "csv" else task_of)(at) for at in range(ITEMS)], 0
    yield "id,label,text\n" if kind == "csv" else "[" + block[0].removeprefix(",\n")
    while rows < size:
        text = "".join(block)
        rows += len(text)
        yield text
    yield "" if kind == "csv" else "]"


def row_of(at: int) -> str:
    return f"{at},cat,{TEXT}\n"


def task_of(at: int) -> str:
    annotation = {"result": [{"from_name": "label", "value": {"choices": ["cat"]}}], "completed_by": 1}
    return ",\n" + json.dumps({"data": {"id": str(at), "text": TEXT}, "annotations": [annotation]})


def measure(path: Path) -> tuple[float, float, str]:
    """Seconds, peak MB of this process, and what was found."""
    pool = from_arrays(y_pred=["cat", "dog"] * (ITEMS // 2))
    with tempfile.TemporaryDirectory() as name, Campaign.create(Path(name) / "c.db", pool, "srs", budget=ITEMS) as made:
        start = time.perf_counter()
        try:
            found = prepare(made, read_lines(path))
            words = f"{len(found.new)} labels, {found.known:,} repeated, {found.faulty} bad"
        except LabelError as error:
            words = error.problem.partition(": ")[2]
        seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, words


if __name__ == "__main__":
    main()
