"""Formats of files that items go out in, and labels come back in. A new one is a file here and a name below."""

from __future__ import annotations

from fieldcheck.campaign.exchange.base import LabelFormat
from fieldcheck.campaign.exchange.csv import CsvLabels, as_csv
from fieldcheck.campaign.exchange.jsonl import JsonlLabels
from fieldcheck.campaign.exchange.label_studio import LabelStudioLabels, interface
from fieldcheck.core.errors import FieldcheckError, LabelError
from fieldcheck.core.registry import Registry

__all__ = ["as_csv", "format_for", "interface", "recognised", "registry"]

registry: Registry[LabelFormat] = Registry(
    "format of labels", "fieldcheck.exchange", LabelStudioLabels, JsonlLabels, CsvLabels, error=LabelError, hint="csv"
)


def recognised(start: str) -> type[LabelFormat]:
    """The format of a file that begins like this; what is nothing else is a table."""
    text = start.lstrip()
    found = (one for name, one in registry.items() if name != CsvLabels.name and one.recognises(text))
    return next(found, CsvLabels)


def format_for(suffix: str) -> str:
    """The format of a file that is to be written, by its suffix."""
    suffixes = {suffix: name for name, one in registry.items() for suffix in one.suffixes}
    if suffix.lower() not in suffixes:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in suffixes.items() if suffix)
        raise FieldcheckError(f"no format for '{suffix}'", rule=f"there are: {known}", hint="--out to_label.csv")
    return suffixes[suffix.lower()]
