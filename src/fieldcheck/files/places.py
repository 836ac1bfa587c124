"""Folders in an object store (``s3://bucket/folder``, ``gs://``): paths like those on disk, by pyarrow's file systems.

An object is there whole or not at all, and cannot be renamed: what is written is made in a file here, then sent. Keys
and secrets come from where the store's own tools look for them (the environment, profiles, the machine's role); they
are in no path and in no message.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import IO, Any

from fieldcheck.core.errors import FieldcheckError

STORES = ("s3", "gs")


_REMOTE = re.compile(rf"({'|'.join(STORES)}):/+(.*)", re.DOTALL)


_SECRET = re.compile(r"[^/@:]+:[^/@]+@")


class RemotePath(type(Path())):  # type: ignore[misc]
    """A path in an object store. ``/``, ``name`` and ``suffix`` are those of any path."""

    def __str__(self) -> str:
        scheme, key = _parts(super().__str__())
        return f"{scheme}://{key}"

    __fspath__ = __str__

    @property
    def _where(self) -> tuple[Any, str]:
        scheme, key = _parts(super().__str__())
        return _filesystem(scheme), key.strip("/")

    def _kind(self) -> str:
        with asking(self):
            store, key = self._where
            return str(store.get_file_info(key).type.name)

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        return self._kind() != "NotFound"

    def is_file(self) -> bool:
        return self._kind() == "File"

    def is_dir(self) -> bool:
        return self._kind() == "Directory"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Its size and time; the rest is not known of objects."""
        with asking(self):
            store, key = self._where
            found = store.get_file_info(key)
        if found.type.name == "NotFound":
            raise FileNotFoundError(2, "no such object", str(self))
        time = found.mtime_ns or 0
        return os.stat_result((0, 0, 0, 0, 0, 0, found.size or 0, 0, time // 10**9, 0), {"st_mtime_ns": time})

    def iterdir(self) -> Iterator[RemotePath]:
        from pyarrow.fs import FileSelector

        with asking(self):
            store, key = self._where
            found = store.get_file_info(FileSelector(key, allow_not_found=True))
        return (self / one.base_name for one in found if one.base_name)

    def glob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:
        return (one for one in self.iterdir() if fnmatch(one.name, pattern))

    def rglob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:
        return (one for one in self.objects() if fnmatch(one.name, pattern))

    def objects(self) -> Iterator[RemotePath]:
        """All that lie under it, however deep."""
        from pyarrow.fs import FileSelector

        with asking(self):
            store, key = self._where
            found = store.get_file_info(FileSelector(key, allow_not_found=True, recursive=True))
        under = (one.path.removeprefix(key).strip("/") for one in found if one.type.name == "File")
        return (self / one for one in under if one)

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """There are no folders: an object brings its own."""

    def unlink(self, missing_ok: bool = False) -> None:
        with asking(self):
            store, key = self._where
            if self.exists() or not missing_ok:
                store.delete_file(key)

    def absolute(self) -> RemotePath:
        return self

    def resolve(self, strict: bool = False) -> RemotePath:
        return self

    def read_bytes(self) -> bytes:
        with asking(self), self.reader() as stream:
            content: bytes = stream.read()
            return content

    def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
        return self.read_bytes().decode(encoding or "utf-8", errors or "strict")

    def open(self, mode: str = "r", *_: Any, **__: Any) -> IO[Any]:
        if mode != "rb":
            raise FieldcheckError(f"{self} is in an object store", rule="Parquet files are read and written there")
        with asking(self):
            stream: IO[Any] = self.reader()
            return stream

    def reader(self) -> Any:
        """The object, for pyarrow."""
        store, key = self._where
        return store.open_input_file(key)


def place_of(given: str | Path) -> Path:
    """A path on disk or in an object store; a shell's ``s3:/bucket`` is one, too: paths swallow a slash."""
    if re.fullmatch(rf"({'|'.join(STORES)}):/*", str(given)):
        raise FieldcheckError(
            f"'{given}' names no bucket", rule="s3://BUCKET/FOLDER", hint="a bucket and a folder in it"
        )
    found = _REMOTE.fullmatch(str(given))
    if found is None or isinstance(given, RemotePath):
        return Path(given) if isinstance(given, str) else given
    if _SECRET.match(found[2]):
        raise FieldcheckError(
            f"{found[1]}:// with a key in it",
            rule="keys are not written into paths: they end up in files and messages",
            hint="the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), or a profile",
        )
    return RemotePath(f"{found[1]}:/{found[2]}")


def readable(path: Path) -> Any:
    """What pyarrow reads: the path itself, or the object."""
    return path.reader() if isinstance(path, RemotePath) else path


@contextmanager
def sent(target: RemotePath) -> Iterator[Path]:
    """A file here to write to; it becomes the object when all went well."""
    with tempfile.TemporaryDirectory(prefix="fieldcheck-") as folder:
        here = Path(folder, target.name)
        yield here
        with asking(target):
            store, key = target._where
            with here.open("rb") as source, store.open_output_stream(key) as stream:
                shutil.copyfileobj(source, stream, 1 << 22)


@contextmanager
def asking(path: Path) -> Iterator[None]:
    """What a store answers, in a line, without what may be secret in it."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        said = re.sub(r"(?i)(key|secret|token|signature|credential)[^ ,;]*[ =:]+\S+", r"\1 ...", str(error))
        raise FieldcheckError(
            f"{path}: {said.splitlines()[0][:300]}",
            rule="a bucket that is there, keys that may read and write it, and a store that answers",
            hint="AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL in the environment"
            if str(path).startswith("s3")
            else "gcloud auth application-default login",
        ) from None


def _parts(text: str) -> tuple[str, str]:
    found = _REMOTE.fullmatch(text)
    return (found[1], found[2]) if found is not None else ("", text)


@cache
def _filesystem(scheme: str) -> Any:
    from pyarrow import fs

    if scheme == "gs":
        return fs.GcsFileSystem()
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return fs.S3FileSystem(
        endpoint_override=endpoint,
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
        connect_timeout=10,
        request_timeout=60,
    )
