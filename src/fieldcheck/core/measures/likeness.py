"""How alike two texts are: words and n-grams in common, and for programs their syntax."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

ORDERS = 4
"""N-grams of one word up to so many count."""

_TOKEN, _WORD = re.compile(r"\w+|[^\w\s]"), re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Words and punctuation marks, case kept."""
    return _TOKEN.findall(text)


def sentence_bleu(candidate: str, reference: str) -> float:
    """BLEU of one text against one other, in [0, 1]; 1 for the same words in the same order.

    A single sentence often shares no n-gram of four words, which would make the score 0. So the first order without a
    match counts as 1/2, the next one as 1/4, ... (Chen and Cherry, A systematic comparison of smoothing techniques for
    sentence-level BLEU, WMT 2014, technique 3). Orders for which the candidate is too short are left out.
    """
    return corpus_bleu([candidate], [reference], smoothed=True)


def corpus_bleu(candidates: Sequence[str], references: Sequence[str], *, smoothed: bool = False) -> float:
    """BLEU of many texts, each against its own reference: matches are added up before they are divided.

    Papineni et al., BLEU: a method for automatic evaluation of machine translation, ACL 2002.
    """
    pairs = [(words(one), words(other)) for one, other in zip(candidates, references, strict=True)]
    length, expected = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    if not length or not expected:
        return float(length == expected)
    counts = [_matches(pairs, order) for order in range(1, ORDERS + 1)]
    precisions = _precisions([count for count in counts if count[1]], smoothed)
    if not all(precisions):
        return 0.0
    brevity = min(0.0, 1 - expected / length)
    return math.exp(brevity + sum(map(math.log, precisions)) / len(precisions))


def _matches(pairs: Sequence[tuple[list[str], list[str]]], order: int) -> tuple[int, int]:
    """N-grams of the candidates that are in their references, at most as often as there; and all of them."""
    found = total = 0
    for candidate, reference in pairs:
        grams = _grams(candidate, order)
        found += (grams & _grams(reference, order)).total()
        total += grams.total()
    return found, total


def _grams(tokens: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[at:] for at in range(order)), strict=False))


def _precisions(counts: Sequence[tuple[int, int]], smoothed: bool) -> list[float]:
    """Per order of n-grams, from how many of the candidate's match, of how many."""
    precisions, value = [], 1.0 if smoothed else 0.0
    for found, total in counts:
        value = value if found else value / 2
        precisions.append((found or value) / total)
    return precisions


def word_f1(candidate: str, reference: str) -> float:
    """F1 of the words in common, as often as both have them, in any order and case; marks do not count.

    Rajpurkar et al., SQuAD: 100,000+ questions for machine comprehension of text, EMNLP 2016.
    """
    said, true = (Counter(_WORD.findall(text.lower())) for text in (candidate, reference))
    if not said or not true:
        return float(said == true)
    return 2 * (said & true).total() / (said.total() + true.total())


def code_bleu(candidate: str, reference: str) -> float:
    """Mean of BLEU, of word F1 in which key words of Python count five times, and of the subtrees in common.

    After Ren et al., CodeBLEU, 2020, without its match of data flow. Where one of the two is no Python program,
    subtrees are left out.
    """
    if candidate == reference:
        return 1.0
    parts = [sentence_bleu(candidate, reference), _weighted_f1(candidate, reference)]
    trees = [_subtrees(text) for text in (candidate, reference)]
    if trees[0] is not None and trees[1] is not None:
        parts.append((trees[0] & trees[1]).total() / max(trees[1].total(), 1))
    return sum(parts) / len(parts)


def _weighted_f1(candidate: str, reference: str) -> float:
    said, true = (_weighted(words(text)) for text in (candidate, reference))
    if not said or not true:
        return float(said == true)
    return 2 * (said & true).total() / (said.total() + true.total())


def _weighted(tokens: list[str]) -> Counter[str]:
    found = Counter(tokens)
    return Counter({token: count * (5 if keyword.iskeyword(token) else 1) for token, count in found.items()})


def _subtrees(text: str) -> Counter[str] | None:
    """The statements and expressions of a program without its names; None where it is none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Counter(_shape(node) for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr))


def _shape(node: ast.AST) -> str:
    inside = (type(child).__name__ for child in ast.iter_child_nodes(node))
    return f"{type(node).__name__}({','.join(inside)})"


SCORES: dict[str, Callable[[str, str], float]] = {
    "word-f1": word_f1,
    "bleu": sentence_bleu,
    "code-bleu": code_bleu,
}
"""From a text and its reference to a number between 0 and 1."""
