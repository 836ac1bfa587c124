"""Features of tokens by a language model in a local folder. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck import models
from fieldcheck.core.errors import ModelError
from fieldcheck.core.types import FloatArray
from fieldcheck.tomography.quality.token_f1 import unit

IdArray = npt.NDArray[np.int64]


States = Callable[[IdArray, IdArray], npt.NDArray[Any]]
"""From token codes and a mask (1 where there is a token), texts x places, to the last hidden states."""


FILES = "tokenizer.json and model.onnx, or tokenizer.json, config.json and model.safetensors"


LONGEST = 256
"""Tokens of a text that are looked at, the rest is cut off."""


@dataclass(frozen=True, eq=False)
class TokenModel:
    """Contextual features of tokens: the last hidden states of a language model, without its marks of begin and end."""

    tokenizer: Any
    states: States
    batch: int = 64

    @classmethod
    def open(cls, folder: Path) -> TokenModel:
        """The model in a folder as Hugging Face saves it, MiniLM for example; ONNX Runtime runs it where it can."""
        if not (folder / "tokenizer.json").is_file():
            raise ModelError(f"{folder} has no tokenizer.json", rule=f"a folder with {FILES}")
        with models.reading(folder / "tokenizer.json", "a tokenizer, as save_pretrained writes it"):
            tokenizer = _package("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.enable_padding()
        tokenizer.enable_truncation(LONGEST)
        if (folder / "model.onnx").is_file():
            return cls(tokenizer, _onnx_states(folder / "model.onnx"))
        if (folder / "model.safetensors").is_file() and (folder / "config.json").is_file():
            return cls(tokenizer, _transformers_states(folder))
        raise ModelError(f"{folder} holds no model", rule=f"a folder with {FILES}")

    def __call__(self, texts: Sequence[str]) -> list[FloatArray]:
        """One array per text: one row of length 1 per token."""
        # Texts of like length together: padding costs as much as words.
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found: list[FloatArray] = [np.zeros((0, 0))] * len(texts)
        for first in range(0, len(order), self.batch):
            places = order[first : first + self.batch]
            for place, rows in zip(places, self._together([texts[place] for place in places]), strict=True):
                found[place] = rows
        return found

    def _together(self, texts: list[str]) -> list[FloatArray]:
        encoded = self.tokenizer.encode_batch(texts)
        codes = np.array([one.ids for one in encoded], dtype=np.int64)
        states = self.states(codes, np.array([one.attention_mask for one in encoded], dtype=np.int64))
        kept = np.array([one.special_tokens_mask for one in encoded]) == 0
        return [unit(np.asarray(row[keep], dtype=np.float64)) for row, keep in zip(states, kept, strict=True)]


def _onnx_states(path: Path) -> States:
    session = models.onnx_session(path)
    names = {one.name for one in session.get_inputs()}

    def states(codes: IdArray, mask: IdArray) -> npt.NDArray[Any]:
        given = {"input_ids": codes, "attention_mask": mask, "token_type_ids": np.zeros_like(codes)}
        return np.asarray(session.run(None, {name: row for name, row in given.items() if name in names})[0])

    return states


def _transformers_states(folder: Path) -> States:
    transformers, torch = _package("transformers"), _package("torch")
    models.safe_config(folder)
    with models.reading(folder, f"a folder with {FILES}; no code of its own"):
        model = transformers.AutoModel.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, trust_remote_code=False
        ).eval()

    def states(codes: IdArray, mask: IdArray) -> npt.NDArray[Any]:
        with torch.inference_mode():
            found = model(input_ids=torch.from_numpy(codes), attention_mask=torch.from_numpy(mask))
        return np.asarray(found.last_hidden_state.numpy())

    return states


def _package(name: str, extra: str = "transformers") -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelError(
            f"the package '{name}' is needed for features of tokens and cannot be imported: {error}",
            rule="frameworks are installed as extras",
            hint=f'pip install "fieldcheck[{extra}]"',
        ) from error
