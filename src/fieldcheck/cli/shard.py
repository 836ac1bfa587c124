"""``fieldcheck shard``: a pool as a folder of files, for pools that one file is too large for."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import engines, sources
from fieldcheck.cli import options
from fieldcheck.cli.show import progress, say, show_json
from fieldcheck.core import words
from fieldcheck.files.places import place_of


def shard(
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="CSV, Parquet, npz, ...; or a folder of Parquet files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder; it must not hold anything else.")],
    rows: Annotated[int, typer.Option(min=1, help="Items of a file.")] = 1_000_000,
    engine: options.EngineName = "local",
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Cut a pool into a folder of Parquet files: everything that takes a pool takes the folder.

    Samples and estimates are the same, to the bit, however many files there are. Parquet is cut in the memory of one
    shard: a file, shards to cut anew, or a folder as Spark writes it; other formats are read whole.
    """
    out = place_of(out)
    with progress("shard") as told:
        made = sources.shard(pool, out, rows=rows, engine=engines.engine_of(engine), encoding=encoding, progress=told)
    if as_json:
        files, notes = [one.file for one in made.shards], list(made.notes)
        said = {"folder": str(out), "items": made.rows, "shards": files, "columns": dict(made.schema), "notes": notes}
        show_json(said)
        return
    say(f"{words.counted(made.rows, 'item')} in {words.counted(len(made.shards), 'shard')} in {out}")
    for note in made.notes:
        say(f"note: {note}")
    say(f"next: fieldcheck inspect {shlex.quote(str(out))}")
