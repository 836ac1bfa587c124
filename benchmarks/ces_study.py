"""The study of CES and CSS (Li et al., FSE'19) again, with networks trained here.

    python benchmarks/ces_study.py                     all parts, about half an hour of CPU; writes the tables
    python benchmarks/ces_study.py digits small        some parts: digits, small, large, layers, surprise, resolution,
                                                       steering

Efficiency is the mean squared error of the technique over the variance of simple random sampling with replacement
(known exactly: the pool's variance / n), averaged over the sizes; smaller is better, and it is the share of the labels
that the technique needs. The study's own numbers stand beside ours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

import networks
from fieldcheck import models
from fieldcheck.accuracy import auxiliary
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.auxiliary.base import Trace
from fieldcheck.accuracy.designs import Ces, Css
from fieldcheck.accuracy.designs.base import Design
from fieldcheck.accuracy.estimators import estimate
from fieldcheck.core.pool.frame import Frame
from fieldcheck.core.sample import Labelled
from fieldcheck.core.types import FloatArray
from fieldcheck.models.base import Model

SIZES = range(35, 181, 5)
REPETITIONS = 50
RESULTS = Path(__file__).parent / "results" / "ces_study.md"
LAYERS = ("2", "5", "8", "10", "11")
"""Of LeNet-5: after each pooling, after each hidden layer, and the scores."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A network on its field data: activations by layer, losses, confidence where there is one."""

    layers: dict[str, npt.NDArray[np.float32]]
    losses: FloatArray
    doubt: FloatArray | None
    task: str
    last: str
    signals: dict[str, FloatArray] = field(default_factory=dict)

    def frame(self, layer: str = "", at: npt.NDArray[np.int64] | None = None) -> Frame:
        rows = np.arange(len(self.losses)) if at is None else at
        signals = {} if self.doubt is None else {"confidence": self.doubt[rows]}
        signals |= {name: values[rows] for name, values in self.signals.items()}
        task = "classification" if self.task == "classification" else "regression"
        activations = self.layers[layer or self.last][rows]
        return Frame(len(rows), task, signals, activations, traits=derived.traits())  # type: ignore[arg-type]


def classifier(
    name: str, images: networks.Images, labels: npt.NDArray[np.int64], *, names: Sequence[str] = ()
) -> Subject:
    """The network's answers and activations through the product's own adapter."""
    model = models.open_model(
        networks.trained(name), task="classification", batch=networks.batch_of(images[:8]).numpy()
    )
    outputs, layers = _run(model, images, names or [model.layer])
    wrong = (outputs.argmax(axis=1) != labels).astype(np.float64)
    return Subject(layers, wrong, 1.0 - outputs.max(axis=1).astype(np.float64), "classification", model.layer)


def _run(
    model: Model, images: networks.Images, names: Sequence[str]
) -> tuple[npt.NDArray[np.float32], dict[str, npt.NDArray[np.float32]]]:
    parts = [
        model.respond(networks.batch_of(images[at : at + 500]).numpy(), layers=names)
        for at in range(0, len(images), 500)
    ]
    layers = {name: np.concatenate([part.activations[name] for part in parts]) for name in names}
    return np.concatenate([part.outputs for part in parts]), layers


def efficiency(
    frame: Frame, losses: FloatArray, design: Design, *, sizes: Iterable[int] = SIZES, repetitions: int = REPETITIONS
) -> tuple[float, float]:
    """Mean over the sizes of MSE / variance of SRS, and the mean error in units of the SRS standard deviation."""
    truth, variance = losses.mean(), losses.var()
    ratios, biases = [], []
    for size in sizes:
        errors = np.array([_value(frame, losses, design, size, seed) - truth for seed in range(repetitions)])
        ratios.append(np.mean(errors**2) / (variance / size))
        biases.append(errors.mean() / np.sqrt(variance / size))
    return float(np.mean(ratios)), float(np.mean(biases))


def _value(frame: Frame, losses: FloatArray, design: Design, size: int, seed: int) -> float:
    sample = design.draw(frame, None, budget=size, seed=1_000 * size + seed)
    seen = losses[sample.items]
    return estimate(Labelled(sample, seen, seen > 0, frame.task)).value


