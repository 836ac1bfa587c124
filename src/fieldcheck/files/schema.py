"""What a record that we wrote must hold; a file that a person or a disk changed is told from one that is ours."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any

from fieldcheck.core.errors import FieldcheckError

Schema = Mapping[str, type | UnionType]
"""From the names that must be there to their types."""

NUMBER = int | float


def checked(record: Any, schema: Schema, where: object, error: type[FieldcheckError], *, hint: str = "") -> Any:
    """The record, if it is one of this schema."""
    rule = f"as fieldcheck wrote it: {', '.join(schema)}"
    if not isinstance(record, dict):
        raise error(f"{where} is damaged: not a record", rule=rule, hint=hint)
    for name, kind in schema.items():
        if name not in record:
            raise error(f"{where} is damaged: it says nothing of '{name}'", rule=rule, hint=hint)
        if not isinstance(record[name], kind) or (isinstance(record[name], bool) and kind is not bool):
            raise error(f"{where} is damaged: '{name}' is {str(record[name])[:40]!r}", rule=rule, hint=hint)
    return record
