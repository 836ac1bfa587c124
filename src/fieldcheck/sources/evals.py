"""What programs that evaluate language models write: OpenAI's evals, promptfoo, Inspect, the harness of EleutherAI."""

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
    return _events(found) or _harness(found) if isinstance(found, list) else None


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
            "target": _text(data.get("expected")),
        }
        for name, data in samples.items()
    ]
    return _filled(records), "a log of OpenAI's evals"


def _harness(lines: Sequence[Any]) -> tuple[list[Record], str] | None:
    """EleutherAI's harness: a line for each document, with what was asked and the responses after its filter."""
    if not lines or not all(isinstance(one, Mapping) and {"doc_id", "filtered_resps"} <= set(one) for one in lines):
        return None
    records = [
        {
            "id": one["doc_id"],
            "document": None if not isinstance(one.get("doc"), Mapping) else _asked(one["doc"]),
            "prediction": _text(one["filtered_resps"]),
            "outcome": next((bool(one[name]) for name in JUDGED if one.get(name) in (0, 1)), None),
            "target": _text(one.get("target")),
        }
        for one in lines
    ]
    return _filled(records), "samples of lm-evaluation-harness"


JUDGED = ("exact_match", "acc")
"""Of the harness: whether a response was right."""


def _asked(document: Mapping[str, Any]) -> str | None:
    """What was asked, without the answer that stands beside it."""
    return next((_text(document[name]) for name in ("question", "query", "text", "input") if name in document), None)


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
            "outcome": _judged(one),
            "target": _text(one.get("target")),
        }
        for one in samples
    ]
    return _filled(records), "a log of Inspect"


def _scorers(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    scores = sample.get("scores")
    return [one for one in scores.values() if isinstance(one, Mapping)] if isinstance(scores, Mapping) else []


GRADES = {"C": True, "I": False, 1: True, 0: False}
"""Of Inspect: correct and incorrect."""


def _judged(sample: Mapping[str, Any]) -> bool | None:
    """Whether the first scorer took the answer for right; None where it says something else."""
    value = next((one.get("value") for one in _scorers(sample)), None)
    return GRADES.get(value) if isinstance(value, str | int | float) else None


def _answer(sample: Mapping[str, Any]) -> str | None:
    taken, output = [one.get("answer") for one in _scorers(sample)], sample.get("output")
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
    """The records without fields that none of them has; what was judged is not judged again by comparing texts."""
    empty = {name for name in records[0] if all(one.get(name) is None for one in records)}
    empty.add("target" if all(one.get("outcome") is not None for one in records) else "outcome")
    return [{name: value for name, value in one.items() if name not in empty} for one in records]
