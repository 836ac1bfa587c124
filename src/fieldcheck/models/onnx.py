"""ONNX files, run by ONNX Runtime. Hidden layers are shown by a graph that gives back more, made in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from fieldcheck.core.errors import ModelError
from fieldcheck.models.base import Layout
from fieldcheck.models.classes import names_in
from fieldcheck.models.shared.adapter import Adapter, ModelRequest
from fieldcheck.models.shared.arrays import Array, Run, as_array, cast_note, in_portions, numbers
from fieldcheck.models.shared.loading import first_line, package, reading

TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(uint8)": "uint8",
    "tensor(int8)": "int8",
    "tensor(bool)": "bool",
}

PRODUCTS = frozenset({"Gemm", "MatMul", "Conv", "MatMulInteger", "FusedMatMul", "QLinearMatMul", "QGemm", "FusedGemm"})
"""Operators that a head is made of."""

BESIDE = "weights lie beside the model"

TOGETHER = "save the model and its weights into one folder"

QUANTIZERS = frozenset({"DynamicQuantizeLinear", "QuantizeLinear"})


@dataclass(eq=False, kw_only=True)
class OnnxModel(Adapter):
    """A graph with one input. Layers are the tensors between its operators, by their names in the file.

    proto
        The graph without external weights, which stay in their file.
    folder
        Where external weights are looked for, and nowhere else.
    portion
        Items that a graph with a fixed batch size takes at once; 0 where it takes any number.
    """

    name: ClassVar[str] = "onnx"
    opens: ClassVar[tuple[str, ...]] = (".onnx",)
    layouts: ClassVar[tuple[Layout, ...]] = ("first", "last", "flat", "plain")
    proto: Any
    folder: Path
    source: str
    output: str
    dtype: str
    shape: tuple[Any, ...]
    portion: int
    threads: int | None
    sessions: dict[tuple[str, ...], Any] = field(default_factory=dict)

    @classmethod
    def accepts(cls, model: object) -> bool:
        return (isinstance(model, Path) and model.suffix.lower() == ".onnx") or type(model).__name__ == "ModelProto"

    @classmethod
    def open(cls, model: object, asked: ModelRequest) -> Self:
        package("onnxruntime", "onnx")
        proto, folder = (_read(model), model.parent) if isinstance(model, Path) else (model, Path())
        _check_external(proto, folder)
        entry = _only_input(proto)
        output, classes, said = _answer(proto)
        layers = _layers(proto, entry.name, output)
        hidden = _last_hidden(proto, layers, output)
        shape, dtype = _input_type(entry)
        made = cls(
            proto=proto,
            folder=folder,
            source=entry.name,
            output=output,
            dtype=dtype,
            shape=shape,
            portion=shape[0] if shape and isinstance(shape[0], int) else 0,
            threads=asked.threads,
            classes=classes,
            layers=layers,
            layer=hidden,
            notes=(*said, *_hidden_note(hidden), *(cast_note(asked.batch, dtype) if asked.batch is not None else ())),
        )
        return made.settled(asked)

    def run(self, batch: Any, layers: tuple[str, ...]) -> Run:
        rows = numbers(batch, self.dtype)
        self._check_shape(rows)
        session = self._session(layers)
        names = [self.output, *layers]

        def once(part: Array) -> list[Array]:
            return [as_array(one) for one in session.run(names, {self.source: part})]

        found = in_portions(once, rows, self.portion) if self.portion else once(rows)
        return found[0], dict(zip(layers, found[1:], strict=True))

    def raw(self, batch: Any) -> Any:
        """All outputs, by name where there are several. What is said of a single item need have no axis of items."""
        rows = numbers(batch, self.dtype)
        self._check_shape(rows)
        names = tuple(one.name for one in self.proto.graph.output)
        session, size = self._session_of(names), self.portion or len(rows)
        found: list[Any] = []
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            filled = np.concatenate([part, np.repeat(part[-1:], size - len(part), axis=0)])
            outputs = [as_array(one) for one in session.run(list(names), {self.source: filled})]
            found += [_of_item(names, outputs, at, size) for at in range(len(part))]
        return found

    @classmethod
    def picture(cls, model: object) -> tuple[int, int] | None:
        shape, _ = _input_type(_only_input(_read(model) if isinstance(model, Path) else model))
        sides = shape[2:] if shape[1:2] in ((1,), (3,)) else shape[1:3]
        known = len(shape) == 4 and all(isinstance(side, int) for side in sides)
        return (int(sides[1]), int(sides[0])) if known else None

    def expects(self) -> str:
        return f"shape ({', '.join(str(one) for one in self.shape)}) {self.dtype}"

    def _check_shape(self, rows: Array) -> None:
        """ONNX Runtime says it too, but in the words of its graph."""
        fixed = [isinstance(length, int) and length > 0 for length in self.shape]
        agrees = len(self.shape) == rows.ndim and all(
            not known or given == wanted
            for known, given, wanted in list(zip(fixed, rows.shape, self.shape, strict=False))[1:]
        )
        if self.shape and not agrees:
            raise ValueError(f"its input '{self.source}' has another shape")

    def _session(self, layers: tuple[str, ...]) -> Any:
        return self._session_of((self.output, *layers))

    def _session_of(self, names: tuple[str, ...]) -> Any:
        """A session of the graph that gives back these tensors."""
        if names not in self.sessions:
            self.sessions[names] = _start(self._showing(names), self.folder, self.threads)
        return self.sessions[names]

    def _showing(self, names: tuple[str, ...]) -> bytes:
        """The graph with these tensors as its outputs; those that it has already keep their type."""
        import onnx

        shown = onnx.ModelProto()
        shown.CopyFrom(self.proto)
        own = {one.name: one for one in self.proto.graph.output}
        del shown.graph.output[:]
        shown.graph.output.extend(own.get(name) or onnx.ValueInfoProto(name=name) for name in names)
        return bytes(shown.SerializeToString())


def _of_item(names: tuple[str, ...], outputs: list[Array], at: int, size: int) -> Any:
    """What the outputs say of one of ``size`` items: an array, or arrays by name."""
    parts = [one[at] if one.ndim and len(one) == size else _alone(one, size) for one in outputs]
    return parts[0] if len(parts) == 1 else dict(zip(names, parts, strict=True))


def _alone(output: Array, size: int) -> Array:
    if size != 1:
        raise ModelError(
            f"an output of shape {output.shape} for {size} items",
            rule="one row per item",
            hint="batch = 1: one item at a time",
        )
    return output


def _start(graph: bytes, folder: Path, threads: int | None) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder.absolute()))
    if wanted := threads or _threads_of_environment():
        options.intra_op_num_threads = options.inter_op_num_threads = wanted
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common class
        raise ModelError(
            f"ONNX Runtime cannot run the graph: {first_line(error)}",
            rule="operators and an opset that the installed version knows",
            hint="pip install --upgrade onnxruntime, or export with an older opset",
        ) from error


def _threads_of_environment() -> int:
    """What other packages obey, too, and ONNX Runtime does not by itself; 0 where nothing is said."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdecimal() else 0


