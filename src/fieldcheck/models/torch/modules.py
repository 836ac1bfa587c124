"""PyTorch: modules, TorchScript files, exported programs, and weights together with what builds their network."""

from __future__ import annotations

import threading
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.models.base import Layout
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.arrays import Array, Run, answer, as_array, cast_note, in_portions, numbers
from fieldcheck.models.shared.loading import (
    SAFE,
    Weights,
    first_line,
    loaded,
    named_object,
    package,
    reading,
    require_trust,
)
from fieldcheck.models.torch.graphs import Exported, Scripted
from fieldcheck.models.torch.layers import LOOK, LayerPlace, find_layers, showing

SUFFIXES = (".pt", ".pth", ".ckpt", ".bin", ".pt2", ".ts", ".torchscript", ".safetensors")

NESTED = ("state_dict", "model_state_dict", "model")
"""Under which a checkpoint keeps the weights."""

EXPORT = f"--trust if you know who made it; torch.onnx.export; or {SAFE}"

COARSE = 1e-2
"""How far rows of probabilities in bfloat16 may be from 1."""


class Network(Protocol):
    """Something that torch runs, and that shows layers."""

    def run(self, rows: Any, layers: tuple[str, ...]) -> tuple[Any, Mapping[str, Any]]: ...


@dataclass(frozen=True, eq=False)
class Hooked:
    """A module whose layers are read by forward hooks; one batch at a time, because hooks belong to the module."""

    module: Any
    places: Mapping[str, LayerPlace]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, rows: Any, layers: tuple[str, ...]) -> tuple[Any, Mapping[str, Any]]:
        with self.lock, showing(self.places, layers) as shown:
            return self.module(rows), shown


@dataclass(eq=False, kw_only=True)
class TorchModel(Adapter):
    """A network that takes one tensor.

    dtype, device
        What it computes in, and where.
    portion
        Items that a program with a fixed batch size takes at once; 0 where it takes any number.
    first
        Its first layer with weights, in words.
    """

    name: ClassVar[str] = "torch"
    trusted: ClassVar[tuple[str, ...]] = (
        ".pt (TorchScript)",
        ".pt2",
        "MODULE:NAME@FILE with weights in safetensors or a state_dict",
    )
    layouts: ClassVar[tuple[Layout, ...]] = ("first", "last", "flat", "plain")
    network: Network
    dtype: Any
    device: Any
    portion: int = 0
    first: str = ""

    @classmethod
    def accepts(cls, model: object) -> bool:
        if isinstance(model, Weights):
            return True
        if isinstance(model, Path):
            return model.suffix.lower() in SUFFIXES and model.is_file()
        torch = loaded("torch")
        return torch is not None and isinstance(model, (torch.nn.Module, torch.export.ExportedProgram))

    @classmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        torch = package("torch", "torch")
        if asked.threads:
            torch.set_num_threads(asked.threads)
        found, notes = _load(model, trust=asked.trust)
        if isinstance(found, torch.export.ExportedProgram):
            draft = cls._of_program(found)
        elif isinstance(found, torch.jit.ScriptModule):
            draft = cls._of_script(found)
        else:
            draft = cls._of_module(found, asked)
        if asked.batch is not None:
            notes = (*notes, *cast_note(asked.batch, _numpy_type(draft.dtype)))
        slack = COARSE if draft.dtype == torch.bfloat16 else draft.slack
        return replace(draft, notes=(*notes, *draft.notes), slack=slack).settled(asked)

    @classmethod
    def _of_program(cls, program: Any) -> Self:
        network = Exported(program)
        return cls(
            network=network,
            dtype=network.dtype,
            device=_device(program.parameters()),
            portion=network.portion,
            layers=network.layers,
            layer=network.layer,
            notes=(_graph_note(network.layer),),
        )

    @classmethod
    def _of_script(cls, module: Any) -> Self:
        notes = _evaluating(module)
        network = Scripted(module)
        return cls(
            network=network,
            dtype=_dtype(module),
            device=_device(module.parameters()),
            layers=network.layers,
            layer=network.layer,
            notes=(*notes, _graph_note(network.layer)),
        )

    @classmethod
    def _of_module(cls, module: Any, asked: ModelRequest) -> Self:
        import torch

        notes = _evaluating(module)
        plain = cls(
            network=Hooked(module, {}),
            dtype=_dtype(module),
            device=_device(module.parameters()),
            first=next((f"'{name}' {part}" for name, part in module.named_modules() if _has_weights(part)), ""),
        )
        few = asked.sample("which layers the network has")[:LOOK]
        plain._run(few, ())
        rows = plain._tensor(numbers(few, _numpy_type(plain.dtype)))
        with torch.inference_mode():
            found = find_layers(module, lambda: module(rows), source=rows, items=len(rows))
            _, left = answer(module(rows))
        return replace(
            plain,
            network=Hooked(module, found.places),
            layers=tuple(found.places),
            layer=found.layer,
            notes=(*notes, found.note, *filter(None, [left])),
        )

    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        import torch

        rows = numbers(batch, _numpy_type(self.dtype))

        def once(part: Array) -> list[Array]:
            output, shown = self.network.run(self._tensor(part), layers)
            return [as_array(answer(output)[0]), *(as_array(shown[name].flatten(1)) for name in layers)]

        with torch.inference_mode():
            found = in_portions(once, rows, self.portion) if self.portion else once(rows)
        return found[0], dict(zip(layers, found[1:], strict=True))

    def expects(self) -> str:
        return f"{self.dtype}, for its first layer {self.first}" if self.first else str(self.dtype)

    def _tensor(self, rows: Array) -> Any:
        """The same memory where torch may have it: it wants arrays that can be written to."""
        import torch

        return torch.from_numpy(rows if rows.flags.writeable else rows.copy()).to(device=self.device, dtype=self.dtype)


