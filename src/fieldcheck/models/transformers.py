"""Text classifiers of transformers, from a folder that ``save_pretrained`` wrote. Nothing is downloaded."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from fieldcheck.core.errors import ModelError
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.arrays import Array, Run, as_array
from fieldcheck.models.shared.loading import loaded, package, reading
from fieldcheck.models.torch.layers import LayerPlace, find_layers, showing

PROBE = ["one text", "another, somewhat longer text"]
"""What layers are looked for with; a classifier of texts takes any text."""

FOLDER = "a folder with config.json, the weights as model.safetensors, and the tokenizer; no code of its own"

BUILT_IN = ("None", "eager", "sdpa")
"""Implementations of layers that are part of transformers and torch."""

ENDLESS = 10**6
"""Tokenizers without a limit say a larger one."""

Reads = Literal["first", "last"]


@dataclass(eq=False, kw_only=True)
class TransformersModel(Adapter):
    """A network and its tokenizer. Batches are lists of texts; longer ones than the network takes are cut.

    limit
        Tokens that a text is cut to.
    reads
        Which token stands for a text in layers that have a row per token: the one that the head looks at.
    """

    name: ClassVar[str] = "transformers"
    opens: ClassVar[tuple[str, ...]] = ("a folder of transformers",)
    network: Any
    tokenizer: Any
    limit: int
    places: Mapping[str, LayerPlace]
    reads: Reads = "first"
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def accepts(cls, model: object) -> bool:
        if isinstance(model, Path):
            return (model / "config.json").is_file()
        return loaded("transformers") is not None and _parts(model) is not None

    @classmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        torch = package("torch", "transformers")
        if asked.threads:
            torch.set_num_threads(asked.threads)
        network, tokenizer = _load(model) if isinstance(model, Path) else _parts(model) or _refuse(model)
        notes = ("it was in training mode: set to evaluation",) if network.training else ()
        network.eval()
        draft = cls(network=network, tokenizer=tokenizer, limit=_limit(network, tokenizer), places={})
        notes = (*notes, *_padding(network, tokenizer), *draft._cut_note(asked.batch))
        draft = replace(draft._with_layers(), classes=_classes(network.config), notes=notes)
        task, outputs = _meaning(network.config, asked)
        texts = asked.batch if asked.batch is not None else PROBE
        ready = draft.settled(replace(asked, task=task, outputs=outputs, batch=texts))
        return replace(ready, notes=(*ready.notes, ready._layer_note()))

    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        import torch

        given = self._encoded(batch)
        with torch.inference_mode(), self.lock, showing(self.places, layers) as shown:
            logits = self.network(**given).logits
        mask = as_array(given["attention_mask"])
        return as_array(logits), {name: self._by_text(as_array(shown[name]), mask) for name in layers}

    def expects(self) -> str:
        return "a list of texts"

    def _encoded(self, batch: Any) -> Any:
        texts = list(batch)
        if texts and isinstance(texts[0], tuple) and len(texts[0]) == 2:
            return self._made([one for one, _ in texts], [other for _, other in texts])
        wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
        if wrong is not None:
            raise ModelError(
                f"item {wrong} of the batch is {type(texts[wrong]).__name__}, no text",
                rule="a list of texts",
                hint="name the column that holds the texts",
            )
        return self._made([str(text) for text in texts])

    def _made(self, *texts: list[str]) -> Any:
        """What the network gets of texts, or of pairs of texts as its tokenizer puts them together."""
        made = self.tokenizer(*texts, padding=True, truncation=True, max_length=self.limit, return_tensors="pt")
        return made.to(self.network.device)

    def _by_text(self, activations: Array, mask: Array) -> Array:
        """One row per text: layers with a row per token give that of the token that the head reads."""
        if activations.ndim != 3 or activations.shape[:2] != mask.shape:
            return activations
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        token = mask.argmax(axis=1) if self.reads == "first" else last
        return activations[range(len(mask)), token]

    def _with_layers(self) -> Self:
        """This model with its layers; a head that runs over all tokens is one that reads the last of a text."""
        import torch

        given = self._encoded(PROBE)
        words = given["input_ids"]
        with torch.inference_mode():
            found = find_layers(self.network, lambda: self.network(**given), source=words, items=len(PROBE))
            with showing(found.places, [found.layer] if found.layer else []) as shown:
                self.network(**given)
        hidden = shown.get(found.layer)
        reads: Reads = "last" if hidden is not None and hidden.shape[:2] == words.shape else "first"
        return replace(self, places=found.places, layers=tuple(found.places), layer=found.layer, reads=reads)

    def _layer_note(self) -> str:
        if not self.layer:
            return "no hidden layer was found"
        return f"the layer is '{self.layer}'; where layers have a row per token, the {self.reads} token's is taken"

    def _cut_note(self, texts: Any) -> tuple[str, ...]:
        cut = f"texts are cut to {self.limit} tokens"
        if texts is None:
            return (cut,)
        given = list(zip(*texts, strict=True)) if texts and isinstance(texts[0], tuple) else [texts]
        columns = [list(column) for column in given]
        lengths = [len(one) for one in self.tokenizer(*columns, truncation=False, verbose=False)["input_ids"]]
        return (f"{cut}: {sum(one > self.limit for one in lengths)} of the first {len(lengths)} are longer",)


def _load(folder: Path) -> tuple[Any, Any]:
    transformers = package("transformers", "transformers")
    _check_kind(folder, safe_config(folder))
    place = str(folder.absolute())
    given = {"local_files_only": True, "trust_remote_code": False}
    with reading(folder, FOLDER, hint="model.save_pretrained(folder) and tokenizer.save_pretrained(folder)"):
        network = transformers.AutoModelForSequenceClassification.from_pretrained(place, use_safetensors=True, **given)
        return network, transformers.AutoTokenizer.from_pretrained(place, **given)


def safe_config(folder: Path) -> dict[str, Any]:
    """What config.json says, of a folder whose files lead to nothing but data beside it.

    ``use_safetensors`` and ``trust_remote_code`` leave three ways open: adapters, whose weights another package reads;
    an index that names other files than safetensors; implementations of layers that are downloaded as code.
    """
    config = _json(folder / "config.json")
    index = folder / "model.safetensors.index.json"
    parts = {str(one) for one in _json(index).get("weight_map", {}).values()} if index.is_file() else set()
    foreign = [one for one in sorted(parts) if not one.endswith(".safetensors") or Path(one).name != one]
    foreign += [one for one in _implementations(config) if one not in BUILT_IN]
    foreign += ["adapter_config.json"] if (folder / "adapter_config.json").exists() else []
    if foreign:
        raise ModelError(
            f"{folder} needs '{foreign[0]}', which can run any code, and was not opened",
            rule=FOLDER,
            hint="load it in Python, merge adapters into the model, and save it by save_pretrained",
        )
    return config


def _json(path: Path) -> dict[str, Any]:
    with reading(path, "a JSON object, as save_pretrained writes it"):
        found = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): value for name, value in found.items()}


def _implementations(said: Any) -> Iterator[str]:
    """What a configuration and those inside it say about who implements a layer."""
    if isinstance(said, list):
        for one in said:
            yield from _implementations(one)
    elif isinstance(said, dict):
        for name, value in said.items():
            if "_implementation" in f"_{name}" and not isinstance(value, dict):
                yield str(value)
            yield from _implementations(value)


def _check_kind(folder: Path, config: Mapping[str, Any]) -> None:
    """A classifier of texts: transformers would give any other network a head with random weights."""
    built = [str(one) for one in config.get("architectures") or []]
    if not any(one.endswith("ForSequenceClassification") for one in built):
        raise ModelError(
            f"{folder} holds {', '.join(built) or 'a network of an unknown kind'}",
            rule="a text classifier: ...ForSequenceClassification",
        )


def _parts(model: Any) -> tuple[Any, Any] | None:
    """Network and tokenizer of a pipeline or of a pair of them."""
    if isinstance(model, tuple) and len(model) == 2:
        network, tokenizer = model
    else:
        network, tokenizer = getattr(model, "model", None), getattr(model, "tokenizer", None)
    known = hasattr(network, "named_modules") and hasattr(network, "config") and callable(tokenizer)
    return (network, tokenizer) if known else None


def _refuse(model: object) -> tuple[Any, Any]:
    raise ModelError(
        f"{type(model).__name__} is no text classifier of transformers",
        rule="a folder of save_pretrained, a pipeline, or (model, tokenizer)",
    )


def _limit(network: Any, tokenizer: Any) -> int:
    said = [getattr(network.config, "max_position_embeddings", None), getattr(tokenizer, "model_max_length", None)]
    limits = [int(one) for one in said if one and one < ENDLESS]
    return min(limits, default=512)


def _padding(network: Any, tokenizer: Any) -> tuple[str, ...]:
    """Texts of one batch are filled up to one length, with a token that the network must know.

    Decoders look for the last token that is not that one: it must not be one that texts end with.
    """
    notes: tuple[str, ...] = ()
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None or tokenizer.eos_token_id in tokenizer(PROBE[0])["input_ids"]:
            raise ModelError(
                "the tokenizer has no padding token",
                rule="one that is no part of a text",
                hint="tokenizer.pad_token = ...",
            )
        tokenizer.pad_token = tokenizer.eos_token
        notes = (f"the tokenizer has no padding token: '{tokenizer.eos_token}' is taken",)
    if network.config.pad_token_id is None:
        network.config.pad_token_id = tokenizer.pad_token_id
    return notes


def _classes(config: Any) -> tuple[str, ...]:
    """Names of the classes; none where they are those that transformers made up."""
    names = [str(config.id2label[code]) for code in sorted(config.id2label)]
    made_up = [f"LABEL_{code}" for code in range(len(names))]
    return () if names == made_up or len(names) < 2 else tuple(names)


def _meaning(config: Any, asked: ModelRequest) -> tuple[Any, Any]:
    """Task and outputs: as asked for, else as the network says."""
    if config.problem_type == "multi_label_classification" and asked.outputs == "auto":
        raise ModelError(
            "the network gives a text several labels at once", rule="one answer per item", hint="wrap it in a function"
        )
    values = config.problem_type == "regression" or (config.num_labels == 1 and asked.task != "classification")
    outputs = ("values" if values else "logits") if asked.outputs == "auto" else asked.outputs
    return asked.task, outputs