def onnx_session(path: Path) -> Any:
    """A session of the graph in a file, for those who know its inputs and outputs."""
    package("onnxruntime", "onnx")
    proto = _read(path)
    _check_external(proto, path.parent)
    return _start(proto.SerializeToString(), path.parent, None)


def _read(path: Path) -> Any:
    onnx = package("onnx", "onnx")
    with reading(path, "a complete ONNX file", hint="export it again"):
        proto = onnx.load(str(path), load_external_data=False)
    if not proto.graph.node:
        raise ModelError(f"{path} holds no graph", rule="a complete ONNX file", hint="export it again")
    return proto


def _check_external(proto: Any, folder: Path) -> None:
    """Weights in other files must be in the folder of the model: a model must not read what lies elsewhere."""
    for location in _locations(proto):
        with reading(f"weights in {location!r}", BESIDE, hint=TOGETHER):
            place = (folder / location).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise ModelError(
                f"the model wants weights from '{location}', outside its folder", rule=BESIDE, hint=TOGETHER
            )
        if not place.is_file():
            raise ModelError(f"the model needs the file '{location}', which is not there", rule=BESIDE, hint=TOGETHER)


def _locations(message: Any) -> Iterator[str]:
    """Files that tensors are in, wherever in the model a tensor may be: graphs, branches, functions, attributes."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield from (entry.value for entry in message.external_data if entry.key == "location")
        return
    for field_, value in message.ListFields():
        if field_.type == field_.TYPE_MESSAGE:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield from _locations(part)


def _only_input(proto: Any) -> Any:
    weights = {one.name for one in proto.graph.initializer}
    inputs = [one for one in proto.graph.input if one.name not in weights]
    if len(inputs) != 1:
        raise ModelError(
            f"the graph has {len(inputs)} inputs: {', '.join(one.name for one in inputs) or 'none'}",
            rule="one input: the items",
            hint="wrap an ONNX Runtime session in a function, and open that",
        )
    return inputs[0]


def _input_type(entry: Any) -> tuple[tuple[Any, ...], str]:
    """Lengths of the axes (numbers where fixed, names where not; empty where nothing is said), and the type."""
    import onnx

    kind = entry.type.tensor_type
    name = f"tensor({onnx.TensorProto.DataType.Name(kind.elem_type).lower()})"
    if name not in TYPES:
        raise ModelError(f"the input '{entry.name}' is a {name}", rule="numbers: " + ", ".join(TYPES))
    axes = kind.shape.dim if kind.HasField("shape") else ()
    shape = tuple(one.dim_value if one.dim_value > 0 else (one.dim_param or "?") for one in axes)
    return shape, TYPES[name]


def _answer(proto: Any) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The tensor that answers, names of its columns, and what was left out, in words."""
    import onnx

    producers = {name: node for node in proto.graph.node for name in node.output}
    maps = [producers[one.name] for one in proto.graph.output if _is(producers.get(one.name), "ZipMap")]
    if maps:
        return maps[0].input[0], _zip_classes(maps[0]), ("outputs: probabilities, before they become a dictionary",)
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
    numeric = [one.name for one in proto.graph.output if one.type.tensor_type.elem_type in floats]
    names = numeric or [one.name for one in proto.graph.output]
    known = names_in({one.key: one.value for one in proto.metadata_props})
    rest = [one.name for one in proto.graph.output if one.name != names[0]]
    return names[0], known, (f"the output '{names[0]}' is taken, not {', '.join(rest)}",) if rest else ()


