"""The layers of a torch module: in which order they run, which is the last hidden one, and what they give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from fieldcheck.models.shared.arrays import answer

LOOK = 2
"""Items that layers are looked for with: the outputs of all of them are kept for a moment."""


@dataclass(frozen=True, eq=False)
class LayerPlace:
    """Where a layer's activations are: what module ``module`` gives back (or takes) when it runs for the n-th time."""

    module: Any
    time: int = 1
    inward: bool = False


@dataclass(frozen=True, eq=False)
class Call:
    """One run of one module: copies of its first input and of its output, None for what is no tensor of numbers."""

    name: str
    place: LayerPlace
    given: Any
    made: Any


@dataclass(frozen=True, eq=False)
class Found:
    """Layers by name, from input to output; the last hidden one (empty: none), and how it was found."""

    places: Mapping[str, LayerPlace]
    layer: str
    note: str


def find_layers(module: Any, run: Callable[[], Any], *, source: Any, items: int) -> Found:
    """Look at the layers of ``module`` while ``run`` runs it once on ``source``, a tensor of ``items``."""
    calls, output = _watch(module, run)
    places = {call.name: call.place for call in calls if call.made is not None and len(call.made) == items}
    head = _head(calls, output)
    if head is None or head.given is None or _equal(head.given, source) or len(head.given) != items:
        return Found(places, "", "no hidden layer was found")
    name = _maker(calls, head) or f"{head.name}.input"
    places.setdefault(name, LayerPlace(head.place.module, head.place.time, inward=True))
    return Found(places, name, f"the last hidden layer is '{name}', the input of '{head.name}'")


@contextmanager
def showing(places: Mapping[str, LayerPlace], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """While it lasts, the modules put the activations of the layers ``names`` into the dictionary."""
    shown: dict[str, Any] = {}
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(_hooked(places[name].module, _keeper(name, places[name], shown)))
        yield shown


def _keeper(name: str, place: LayerPlace, shown: dict[str, Any]) -> Callable[..., None]:
    runs = 0

    def keep(_: Any, given: tuple[Any, ...], made: Any) -> None:
        nonlocal runs
        runs += 1
        if runs == place.time:
            shown[name] = (given[0] if place.inward else _first(made)).detach().clone()

    return keep


@contextmanager
def _hooked(module: Any, hook: Callable[..., None]) -> Iterator[None]:
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def _watch(module: Any, run: Callable[[], Any]) -> tuple[list[Call], Any]:
    """Every run of a module inside, in the order in which they end, and the answer of the whole."""
    calls: list[Call] = []
    times: Counter[str] = Counter()
    with ExitStack() as stack:
        for name, part in module.named_modules():
            if name:
                stack.enter_context(_hooked(part, _recorder(name, part, calls=calls, times=times)))
        output = _copy(answer(run())[0])
    return calls, output


def _recorder(name: str, part: Any, *, calls: list[Call], times: Counter[str]) -> Callable[..., None]:
    def record(_: Any, given: tuple[Any, ...], made: Any) -> None:
        times[name] += 1
        label = name if times[name] == 1 else f"{name}#{times[name]}"
        calls.append(
            Call(label, LayerPlace(part, times[name]), _copy(given[0] if given else None), _copy(_first(made)))
        )

    return record


def _first(made: Any) -> Any:
    """The tensor that a module gives back; the first where it gives several."""
    if isinstance(made, tuple):
        return made[0] if made else None
    return next(iter(made.values()), None) if isinstance(made, Mapping) else made


def _copy(value: Any) -> Any:
    """A copy, because later modules may work in place; None for what is no tensor of numbers with rows."""
    if not hasattr(value, "is_floating_point") or not value.is_floating_point() or value.ndim < 1:
        return None
    return value.detach().clone()


def _head(calls: Sequence[Call], output: Any) -> Call | None:
    """The last module with a matrix of weights among those that ran up to the one that gave the answer."""
    last = max((i for i, call in enumerate(calls) if _equal(call.made, output)), default=len(calls) - 1)
    heads = (call for call in reversed(calls[: last + 1]) if _is_product(call.place.module))
    return next(heads, None)


def _is_product(module: Any) -> bool:
    kind = type(module).__name__
    if "Embedding" in kind:
        return False
    weight = getattr(module, "weight", None)
    return "Linear" in kind or "Conv" in kind or getattr(weight, "ndim", 0) >= 2


def _maker(calls: Sequence[Call], head: Call) -> str:
    """The last module before the head that gave what the head takes; empty where a function did, not a module.

    Compared by value: views and operations in place make the identity of tensors meaningless.
    """
    before = calls[: next(i for i, call in enumerate(calls) if call is head)]
    makers = [call for call in before if _equal(call.made, head.given)]
    plain = [call for call in makers if not any(call.place.module.children())]
    return (plain or makers)[-1].name if makers else ""


def _equal(one: Any, other: Any) -> bool:
    """Whether two tensors hold the same numbers in the same order, whatever their shapes."""
    if one is None or other is None or one.numel() != other.numel() or one.dtype != other.dtype:
        return False
    return bool((one.flatten() == other.flatten()).all())
