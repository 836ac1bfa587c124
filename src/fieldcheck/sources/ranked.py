"""Classes with their scores, best first: what pipelines and services answer for every item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SLACK = 0.02
"""By so much scores may miss a sum of 1: they are often rounded. Of the best few only, they miss it by more."""


Scores = dict[str, float]


def is_listed(value: Any) -> bool:
    """Whether it is a list of classes with their scores: ``[{"label": "cat", "score": 0.9}, ...]``."""
    return _of_objects(value) is not None


def together(
    lists: Mapping[str, Sequence[Any]],
) -> tuple[dict[str, Sequence[Any]], dict[str, Sequence[str]], list[str]]:
    """The columns with such lists as rows of numbers in one order, by column the classes of that order, and notes.

    Two columns that list classes and scores side by side become one. Of the best few, only the best one is taken.
    """
    found, names, notes = dict(lists), dict[str, Sequence[str]](), list[str]()
    for name, values in lists.items():
        for other in (None, *lists):
            scores = [_scores(*pair) for pair in zip(values, _beside(lists, other, values), strict=True)]
            if name in names or not scores or any(one is None for one in scores):
                continue
            given, ordered = [one for one in scores if one is not None], _ordered(scores)
            if ordered is not None:
                found[name], names[name] = ordered
                notes.append(f"'{name}' has a score for each class: the largest is the prediction, unless told")
            elif not {"prediction", "confidence"} & set(found):
                best = [max(one.items(), key=lambda pair: pair[1]) for one in given]
                found["prediction"], found["confidence"] = map(list, zip(*best, strict=True))
                notes.append(f"'{name}' has scores of the best few classes: the first is the prediction")
                found.pop(name)
            else:
                continue
            found.pop(other or "", None)
    return found, names, notes


def _beside(lists: Mapping[str, Sequence[Any]], name: str | None, values: Sequence[Any]) -> Sequence[Any]:
    return [None] * len(values) if name is None or len(lists[name]) != len(values) else lists[name]


def _scores(values: Any, classes: Any) -> Scores | None:
    """The scores of one item by class; None where it is something else."""
    if classes is None:
        return _of_objects(values)
    if not (isinstance(values, list) and isinstance(classes, list) and len(values) == len(classes) > 1):
        return None
    plain = all(isinstance(one, str) for one in classes) and all(map(_is_number, values))
    return dict(zip(classes, map(float, values), strict=True)) if plain else None


def _of_objects(value: Any) -> Scores | None:
    if not isinstance(value, list) or len(value) < 2:
        return None
    pairs = [_pair(one) for one in value]
    return None if None in pairs else dict(pair for pair in pairs if pair is not None)


def _pair(one: Any) -> tuple[str, float] | None:
    """A class and its score from an object of a text and a number."""
    if not isinstance(one, Mapping) or len(one) != 2:
        return None
    texts = [value for value in one.values() if isinstance(value, str)]
    numbers = [value for value in one.values() if _is_number(value)]
    return (texts[0], float(numbers[0])) if len(texts) == len(numbers) == 1 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(scores: Sequence[Scores | None]) -> tuple[list[list[float]], list[str]] | None:
    """Rows of numbers, and the classes that they are of; None unless every item has shares of 1."""
    if not scores or any(one is None or abs(sum(one.values()) - 1) > SLACK for one in scores):
        return None
    given = [one for one in scores if one is not None]
    classes = sorted(set().union(*given))
    return [[one.get(name, 0.0) for name in classes] for one in given], classes