def _evaluating(module: Any) -> tuple[str, ...]:
    """Set to evaluation mode, and say so where it was not."""
    said = ("it was in training mode: set to evaluation",) if module.training else ()
    module.eval()
    return said


def _graph_note(layer: str) -> str:
    return (
        f"the last hidden layer is '{layer}', the input of the last product" if layer else "no hidden layer was found"
    )


def _has_weights(part: Any) -> bool:
    return any(True for _ in part.parameters(recurse=False))


def _device(parameters: Any) -> Any:
    return next((one.device for one in parameters), "cpu")


def _dtype(module: Any) -> Any:
    """What the items must be: whole numbers for networks that begin with a table of embeddings, else as the weights."""
    import torch

    kinds = [getattr(part, "original_name", type(part).__name__) for part in module.modules() if _has_weights(part)]
    if kinds and kinds[0].startswith("Embedding"):
        return torch.int64
    return next((one.dtype for one in module.parameters() if one.is_floating_point()), torch.float32)


def _numpy_type(dtype: Any) -> np.dtype[Any]:
    """The type in numpy; it has no bfloat16, which float32 holds exactly."""
    name = str(dtype).removeprefix("torch.")
    return np.dtype("float32" if name == "bfloat16" else name)


def _load(model: object, *, trust: bool) -> tuple[Any, tuple[str, ...]]:
    """The module or program, and what was done to get it, in words."""
    if isinstance(model, Weights):
        return _built(model, trust=trust)
    if hasattr(model, "_orig_mod"):
        return model._orig_mod, ("it is compiled: the module behind it is run, whose layers can be seen",)
    if not isinstance(model, Path):
        return model, ()
    if model.suffix.lower() == ".safetensors":
        return _network(_safetensors(model), model), ()
    return _network(_unsafe(model, trust=trust), model), ()


