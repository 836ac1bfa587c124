"""What programs that evaluate language models write: logs of OpenAI's evals, results of promptfoo, logs of Inspect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Record = dict[str, Any]


DEEPEST = 20
"""Of messages inside of messages: programs write four."""


def known(found: Any) -> tuple[list[Record], str] | None:
    """One record per item with what the model said, and whose it is; None where it is none of these."""
    if isinstance(found, Mapping):
        return _inspect(found) or _promptfoo(found)
    return _events(found) if isinstance(found, list) else None


def _events(lines: Sequence[Any]) -> tuple[list[Record], str] | None:
    """OpenAI's evals: a line for each event, several events for each sample."""
    events = [one for one in lines if isinstance(one, Mapping) and "sample_id" in one and "type" in one]
    if not events or not all(isinstance(one.get("data"), Mapping) for one in events):
        return None
    samples: dict[str, Record] = {}
    for one in events:
        samples.setdefault(str(one["sample_id"]), {}).update(one["data"])
    records = [
        {
            "id": name,
            "prompt": _text(data.get("prompt")),
            "prediction": _text(data.get("picked", data.get("sampled"))),
            "outcome": data.get("correct"),
            "expected": _text(data.get("expected")),
        }
        for name, data in samples.items()
    ]
    return _filled(records), "a log of OpenAI's evals"


def _promptfoo(found: Mapping[str, Any]) -> tuple[list[Record], str] | None:
    """promptfoo: results inside of results, with the variables of the prompt and the response."""
    held = found.get("results")
    rows = held.get("results") if isinstance(held, Mapping) else held
    if (
        not isinstance(rows, list)
        or not rows
        or not all(isinstance(one, Mapping) and "response" in one for one in rows)
    ):
        return None
    records = [
        {
            **(one["vars"] if isinstance(one.get("vars"), Mapping) else {}),
            "id": one.get("id", at),
            "prediction": _text(one["response"].get("output") if isinstance(one["response"], Mapping) else None),
            "outcome": one.get("success"),
        }
        for at, one in enumerate(rows)
    ]
    return _filled(records), "results of promptfoo"


def _inspect(found: Mapping[str, Any]) -> tuple[list[Record], str] | None:
    """Inspect: samples with their output, and scorers that say which answer they took."""
    samples = found.get("samples")
    if "eval" not in found or not isinstance(samples, list) or not samples:
        return None
    if not all(isinstance(one, Mapping) for one in samples):
        return None
    several = len({str(one.get("epoch", 1)) for one in samples}) > 1
    records = [
        {
            "id": f"{one.get('id')} #{one.get('epoch')}" if several else one.get("id"),
            "input": _text(one.get("input")),
            "prediction": _answer(one),
            "target": _text(one.get("target")),
        }
        for one in samples
    ]
    return _filled(records), "a log of Inspect"


def _answer(sample: Mapping[str, Any]) -> str | None:
    scores, output = sample.get("scores"), sample.get("output")
    taken = (
        [one.get("answer") for one in scores.values() if isinstance(one, Mapping)]
        if isinstance(scores, Mapping)
        else []
    )
    said = output.get("completion") if isinstance(output, Mapping) else None
    return next((_text(one) for one in (*taken, said) if one), None)


def _text(value: Any, depth: int = 0) -> str | None:
    """A message, or several, as one text; what lies too deep for a message is left out."""
    if isinstance(value, Mapping | list) and depth > DEEPEST:
        return None
    if isinstance(value, Mapping):
        return _text(value.get("content"), depth + 1)
    if isinstance(value, list):
        return "\n".join(one for one in (_text(part, depth + 1) for part in value) if one)
    return None if value is None else str(value)


def _filled(records: list[Record]) -> list[Record]:
    """The records without fields that none of them has."""
    empty = {name for name in records[0] if all(one.get(name) is None for one in records)}
    return [{name: value for name, value in one.items() if name not in empty} for one in records]
