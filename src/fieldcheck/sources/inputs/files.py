"""Image files: those below a folder, or those that a list names."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import InputsError
from fieldcheck.core.inputs import Inputs
from fieldcheck.files.text import open_text
from fieldcheck.sources.inputs.base import BySuffix
from fieldcheck.sources.inputs.images import SUFFIXES, Form, ImageFiles, broken, decode
from fieldcheck.sources.inputs.objects import from_texts
from fieldcheck.sources.inputs.options import Wanted

Names = list[str]


def from_folder(folder: Path, wanted: Wanted) -> ImageFiles:
    """All images below a folder, by path; where every image is in a sub-folder, the sub-folder is its class.

    Links to folders are not followed, hidden files are left out, and so are links that lead out of the folder.
    """
    found = sorted(_images(folder), key=lambda path: path.relative_to(folder).as_posix())
    inside = [path for path in found if _is_below(path, folder)]
    if not inside:
        raise InputsError(f"{folder}: there is no image", rule="files named " + ", ".join(sorted(SUFFIXES)))
    names = [path.relative_to(folder).as_posix() for path in inside]
    outside = len(found) - len(inside)
    notes = (f"{outside:,} links that lead out of {folder} were left out",) if outside else ()
    return _open(folder.resolve().name, names, inside, wanted=wanted, labels=_class_folders(names), notes=notes)


def _images(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if os.path.splitext(name)[1].lower() in SUFFIXES and not name.startswith("."):
                yield Path(place, name)


def _is_below(path: Path, folder: Path) -> bool:
    return not path.is_symlink() or path.resolve().is_relative_to(folder.resolve())


def _class_folders(names: Names) -> npt.NDArray[Any] | None:
    if not all("/" in name for name in names):
        return None
    return np.array([name.split("/", 1)[0] for name in names])


def from_list(path: Path, wanted: Wanted) -> Inputs:
    """The images that a text file names, one a line, after a tab perhaps the label; with kind ``text`` the lines.

    A relative path starts at the list's folder and may not leave it; an absolute one is taken as the user wrote it.
    """
    with open_text(path, wanted.encoding, InputsError) as stream:
        lines = stream.read().splitlines()
    if wanted.kind == "text":
        return from_texts(lines, wanted, name=path.stem)
    rows = [line.strip().partition("\t") for line in lines if line.strip()]
    if not rows:
        raise InputsError(f"{path}: the list is empty", rule="one path a line")
    names = [name.strip() for name, _, _ in rows]
    _check_unique(path, names)
    labels = np.array([label.strip() for _, _, label in rows]) if all(label.strip() for _, _, label in rows) else None
    return _open(path.stem, names, [_place(path, name) for name in names], wanted=wanted, labels=labels)


def _place(listed: Path, name: str) -> Path:
    folder = listed.parent
    if Path(name).is_absolute():
        return Path(name)
    if not (folder / name).resolve().is_relative_to(folder.resolve()):
        raise InputsError(
            f"{listed}: '{name}' leads out of the list's folder",
            rule="relative paths stay inside the folder of the list",
            hint="write the absolute path, if that is what you mean",
        )
    return folder / name


def _check_unique(path: Path, names: Names) -> None:
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputsError(f"{path}: '{name}' is there {times} times", rule="every item occurs once")


def _open(
    name: str,
    names: Names,
    paths: Sequence[Path],
    *,
    wanted: Wanted,
    labels: npt.NDArray[Any] | None,
    notes: tuple[str, ...] = (),
) -> ImageFiles:
    if wanted.skip_broken:
        problems = broken(paths, names)
        kept = [at for at, problem in enumerate(problems) if not problem]
        notes += _left_out([problem for problem in problems if problem])
        if not kept:
            raise InputsError(f"{name}: no image can be decoded", rule="complete image files", hint=notes[-1])
        names, paths = [names[at] for at in kept], [paths[at] for at in kept]
        labels = None if labels is None else labels[kept]
    form = Form.of(wanted, decode(paths[0], names[0]), names[0])
    classes = () if labels is None else tuple(sorted(set(labels.tolist())))
    return ImageFiles(name, names, paths, form, labels, classes, notes + form.notes())


def _left_out(problems: list[str]) -> tuple[str, ...]:
    if not problems:
        return ()
    return (f"{len(problems):,} broken images were left out: they are not in the pool; first: {problems[0]}",)


@dataclass(frozen=True)
class ListFile(BySuffix):
    """A list of image files, or of texts."""

    name: ClassVar[str] = "list"
    suffixes: ClassVar[tuple[str, ...]] = (".txt",)

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        return from_list(path, wanted)


@dataclass(frozen=True)
class ImageFolder:
    """Images below a folder."""

    name: ClassVar[str] = "images"
    suffixes: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[bool] = True

    @classmethod
    def accepts(cls, path: Path) -> bool:
        return path.is_dir()

    def open(self, path: Path, wanted: Wanted) -> Inputs:
        return from_folder(path, wanted)
