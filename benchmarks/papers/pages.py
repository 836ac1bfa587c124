"""Pages of the docs whose numbers a script fills in: one block per table or figure of a paper.

A block of docs/papers/NAME.md stands between ``<!-- PART -->`` and ``<!-- /PART -->``. A script has one function per
part, which returns Markdown; ``--write`` puts it there.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DOCS = Path(__file__).resolve().parents[2] / "docs" / "papers"


@dataclass(frozen=True)
class Run:
    """One call of a script: where the data are, whether only a glimpse is wanted, and where long work is kept."""

    data: Path
    short: bool
    keep: Path | None = None

    def times(self, repetitions: int) -> int:
        """Repetitions; three in a short run, which shows that it works and nothing else."""
        return 3 if self.short else repetitions

    def kept(self, name: str, make: Callable[[], Floats]) -> Floats:
        """What ``make`` returns, from the folder of kept work where it is there already."""
        path = None if self.keep is None or self.short else self.keep / f"{name}.npy"
        if path is not None and path.exists():
            return np.asarray(np.load(path))
        found = make()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, found)
        return found


Part = Callable[[Run], str]


def main(page: str, parts: Mapping[str, Part], about: str | None) -> None:
    """Make the parts that are asked for, all without a word; print them, or write them into the page."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the data folder: subjects/, published/, ces_fse19/")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--short", action="store_true", help="three repetitions: does it run?")
    parser.add_argument("--write", action="store_true", help=f"put the results into docs/papers/{page}.md")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep long work here, and take it from here")
    given = parser.parse_args()
    unknown = sorted(set(given.parts) - set(parts))
    if unknown:
        parser.error(f"no part '{unknown[0]}'; there are {', '.join(parts)}")
    for name in given.parts or parts:
        text = parts[name](Run(given.data, given.short, given.keep)).strip()
        print(f"<!-- {name} -->\n{text}\n", flush=True)
        if given.write and not given.short:
            fill(DOCS / f"{page}.md", name, text)


def fill(path: Path, name: str, text: str) -> None:
    """Replace the block of this part; the page must have one."""
    before = path.read_text(encoding="utf-8")
    block = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- /{re.escape(name)} -->)", re.DOTALL)
    after, found = block.subn(lambda match: f"{match[1]}{text}\n{match[2]}", before)
    if not found:
        raise SystemExit(f"{path} has no block <!-- {name} --> ... <!-- /{name} -->")
    path.write_text(after, encoding="utf-8")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
