"""Small text classifiers and the texts that they are trained on, for the studies beside this file.

    python benchmarks/text_classifier.py        train both, and say how accurate they are

Nothing is downloaded. Topics: sentences of the docstrings that ship with Python; which package is a sentence from?
Pairs: questions that a grammar makes; do two of them ask the same?
"""

from __future__ import annotations

import ast
import itertools
import re
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline, make_union

PACKAGES = ("asyncio", "email", "importlib", "logging", "tkinter", "turtle.py", "unittest", "xml")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SEPARATOR = " | "

INTENTS: dict[str, tuple[str, ...]] = {
    "learn": ("What is the best way to learn {}?", "How can I learn {} quickly?", "I want to study {}, where first?"),
    "cost": ("How much does {} cost?", "What is the price of {}?", "Is {} expensive to buy?"),
    "meaning": ("What does {} mean?", "What is the definition of {}?", "Can you explain {} in simple words?"),
    "failure": ("Why does {} not work?", "What do I do when {} is broken?", "I cannot get {} to work, what is wrong?"),
    "worth": ("Is {} worth it?", "Should I bother with {}?", "Would you recommend {} to a friend?"),
    "history": ("Who invented {}?", "Where does {} come from?", "What is the origin of {}?"),
    "danger": ("Is {} dangerous?", "What are the risks of {}?", "Could {} harm my family?"),
    "time": ("How long does {} take?", "How many hours do I need for {}?", "When will I be done with {}?"),
}  # fmt: skip
THINGS = (
    "chess", "the guitar", "a piano", "modern physics", "French cooking", "a small car", "solar power", "yoga",
    "machine learning", "a used bicycle", "the stock market", "gardening", "a new phone", "Latin grammar", "sailing",
    "a wood stove", "long distance running", "home brewing", "digital painting", "a heat pump", "night photography",
    "open source software", "bread baking", "a fast computer", "public speaking", "black holes", "a sewing machine",
)  # fmt: skip


@dataclass(frozen=True)
class Texts:
    """Texts with the codes of their classes, shuffled; the first half is for training."""

    texts: tuple[str, ...]
    labels: npt.NDArray[np.int64]

    @classmethod
    def shuffled(cls, texts: list[str], labels: list[int]) -> Texts:
        order = np.random.default_rng(0).permutation(len(texts))
        return cls(tuple(texts[at] for at in order), np.array(labels, dtype=np.int64)[order])

    @property
    def train(self) -> tuple[list[str], npt.NDArray[np.int64]]:
        half = len(self.texts) // 2
        return list(self.texts[:half]), self.labels[:half]

    @property
    def test(self) -> tuple[list[str], npt.NDArray[np.int64]]:
        half = len(self.texts) // 2
        return list(self.texts[half:]), self.labels[half:]


@lru_cache
def topics(each: int = 360) -> Texts:
    """Sentences of docstrings by the package that they are from."""
    found = [(text, code) for code, name in enumerate(PACKAGES) for text in _some(_sentences(name), each)]
    return Texts.shuffled([text for text, _ in found], [code for _, code in found])


def _some(texts: list[str], count: int) -> list[str]:
    order = np.random.default_rng(0).permutation(len(texts))[:count]
    return [texts[at] for at in order]


def _sentences(package: str) -> list[str]:
    place = Path(sysconfig.get_path("stdlib")) / package
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    docstrings = [text for file in files if "test" not in file.parts for text in _docstrings(file)]
    parts = [" ".join(part.split()) for text in docstrings for part in re.split(r"\n\s*\n", text)]
    return sorted({text for part in parts for text in re.split(r"(?<=[.!?])\s+", part) if _is_prose(text)})


def _docstrings(file: Path) -> list[str]:
    nodes = [node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, DOCUMENTED)]
    return [text for text in map(ast.get_docstring, nodes) if text]


