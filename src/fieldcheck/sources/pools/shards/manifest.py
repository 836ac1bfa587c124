"""The list of a pool's shards: which files, how many rows each, their digests and the ranges of their columns.

Folders without one may be on the way: a command that was killed goes on in its own folder, and in no other one.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fieldcheck.core.errors import FieldcheckError, PoolError
from fieldcheck.files.damage import decoding
from fieldcheck.files.schema import checked
from fieldcheck.files.whole import write_text

FILE = "manifest.json"
"""Written last: a folder without it holds no pool yet."""


KIND = "shards of a pool"


RULE = f"a folder of shards with its {FILE}, as `fieldcheck shard` and `fieldcheck predict --out FOLDER/` write it"


PREDICTED, CUT = ".predict.json", ".shard.json"
"""In the folder: what was asked for, of ``predict`` and of ``shard``."""


LOCK = ".fieldcheck-lock"
"""In the folder, while a command writes into it."""


LEFT = re.compile(r"\.(?!(predict|shard)\.json$|unfinished-).*")
"""Names of files without worth: what a writer who was killed left, what desktops put into folders."""


AGAIN = "write the pool again, into another folder"


NAME = re.compile(r"[^/\\\0]{1,100}\.parquet")
"""Of a shard: a file beside the manifest."""


@dataclass(frozen=True)
class ShardFile:
    """One file of a pool.

    file
        Its name in the folder.
    digest
        BLAKE2b of its bytes.
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
        raise without_manifest(folder)
    with decoding(place, PoolError, rule=RULE, hint=AGAIN):
        record = json.loads(place.read_bytes())
    schema = {"kind": str, "rows": int, "schema": dict, "shards": list, "names": dict, "notes": list}
    found = checked(record, schema, place, PoolError, hint=AGAIN)
    with decoding(place, PoolError, rule=RULE, hint=AGAIN):
        shards = [_shard(one, place) for one in found["shards"]]
    read = Manifest(found["schema"], shards, found.get("index"), found["names"], [str(one) for one in found["notes"]])
    if found["kind"] != KIND or read.rows != found["rows"] or not shards:
        raise PoolError(f"{place} is damaged: {found['rows']} rows in {len(shards)} shards", rule=RULE, hint=AGAIN)
    return read


def without_manifest(folder: Path) -> PoolError:
    """What is said of a folder that no list is in."""
    problem = f"{folder} is a folder without {FILE}"
    if is_begun_at_all(folder):
        return PoolError(f"{problem}: it may not be finished", rule=RULE, hint="the command that writes it, again")
    beside = f"{folder}-shards" if folder.name.strip(".") else f"../{folder.resolve().name}-shards"
    into = f"fieldcheck shard {shlex.quote(str(folder))} --out {shlex.quote(beside)}"
    tables = any(one.suffix.lower() in (".parquet", ".pq") for one in folder.rglob("*"))
    return PoolError(problem, rule=RULE, hint=into if tables else "a file; fieldcheck shard FILE --out FOLDER")


def is_begun_at_all(folder: Path) -> bool:
    """Whether shards were begun here, and not ended."""
    return any((folder / one).is_file() for one in (PREDICTED, CUT))


def not_as_written(place: Path, problem: str) -> PoolError:
    """What is said of a shard that is not what the list says."""
    return PoolError(f"{place}: the shard {problem}", rule=RULE, hint=AGAIN)


def check_shard(place: Path, digest: str | None) -> None:
    """Refuse a shard that is not there, or, where its digest is given, another one."""
    if not place.is_file():
        raise not_as_written(place, "is missing")
    if digest is not None and digest_of(place) != digest:
        raise not_as_written(place, "is not the one that was written")


def _shard(record: Any, place: Path) -> ShardFile:
    one = checked(record, {"file": str, "rows": int, "digest": str, "ranges": dict}, place, PoolError, hint=AGAIN)
    if not NAME.fullmatch(one["file"]) or one["rows"] < 1:
        problem = f"{place} names the shard '{one['file'][:60]}' with {one['rows']} rows"
        raise PoolError(problem, rule=RULE, hint=AGAIN)
    return ShardFile(one["file"], one["rows"], one["digest"], one["ranges"])


def digest_of(path: Path) -> str:
    """BLAKE2b of a file, of 32 bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


@contextmanager
def begun(folder: Path, record: str, asked: Mapping[str, str]) -> Iterator[None]:
    """Make the folder, or go on in it, and nobody else meanwhile; an error where it holds anything but a run that was
    asked for the same.

    record
        The file for what was asked for.
    """
    is_begun(folder, record, asked)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FieldcheckError(
            f"the folder {folder} cannot be made: {error.strerror}",
            rule="shards go into a folder of their own, in a place that may be written to",
            hint="another place",
        ) from None
    with _alone(folder):
        if not is_begun(folder, record, asked):
            write_text(folder / record, json.dumps(asked, indent=1))
        yield


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """A second command is told to wait. The lock ends with its process, however that ends; stores have none."""
    held = _locked(folder)
    try:
        yield
    finally:
        if held is not None:
            held.close()
            (folder / LOCK).unlink(missing_ok=True)


def _locked(folder: Path) -> sqlite3.Connection | None:
    """None where there are no locks, as in a store."""
    held = None
    try:
        held = sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None)
        held.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if held is not None:
            held.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise FieldcheckError(
                f"another command is writing into {folder} at this moment",
                rule="one at a time",
                hint="wait for its end, or another folder",
            ) from None
        return None
    return held


def is_begun(folder: Path, record: str, asked: Mapping[str, str]) -> bool:
    """Whether the folder holds a run that was asked for the same."""
    place = folder / record
    if not place.is_file():
        _check_free(folder)
        return False
    again = "another folder, or remove this one"
    rule = "a run goes on with the same inputs and options"
    with decoding(place, FieldcheckError, rule=rule, hint=again):
        before = dict(json.loads(place.read_text("utf-8")))
    other = [name for name in asked if before.get(name) != asked[name]]
    if other and not any(folder.glob("*.parquet")):
        return False  # it came to nothing
    if other:
        raise FieldcheckError(
            f"{folder} holds shards of another run: it differs in {', '.join(other)}", rule=rule, hint=again
        )
    return True


def check_unfinished(folder: Path, record: str, asked: Mapping[str, str]) -> None:
    """Refuse a folder that holds anything but shards of the same that did not come to their end."""
    if (folder / FILE).is_file():
        raise _taken(folder, FILE)
    is_begun(folder, record, asked)


def _check_free(folder: Path) -> None:
    if folder.is_file():
        raise _taken(folder)
    strange = [one.name for one in folder.iterdir() if not LEFT.fullmatch(one.name)] if folder.exists() else []
    if strange:
        raise _taken(folder, min(strange))


def _taken(folder: Path, name: str = "") -> PoolError:
    return PoolError(
        f"{folder} is there already" + (f", with {name} in it" if name else ""),
        rule="shards go into a folder of their own and are not written over: campaigns may rest on them",
        hint="another folder, or remove this one",
    )


def stamp(place: Path) -> str:
    """A file by its name, size and time."""
    stat = place.stat()
    return f"{place}, {stat.st_size} bytes, {stat.st_mtime_ns}"
