"""Torch programs that are graphs and no modules: TorchScript and exported programs. Layers are their operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fieldcheck.core.errors import ModelError

PRODUCTS = ("linear", "addmm", "matmul", "mm", "conv1d", "conv2d", "conv3d", "_convolution", "convolution")
"""Operations that a head is made of."""


class Scripted:
    """A TorchScript module. Python hooks do not reach inside: its graph is copied and made to give back more.

    layers, layer
        Operations of the inlined graph by their kind, from input to output; the input of the last product.
    """

    def __init__(self, module: Any) -> None:
        self.module, self.graph = module, module.inlined_graph
        self.functions: dict[tuple[str, ...], Any] = {}
        self.nodes = _script_layers(self.graph)
        self.layers = tuple(self.nodes)
        self.layer = _script_hidden(self.graph, self.nodes)

    def run(self, rows: Any, layers: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
        if not layers:
            return self.module(rows), {}
        if layers not in self.functions:
            self.functions[layers] = self._showing(layers)
        output, *shown = self.functions[layers](self.module._c, rows)
        return output, dict(zip(layers, shown, strict=True))

    def _showing(self, layers: Sequence[str]) -> Any:
        """A function that gives back a tuple: the output, then the layers. A copy of a graph keeps its order only."""
        import torch

        graph = self.graph.copy()
        nodes = list(graph.nodes())
        wanted = [next(graph.outputs()), *(nodes[self.nodes[name]].output() for name in layers)]
        together = graph.appendNode(graph.create("prim::TupleConstruct", wanted, 1))
        together.output().setType(torch._C.TupleType([one.type() for one in wanted]))
        graph.eraseOutput(0)
        graph.registerOutput(together.output())
        return torch._C._create_function_from_graph("forward", graph)


def _script_layers(graph: Any) -> dict[str, int]:
    """From layer to the position of its operation in the graph; without values that a later one overwrites.

    Operations of one kind are ``relu``, ``relu#2``, ...
    """
    nodes = list(graph.nodes())
    hidden = {next(one.inputs()).debugName() for one in nodes if _kind(one) and one.kind().endswith("_")}
    hidden.update(one.debugName() for one in graph.outputs())
    times: Counter[str] = Counter()
    found = {}
    for position, node in enumerate(nodes):
        kind = _kind(node)
        if kind and _is_tensor(node) and node.output().debugName() not in hidden:
            times[kind] += 1
            found[kind if times[kind] == 1 else f"{kind}#{times[kind]}"] = position
    return found


def _script_hidden(graph: Any, layers: Mapping[str, int]) -> str:
    """The input of the last product with weights, where it is a layer; a product of two activations has none."""
    nodes = list(graph.nodes())
    fixed = (one for one in nodes if one.kind() in ("prim::GetAttr", "prim::Constant"))
    weights = {value.debugName() for one in fixed for value in one.outputs()}
    shown = {nodes[position].output().debugName(): name for name, position in layers.items()}
    for node in reversed(nodes):
        inputs = [one.debugName() for one in node.inputs()]
        if _kind(node) in PRODUCTS and weights.intersection(inputs[:3]):
            return next((shown[one] for one in inputs if one in shown), "")
    return ""


def _kind(node: Any) -> str:
    """``relu`` of ``aten::relu_``; empty for what is no operation on tensors."""
    name = str(node.kind())
    return name.removeprefix("aten::").rstrip("_") if name.startswith("aten::") else ""


def _is_tensor(node: Any) -> bool:
    return bool(node.outputsSize() == 1 and node.output().type().kind() == "TensorType")


@dataclass(eq=False)
class Exported:
    """A program of torch.export. Layers are the nodes of its graph, by their names."""

    program: Any
    module: Any = field(init=False)
    layers: tuple[str, ...] = field(init=False)
    layer: str = field(init=False)
    portion: int = field(init=False)
    dtype: Any = field(init=False)

    def __post_init__(self) -> None:
        self.module = self.program.module()
        nodes = [one for one in self.module.graph.nodes if one.op == "call_function" and _is_layer(one)]
        self.layers = tuple(one.name for one in nodes[:-1])
        self.layer = _exported_hidden(nodes, self.layers)
        example = self._example()
        self.portion = example.shape[0] if isinstance(example.shape[0], int) else 0
        self.dtype = example.dtype

    def run(self, rows: Any, layers: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
        if not layers:
            return self.module(rows), {}
        import torch.fx

        shown: dict[str, Any] = {}
        interpreter = torch.fx.Interpreter(self.module)
        run_node = interpreter.run_node

        def keep(node: Any) -> Any:
            made = run_node(node)
            if node.name in layers:
                shown[node.name] = made.clone()
            return made

        interpreter.run_node = keep
        return interpreter.run(rows), shown

    def _example(self) -> Any:
        """What the program was exported for, a tensor without numbers."""
        inputs = self.program.graph_signature.user_inputs
        if len(inputs) != 1:
            raise ModelError(
                f"the exported program has {len(inputs)} inputs: {', '.join(map(str, inputs))}",
                rule="one input: the items",
                hint="wrap it in a function, and open that",
            )
        return next(one.meta["val"] for one in self.program.graph.nodes if one.name == inputs[0])


def _is_layer(node: Any) -> bool:
    value = node.meta.get("val")
    return getattr(value, "is_floating_point", bool)() and value.ndim >= 1


def _exported_hidden(nodes: Sequence[Any], layers: tuple[str, ...]) -> str:
    for node in reversed(nodes):
        inputs = node.all_input_nodes
        if _packet(node) in PRODUCTS and any(one.op == "get_attr" for one in inputs):
            hidden = next((one.name for one in inputs if one.op != "get_attr"), "")
            return hidden if hidden in layers else ""
    return ""


def _packet(node: Any) -> str:
    """``linear`` of ``aten.linear.default``."""
    return str(node.target).split(".")[1] if "." in str(node.target) else str(node.target)