def _is_prose(text: str) -> bool:
    letters = sum(sign.isalpha() or sign == " " for sign in text)
    return 6 <= len(text.split()) <= 40 and letters > 0.88 * len(text)


@lru_cache
def pairs(count: int = 3000) -> Texts:
    """Two questions each: half of the pairs ask the same in other words, half differ in the thing or in the intent."""
    rng = np.random.default_rng(0)
    made = [_pair(rng, same=at % 2 == 0) for at in range(4 * count)]
    distinct = list(dict.fromkeys(made))[:count]
    return Texts.shuffled([text for text, _ in distinct], [code for _, code in distinct])


def _pair(rng: np.random.Generator, *, same: bool) -> tuple[str, int]:
    names = list(INTENTS)
    intent, thing = rng.integers(len(names)), rng.integers(len(THINGS))
    first, second = rng.permutation(3)[:2]
    other_intent, other_thing = intent, thing
    if not same and rng.random() < 0.5:
        other_intent = (intent + 1 + rng.integers(len(names) - 1)) % len(names)
    elif not same:
        other_thing = (thing + 1 + rng.integers(len(THINGS) - 1)) % len(THINGS)
    left = INTENTS[names[intent]][first].format(THINGS[thing])
    right = INTENTS[names[other_intent]][second].format(THINGS[other_thing])
    return left + SEPARATOR + right, int(same)


class Overlap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """How alike the halves of a pair are: cosines of words and of letters; whether a classifier of intents agrees."""

    def fit(self, texts: list[str], labels: Any = None) -> Overlap:
        halves = list(itertools.chain.from_iterable(map(halves_of, texts)))
        self.words_ = TfidfVectorizer(sublinear_tf=True).fit(halves)
        self.letters_ = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), min_df=3).fit(halves)
        self.intents_ = LogisticRegression(max_iter=300).fit(self.words_.transform(halves), _intents(halves))
        return self

    def transform(self, texts: list[str]) -> npt.NDArray[np.float64]:
        left, right = (list(side) for side in zip(*map(halves_of, texts), strict=True))
        words, letters = (
            _cosines(tool.transform(left), tool.transform(right)) for tool in (self.words_, self.letters_)
        )
        meant = [self.intents_.predict_proba(self.words_.transform(side)) for side in (left, right)]
        return np.column_stack([words, letters, (meant[0] * meant[1]).sum(axis=1), np.abs(meant[0] - meant[1])])


def halves_of(text: str) -> tuple[str, str]:
    """Both questions of a pair; where the separator was lost, all of it is the first."""
    left, _, right = text.partition(SEPARATOR.strip())
    return left, right


def _intents(questions: list[str]) -> list[str]:
    """The intent of each question of the grammar."""
    shapes = [(name, re.compile(re.escape(form).replace(r"\{\}", ".+"))) for name in INTENTS for form in INTENTS[name]]
    return [next(name for name, shape in shapes if shape.fullmatch(text.strip())) for text in questions]


def _cosines(left: csr_matrix, right: csr_matrix) -> npt.NDArray[np.float64]:
    return np.asarray(left.multiply(right).sum(axis=1)).ravel()


def topic_classifier() -> Pipeline:
    """Words and letters, weighed by how rare they are, into a linear classifier."""
    views = make_union(
        TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3))
    )
    return make_pipeline(views, LogisticRegression(C=10, max_iter=300)).fit(*topics().train)


def pair_classifier() -> Pipeline:
    """How alike the halves are, into boosted trees."""
    return make_pipeline(Overlap(), HistGradientBoostingClassifier(max_iter=80, random_state=0)).fit(*pairs().train)


def main() -> None:
    for name, model, data in (("topics", topic_classifier(), topics()), ("pairs", pair_classifier(), pairs())):
        print(f"{name}: {len(data.texts)} texts, accuracy {model.score(*data.test):.3f}; e.g. {data.texts[0]!r}")


if __name__ == "__main__":
    main()