def _is(node: Any, kind: str) -> bool:
    return node is not None and node.op_type == kind


def _zip_classes(node: Any) -> tuple[str, ...]:
    for attribute in node.attribute:
        if attribute.name == "classlabels_strings" and attribute.strings:
            return tuple(one.decode() for one in attribute.strings)
        if attribute.name == "classlabels_int64s" and attribute.ints:
            return tuple(map(str, attribute.ints))
    return ()


def _layers(proto: Any, source: str, output: str) -> tuple[str, ...]:
    """Tensors of floating-point numbers that depend on the input, in the order of the graph, without the output."""
    import onnx

    floats = (onnx.TensorProto.UNDEFINED, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16)
    inferred = onnx.shape_inference.infer_shapes(proto).graph
    known = {one.name: one.type.tensor_type for one in [*inferred.value_info, *inferred.output]}
    depends, found = {source}, []
    for node in proto.graph.node:
        if depends.isdisjoint(node.input):
            continue
        depends.update(filter(None, node.output))
        for name in filter(None, node.output):
            kind = known.get(name)
            if name != output and (kind is None or (kind.elem_type in floats and _may_have_rows(kind))):
                found.append(name)
    return tuple(found)


def _may_have_rows(kind: Any) -> bool:
    return not kind.HasField("shape") or len(kind.shape.dim) >= 2


def _last_hidden(proto: Any, layers: tuple[str, ...], output: str) -> str:
    """The input of the last product with weights on the way to the output; empty where that is the model's input."""
    producers = {name: node for node in proto.graph.node for name in node.output}
    weights = _constants(proto)
    head = next((node for node in _backwards(producers, output) if _is_product(node, weights)), None)
    hidden = next((name for name in head.input if name not in weights), "") if head is not None else ""
    while hidden in producers and producers[hidden].op_type in QUANTIZERS:
        hidden = producers[hidden].input[0]
    return hidden if hidden in layers else ""


def _is_product(node: Any, weights: set[str]) -> bool:
    return node.op_type in PRODUCTS and any(name in weights for name in node.input)


def _constants(proto: Any) -> set[str]:
    """Tensors that are the same for every input: weights, and what is computed from weights alone."""
    known = {one.name for one in proto.graph.initializer}
    for node in proto.graph.node:
        if known.issuperset(filter(None, node.input)):
            known.update(node.output)
    return known


def _backwards(producers: dict[str, Any], output: str) -> Iterator[Any]:
    """The operators that the output depends on, the nearest first."""
    seen, waiting = set(), [output]
    while waiting:
        node = producers.get(waiting.pop(0))
        if node is not None and node.output[0] not in seen:
            seen.add(node.output[0])
            yield node
            waiting.extend(filter(None, node.input))


def _hidden_note(hidden: str) -> tuple[str, ...]:
    return (
        f"the last hidden layer is '{hidden}', the input of the last matrix product" if hidden else "no hidden layer",
    )
