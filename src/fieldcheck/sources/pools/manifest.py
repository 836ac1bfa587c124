"""The list of a pool's shards: which files, how many rows each, their digests and the ranges of their columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fieldcheck.core.errors import PoolError
from fieldcheck.files.damage import decoding
from fieldcheck.files.schema import checked
from fieldcheck.files.whole import write_text

FILE = "manifest.json"
"""Written last: a folder without it holds no pool yet."""


KIND = "shards of a pool"


RULE = f"a folder of shards with its {FILE}, as `fieldcheck shard` and `fieldcheck predict --out FOLDER/` write it"


@dataclass(frozen=True)
class ShardFile:
    """One file of a pool.

    file
        Its name in the folder.
    digest
        SHA-256 of its bytes.
    ranges
        By column of numbers, the smallest and the largest; a column without any has none.
    """

    file: str
    rows: int
    digest: str
    ranges: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Manifest:
    """The shards in their order.

    schema
        By column, its type in Arrow's words.
    index
        A column that only numbers the rows.
    names
        By column of whole numbers, the classes that they count.
    notes
        What was said when the pool was made.
    """

    schema: Mapping[str, str]
    shards: Sequence[ShardFile]
    index: str | None = None
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def rows(self) -> int:
        """Items of the pool."""
        return sum(shard.rows for shard in self.shards)

    def offsets(self) -> Iterator[int]:
        """The position of the first item of each shard."""
        at = 0
        for shard in self.shards:
            yield at
            at += shard.rows

    def source(self, columns: Mapping[str, str], task: str) -> str:
        """Tells these files, read in this way, from all others."""
        files = [(shard.rows, shard.digest) for shard in self.shards]
        whole = [dict(self.schema), files, self.index, {name: list(own) for name, own in self.names.items()}]
        return hashlib.sha256(json.dumps([whole, dict(columns), task], sort_keys=True).encode()).hexdigest()

    def write(self, folder: Path) -> None:
        """Into the folder, whole or not at all."""
        shards = [
            {**asdict(shard), "offset": at, "ranges": dict(shard.ranges)}
            for shard, at in zip(self.shards, self.offsets(), strict=True)
        ]
        record = {"kind": KIND, "rows": self.rows, **asdict(self), "shards": shards}
        write_text(folder / FILE, json.dumps(record, indent=1))


def read_manifest(folder: Path) -> Manifest:
    """The list of a folder, checked; the shards themselves are not looked at."""
    place = folder / FILE
    if not place.is_file():
        unfinished = any(folder.glob("*.parquet"))
        raise PoolError(
            f"{folder} is a folder without {FILE}" + (": it may not be finished" if unfinished else ""),
            rule=RULE,
            hint="the command that writes it, again: it goes on where it stopped" if unfinished else "a file",
        )
    with decoding(place, PoolError, rule=RULE):
        record = json.loads(place.read_bytes())
    schema = {"kind": str, "rows": int, "schema": dict, "shards": list, "names": dict, "notes": list}
    found = checked(record, schema, place, PoolError)
    with decoding(place, PoolError, rule=RULE):
        shards = [_shard(one, place) for one in found["shards"]]
    read = Manifest(found["schema"], shards, found.get("index"), found["names"], [str(one) for one in found["notes"]])
    if found["kind"] != KIND or read.rows != found["rows"] or not shards:
        raise PoolError(f"{place} is damaged: {found['rows']} rows in {len(shards)} shards", rule=RULE)
    return read


def _shard(record: Any, place: Path) -> ShardFile:
    one = checked(record, {"file": str, "rows": int, "digest": str, "ranges": dict}, place, PoolError)
    if Path(one["file"]).name != one["file"] or one["rows"] < 1:
        raise PoolError(f"{place} names the shard '{one['file'][:60]}' with {one['rows']} rows", rule=RULE)
    return ShardFile(one["file"], one["rows"], one["digest"], one["ranges"])


def digest_of(path: Path) -> str:
    """BLAKE2b of a file, of 32 bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=32)).hexdigest()
