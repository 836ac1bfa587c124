"""Figures 1, 5 and 11 as SVG: the space as voxels, and perturbed images."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray


def shrunk(images: npt.NDArray[np.uint8]) -> FloatArray:
    """The pixels of frames at a size of 32 x 32, one row per frame."""
    small = [cv2.resize(image, (32, 32), interpolation=cv2.INTER_AREA) for image in images]
    return np.stack(small).reshape(len(small), -1) / 255.0


SIDE = 22
"""Pixels of an edge of a voxel."""


def voxels(space: Space, robustness: FloatArray, inside: IntArray) -> str:
    """The tests of a query as cubes, red for 0 to green for 1; the others are left out."""
    # Numbers of tests grow with every severity, so what is further to the front is drawn later.
    cubes = "".join(
        _cube(*map(int, place), value=float(robustness[test]))
        for test, place in zip(inside.tolist(), space.severities(inside), strict=True)
    )
    names = ", ".join(space.names)
    words = f'<text x="8" y="16" font-family="sans-serif" font-size="12">to the right, to the front, up: {names}</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 340 330">{words}{cubes}</svg>\n'


def _cube(right: int, front: int, up: int, *, value: float) -> str:
    across, down = 0.8 * SIDE, 0.4 * SIDE
    x, y = 160 + (right - front) * across, 190 + (right + front) * down - up * SIDE
    hue = round(120 * value)
    top = [(x, y), (x + across, y + down), (x, y + 2 * down), (x - across, y + down)]
    left = [top[3], top[2], (x, y + 2 * down + SIDE), (x - across, y + down + SIDE)]
    far = [top[2], top[1], (x + across, y + down + SIDE), (x, y + 2 * down + SIDE)]
    faces = ((top, 62), (left, 50), (far, 42))
    return "".join(_face(points, f"hsl({hue},70%,{light}%)") for points, light in faces)


def _face(points: Sequence[tuple[float, float]], colour: str) -> str:
    shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon points="{shown}" fill="{colour}" stroke="white" stroke-width=".5"/>'


def strip(images: Sequence[npt.NDArray[np.uint8]], words: Sequence[str], *, size: int = 90) -> str:
    """Images beside each other, each with words below it."""
    parts = []
    for place, (image, text) in enumerate(zip(images, words, strict=True)):
        shown = image[..., ::-1] if image.ndim == 3 else image
        tall = round(size * image.shape[0] / image.shape[1])
        way = cv2.INTER_AREA if image.shape[1] > size else cv2.INTER_NEAREST
        large = cv2.resize(np.ascontiguousarray(shown), (size, tall), interpolation=way)
        data = base64.b64encode(cv2.imencode(".png", large)[1].tobytes()).decode()
        x = place * (size + 14)
        parts.append(f'<image x="{x}" y="0" width="{size}" height="{tall}" href="data:image/png;base64,{data}"/>')
        parts.append(f'<text x="{x}" y="{size + 14}" font-family="sans-serif" font-size="10">{text}</text>')
    width = len(images) * (size + 14)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {size + 22}">{"".join(parts)}</svg>\n'