def _network(found: Any, path: Path) -> Any:
    """What was in the file, if it can be run."""
    import torch

    if isinstance(found, (torch.nn.Module, torch.export.ExportedProgram)):
        return found
    held = f"weights only ({len(found)} entries)" if isinstance(found, Mapping) else f"a {type(found).__name__}"
    raise ModelError(
        f"{path} holds {held}",
        rule="a network; weights need the code that builds theirs",
        hint=f"{_factory_hint(path)}; or export it to ONNX",
    )


def _factory_hint(path: Path) -> str:
    return f"for weights MODULE:NAME@{path.name} with --trust, where NAME() builds the network"


def _unsafe(path: Path, *, trust: bool) -> Any:
    """What torch wrote, but safetensors: every kind can run code, some of it while it is being loaded.

    Nothing of torch reads the file before it is trusted. ``weights_only`` is not relied on: it had holes before torch
    2.10 (CVE-2025-32434, CVE-2026-24747), and weights need code, hence trust, in any case.
    """
    import torch

    inside = _names(path)
    script = any("/code/" in name for name in inside)
    program = path.suffix.lower() == ".pt2" or any(name.endswith("/archive_format") for name in inside)
    kind = "TorchScript" if script else "an exported program" if program else "a pickle"
    hint = EXPORT if script or program else f"{_factory_hint(path)}; or {EXPORT}"
    require_trust(trust, f"{path} would be read as {kind}: that", hint=hint)
    with (
        reading(path, f"{kind} that is complete, and the packages that it needs"),
        warnings.catch_warnings(action="ignore"),
    ):
        if script:
            return torch.jit.load(str(path), map_location="cpu")
        return torch.export.load(path) if program else torch.load(path, map_location="cpu", weights_only=False)


def _names(path: Path) -> list[str]:
    """Names inside the file; none where it is no archive. They choose the loader, and decide nothing about trust."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except OSError:
        raise
    except Exception:  # a broken archive makes zipfile raise many things
        return []


def _safetensors(path: Path) -> Any:
    package("safetensors", "torch")
    from safetensors.torch import load_file

    with reading(path, "a complete safetensors file"):
        return load_file(str(path))


def _built(model: Weights, *, trust: bool) -> tuple[Any, tuple[str, ...]]:
    """The network that the factory builds, with the weights of the file."""
    import torch

    factory = named_object(model.factory, trust=trust)
    with reading(f"{model.factory}()", "what builds the network, called without arguments", hint="try it in Python"):
        module = factory()
    if not isinstance(module, torch.nn.Module):
        raise ModelError(f"{model.factory}() gives back {type(module).__name__}", rule="a torch.nn.Module")
    safe = model.file.suffix.lower() == ".safetensors"
    weights = _safetensors(model.file) if safe else _unsafe(model.file, trust=trust)
    if isinstance(weights, torch.nn.Module):
        weights = weights.state_dict()
    if not isinstance(weights, Mapping):
        raise ModelError(f"{model.file} holds a {type(weights).__name__}", rule="weights by name, a state_dict")
    nested = next((key for key in NESTED if isinstance(weights.get(key), Mapping)), None)
    try:
        weights, said = _without_prefix(weights[nested] if nested else weights, set(module.state_dict()))
        module.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError) as error:
        lines = " ".join(line.strip() for line in str(error).splitlines()[1:3])
        raise ModelError(
            f"the weights in {model.file} do not fit {model.factory}(): {lines[:300] or first_line(error)}",
            rule="the network that the weights were saved from",
        ) from error
    module.eval()
    return module, said


def _without_prefix(weights: Mapping[str, Any], known: set[str]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Training on several devices, and compiling, put a word before every name that the network itself has not."""
    for prefix in ("module.", "_orig_mod.", "model."):
        rest = {name.removeprefix(prefix): value for name, value in weights.items()}
        if known.isdisjoint(weights) and known.issuperset(rest):
            return rest, (f"names of weights lose their '{prefix}'",)
    return weights, ()
