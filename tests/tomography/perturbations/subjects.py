"""Images and texts that the tests of perturbations share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_sample_images

from fieldcheck.tomography import perturbations
from fieldcheck.tomography.perturbations.base import Perturbation

Images = npt.NDArray[Any]

IMAGES = [name for name in perturbations.registry if perturbations.registry[name].kind == "image"]
TEXTS = [name for name in perturbations.registry if perturbations.registry[name].kind == "text"]
VARIANTS = [
    *("brightness:scale=cifar", "brightness:scale=deeptest", "contrast:scale=mnist", "contrast:scale=deeptest"),
    *("zoom:direction=in", "translate:pixels=published", "rotate:scale=mnist", "motion-blur:scale=cifar"),
    *("gaussian-noise:scale=imagenet", "shot-noise:scale=imagenet", "jpeg-compression:scale=imagenet"),
    *("saturation:direction=more", "impulse-noise:scale=imagenet"),
]
SENTENCES = [
    "What's the best way to buy a movie? I don't know, it is wonderful and you are not there!",
    "The large car stopped quickly; nobody had seen the funny story in the city.",
    "Hi",
    "",
]


def patterns(count: int, height: int, width: int, channels: int = 3) -> npt.NDArray[np.uint8]:
    """Smooth colourful textures with edges, made of whole numbers: natural enough, and equal on every machine."""
    item, y, x, channel = np.ogrid[:count, :height, :width, :channels]
    wave = (x * (3 + item % 5) + y * (2 + item % 3) + 40 * channel + 17 * item) % 256
    smooth = np.minimum(wave, 255 - wave) * 2
    edge = ((x // 5 + y // 7 + item) % 3 == 0) * (60 + 20 * channel)
    return np.clip(smooth // 2 + edge + 20, 0, 255).astype(np.uint8)


@cache
def photographs(side: int) -> npt.NDArray[np.uint8]:
    """60 crops of the two photographs that come with scikit-learn, ``side`` pixels each way at a third of the size."""
    places = [(y, x) for y in range(0, 331, 66) for x in range(0, 540, 108)]
    step = 3
    crops = [
        photo[y : y + step * side : step, x : x + step * side : step]
        for photo in load_sample_images().images
        for y, x in places
    ]
    return np.stack(crops)


def run(spec: str, batch: Any, severity: Any, *, seed: int = 0, items: Any = None) -> Any:
    """Apply a perturbation as the engine does: streams named by seed, name, item and severity."""
    made = build(spec)
    levels = np.broadcast_to(np.asarray(severity, dtype=np.int64), (len(batch),))
    positions = np.arange(len(batch)) if items is None else items
    return made.apply(batch, levels, perturbations.ItemStreams.of(seed, made.name, positions, levels))


def build(spec: str) -> Perturbation:
    return perturbations.registry.build(spec)
