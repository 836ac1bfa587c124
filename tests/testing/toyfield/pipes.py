"""A format of pools: columns between bars."""

from dataclasses import dataclass
from typing import ClassVar

from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.column import as_column
from fieldcheck.core.pool.origin import Origin
from fieldcheck.sources.table import RawTable


@dataclass(frozen=True)
class Pipes:
    """Text with bars between the columns."""

    name: ClassVar[str] = "pipes"
    suffixes: ClassVar[tuple] = (".bars",)

    def read(self, path, columns, *, encoding):
        try:
            rows = [line.split("|") for line in path.read_text("utf-8").splitlines()]
        except UnicodeDecodeError as error:
            raise PoolError(f"{path} is no text", rule="UTF-8") from error
        table = {name: as_column([row[at] for row in rows[1:]], name) for at, name in enumerate(rows[0])}
        return RawTable(table, Origin(file=str(path)))