def digits() -> list[str]:
    """LeNet-1/4/5 and LeNet-5 trained with two labels swapped."""
    published = {
        "lenet1": (0.588, 0.379), "lenet4": (0.655, 0.372), "lenet5": (0.708, 0.198),
        "lenet5-8-0": (0.499, 3.263), "lenet5-7-1": (0.380, 3.836), "lenet5-9-3": (0.478, 2.919),
    }  # fmt: skip
    lines = [
        "| network | accuracy | CES | published | bias of CES | CSS | published | bias of CSS |",
        "|---|" + "---|" * 7,
    ]
    for name, (ces, css) in published.items():
        subject = classifier(name, *networks.mnist("test"))
        ours = efficiency(subject.frame(), subject.losses, Ces())
        other = efficiency(subject.frame(), subject.losses, Css())
        lines.append(
            f"| {name} | {1 - subject.losses.mean():.3f} | {ours[0]:.3f} | {ces} | {ours[1]:+.2f} "
            f"| {other[0]:.3f} | {css} | {other[1]:+.2f} |"
        )
        _say(lines[-1])
    return lines


def small() -> list[str]:
    """Pools of 100 (30 labels) and 300 (50 labels): 30 random pools of the first mutant."""
    return _pools(classifier("lenet5-8-0", *networks.mnist("test")), {100: 0.443, 300: 0.375})


def _pools(subject: Subject, published: dict[int, float]) -> list[str]:
    lines = ["| pool | labels | mean | sd | maximum | published mean |", "|---|---|---|---|---|---|"]
    for size, labels in ((100, 30), (300, 50)):
        found = []
        for pool in range(30):
            at = np.random.default_rng([pool, size]).choice(len(subject.losses), size, replace=False)
            losses = subject.losses[at]
            found.append(efficiency(subject.frame(at=at), losses, Ces(), sizes=[labels])[0])
        worst, spread = max(found), np.std(found)
        lines.append(f"| {size} | {labels} | {np.mean(found):.3f} | {spread:.3f} | {worst:.3f} | {published[size]} |")
        _say(lines[-1])
    return lines


def large() -> list[str]:
    """Up to 2,500 labels; sampling without replacement gains from the size alone, which stands beside it."""
    lines = ["| network | labels | CES | SRS without replacement |", "|---|---|---|---|"]
    for name in ("lenet5", "lenet5-8-0"):
        subject = classifier(name, *networks.mnist("test"))
        for size in (200, 500, 1000, 1500, 2000, 2500):
            found, _ = efficiency(subject.frame(), subject.losses, Ces(), sizes=[size])
            lines.append(f"| {name} | {size:,} | {found:.3f} | {1 - size / len(subject.losses):.2f} |")
            _say(lines[-1])
    return lines


def layers() -> list[str]:
    """CES on each layer of LeNet-5; the study takes the last hidden one."""
    lines = ["| network | layer | neurons | CES |", "|---|---|---|---|"]
    for name in ("lenet5", "lenet5-8-0"):
        subject = classifier(name, *networks.mnist("test"), names=LAYERS)
        for layer in LAYERS:
            values = subject.layers[layer]
            found, _ = efficiency(subject.frame(layer), subject.losses, Ces(), sizes=range(60, 181, 40))
            mark = " (last hidden)" if layer == subject.last else ""
            lines.append(f"| {name} | {layer}{mark} | {values.shape[1]} | {found:.3f} |")
            _say(lines[-1])
    return lines


def surprise() -> list[str]:
    """CSS with surprise in place of confidence; the study reports that it does not help."""
    lines = ["| network | sorted by | CSS |", "|---|---|---|"]
    train, _ = networks.mnist("train")
    for name in ("lenet5", "lenet5-8-0"):
        subject = classifier(name, *networks.mnist("test"))
        reference = classifier(name, train[:10_000], networks.mnist("train")[1][:10_000])
        subject.signals.update(_surprise(name, subject, reference, train[:10_000]))
        for signal in ("confidence", "dsa", "lsa"):
            found, _ = efficiency(subject.frame(), subject.losses, Css(auxiliary=signal))
            lines.append(f"| {name} | {signal} | {found:.3f} |")
            _say(lines[-1])
    return lines


def _surprise(name: str, subject: Subject, reference: Subject, train: networks.Images) -> dict[str, FloatArray]:
    said = networks.answers(networks.trained(name), train).argmax(axis=1)
    known = Trace("classification", said, activations=reference.layers[reference.last])
    tests, _ = networks.mnist("test")
    asked = networks.answers(networks.trained(name), tests).argmax(axis=1)
    trace = Trace("classification", asked, activations=subject.layers[subject.last])
    found = {}
    for word in ("dsa", "lsa"):
        fitted = auxiliary.registry.build(word).fit(known, seed=0)
        found[word] = fitted.finish(fitted.values(trace))
    return found


def resolution() -> list[str]:
    """CIFAR-10 at full and at half resolution, in place of the study's ImageNet at low resolution."""
    images, labels = networks.cifar10("test")
    low = np.stack([cv2.resize(cv2.resize(one, (16, 16)), (32, 32)) for one in images]).astype(np.uint8)
    lines = ["| field data | accuracy | CES | CSS |", "|---|---|---|---|"]
    for name, field_images in (("as trained", images), ("half resolution", low)):
        subject = classifier("resnet", field_images, labels)
        ces = efficiency(subject.frame(), subject.losses, Ces())[0]
        css = efficiency(subject.frame(), subject.losses, Css())[0]
        lines.append(f"| {name} | {1 - subject.losses.mean():.3f} | {ces:.3f} | {css:.3f} |")
        _say(lines[-1])
    return [*lines, "", "Published, ImageNet: .567 and .471 (VGG-19, ResNet-50), at low resolution .470 and .436."]


def steering() -> list[str]:
    """Regression: the first half of the drive trains, the second is the field, also with a patch and in other light."""
    images, angles = networks.steering()
    half = len(images) // 2
    shifts: dict[str, Callable[[networks.Images], networks.Images]] = {
        "as driven": lambda x: x,
        "patch": patched,
        "light": lit,
    }
    published = {"as driven": 0.592, "patch": 0.426, "light": 0.375}
    lines = ["| field data | MSE | CES | published (Dave-orig) | bias of CES |", "|---|---|---|---|---|"]
    for name, shift in shifts.items():
        subject = regressor(shift(images[half:]), angles[half:])
        found, bias = efficiency(subject.frame(), subject.losses, Ces())
        lines.append(f"| {name} | {subject.losses.mean():.4f} | {found:.3f} | {published[name]} | {bias:+.2f} |")
        _say(lines[-1])
    return [
        *lines,
        "",
        "Pools of 100 and 300 of the patched images:",
        "",
        *_pools(regressor(patched(images[half:]), angles[half:]), {100: 0.594, 300: 0.549}),
    ]


def regressor(images: networks.Images, angles: FloatArray) -> Subject:
    model = models.open_model(networks.trained("dave"), task="regression", batch=networks.batch_of(images[:8]).numpy())
    outputs, found = _run(model, images, [model.layer])
    return Subject(found, (outputs.reshape(-1) - angles) ** 2, None, "regression", model.layer)


def patched(images: networks.Images) -> networks.Images:
    """A black square over the road, at a place of its own for each image."""
    changed = images.copy()
    rng = np.random.default_rng(7)
    tops, lefts = rng.integers(0, 36, len(images)), rng.integers(0, 130, len(images))
    for image, top, left in zip(changed, tops, lefts, strict=True):
        image[top : top + 30, left : left + 30] = 0
    return changed


def lit(images: networks.Images) -> networks.Images:
    """Brighter, with clipping."""
    return np.minimum(images.astype(np.int16) + 60, 255).astype(np.uint8)


PARTS: dict[str, tuple[str, Callable[[], list[str]]]] = {
    "digits": ("Digits: three networks, three mutants", digits),
    "small": ("Small pools (first mutant)", small),
    "large": ("Large samples", large),
    "layers": ("Other layers", layers),
    "surprise": ("CSS by surprise", surprise),
    "resolution": ("Another resolution", resolution),
    "steering": ("Steering", steering),
}


def _say(line: str) -> None:
    print(line, flush=True)


def main(chosen: list[str]) -> None:
    """Run parts; each replaces its section of the results when it is done."""
    for name in chosen or PARTS:
        title, run = PARTS[name]
        _say(title)
        record(title, f"{run.__doc__}\n\n" + "\n".join(run()))


def record(title: str, text: str) -> None:
    """Replace a section of the results; what is written above the sections stays."""
    usual = f"# CES and CSS, the study of FSE'19 again\n\n{REPETITIONS} repetitions a size, sizes 35, 40, ... 180.\n"
    head, *before = RESULTS.read_text(encoding="utf-8").split("\n## ") if RESULTS.exists() else [usual]
    sections = dict(part.strip().split("\n\n", 1) for part in before) | {title: text}
    order = [known for known, _ in PARTS.values() if known in sections]
    body = "".join(f"\n## {known}\n\n{sections[known]}\n" for known in order)
    RESULTS.write_text(head + body, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
