"""Images per CPU second of every image perturbation, beside other libraries that have the same operation.

    OMP_NUM_THREADS=1 python benchmarks/perturbation_speed.py [--kornia FOLDER]
    OMP_NUM_THREADS=1 python benchmarks/perturbation_speed.py micro        microseconds at 32 x 32, beside a plain copy

All in one run, one thread, severity 3, bytes in and bytes out: grey images of 28 x 28, colour images of 32 x 32 and of
224 x 224. Others are called as their users call them: OpenCV and Pillow image by image, kornia (a folder that it is
installed in) on the whole batch, numpy's own generators for noise. Last, a LeNet on the 28 x 28 images: perturbing
should not take longer than asking the model. Texts: edits of a sentence of 17 words.
"""

from __future__ import annotations

import importlib.util
import io
import sys
import time
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageEnhance, ImageFilter
from sklearn.datasets import load_sample_images

from fieldcheck.core.rng import ItemStreams
from fieldcheck.tomography.perturbations import registry

Batch = np.ndarray[Any, np.dtype[np.uint8]]
Others = dict[str, Callable[[Batch], Any]]
SENTENCE = "What's the best way to buy a movie? I don't know, it is wonderful and you are not there!"


BAR = 60
"""Microseconds that a colour image of 32 x 32 may take, where the operation allows."""


def micro() -> None:
    """Every perturbation of images at 32 x 32 in colour: CPU time of one image, and of a plain copy in the same run."""
    batch = crops(32, 1000, colour=True)
    names = [name for name in registry if registry[name].kind == "image"]
    found = sorted((1e6 / rate(ours(name), batch), name) for name in names)
    under = sum(time <= BAR for time, _ in found)
    print(f"plain copy {1e6 / rate(np.copy, batch):.2f}; {under} of {len(found)} take {BAR} or less")
    print(", ".join(f"{name} {time:.0f}" for time, name in found))


def main() -> None:
    cv2.setNumThreads(1)
    if "micro" in sys.argv:
        micro()
        return
    if "--kornia" in sys.argv:
        sys.path.append(sys.argv[sys.argv.index("--kornia") + 1])
    for side, count, colour in ((28, 4000, False), (32, 2000, True), (224, 24, True)):
        batch = crops(side, count, colour=colour)
        print(f"\n{side} x {side} {'colour' if colour else 'grey'}, images per CPU second")
        print(f"{'perturbation':18}{'fieldcheck':>12}  others")
        for name in registry:
            if registry[name].kind == "image":
                beside = (f"{other} {rate(call, batch):,.0f}" for other, call in others(name, side).items())
                print(f"{name:18}{rate(ours(name), batch):>12,.0f}  {', '.join(beside)}")
    print(f"\nLeNet on 28 x 28: {rate(lenet(), crops(28, 4000, colour=False)):,.0f} images per CPU second")
    print("\ntexts per CPU second, 3 edits")
    for name in registry:
        if registry[name].kind == "text":
            print(f"{name:18}{rate(ours(name), [SENTENCE] * 2000):>12,.0f}")


def rate(call: Callable[[Any], Any], batch: Any) -> float:
    """The best of three, after one call that fills the tables."""
    call(batch)
    times = []
    for _ in range(3):
        start = time.process_time()
        call(batch)
        times.append(time.process_time() - start)
    return len(batch) / min(times)


def crops(side: int, count: int, *, colour: bool) -> Batch:
    photo = load_sample_images().images[0]
    rng = np.random.default_rng(0)
    corners = rng.integers(0, np.array(photo.shape[:2]) - side, size=(count, 2))
    images = np.stack([photo[y : y + side, x : x + side] for y, x in corners])
    return images if colour else images[..., 1]


def ours(name: str) -> Callable[[Any], Any]:
    made = registry.build(name)

    def call(batch: Any) -> Any:
        severity = np.full(len(batch), 3)
        return made.apply(batch, severity, ItemStreams.of(0, name, np.arange(len(batch)), severity))

    return call


def one_by_one(change: Callable[[Any], Any]) -> Callable[[Batch], Any]:
    return lambda batch: np.stack([change(image) for image in batch])


def pillow(change: Callable[[Image.Image], Image.Image]) -> Callable[[Batch], Any]:
    return one_by_one(lambda image: np.asarray(change(Image.fromarray(image))))


def others(name: str, side: int) -> Others:
    """The same operation in other libraries, with about the same strength."""
    matrices = {
        "zoom": [[0.7, 0, 0.15 * side], [0, 0.7, 0.15 * side]],
        "scale": [[3.7, 0, -1.35 * side], [0, 3.7, -1.35 * side]],
        "translate": [[1, 0, 0.12 * side], [0, 1, 0.12 * side]],
        "rotate": [[0.95, 0.31, -0.13 * side], [-0.31, 0.95, 0.18 * side]],
        "shear": [[1, 0.56, -0.28 * side], [0, 0.83, 0.08 * side]],
    }
    if name in matrices:
        return warps(np.array(matrices[name], dtype=np.float64), side)
    found: Others = {**by_opencv(name, side), **by_pillow(name, side), **by_numpy(name)}
    return found | by_kornia(name, side)


def warps(matrix: Any, side: int) -> Others:
    inverse = cv2.invertAffineTransform(matrix).ravel().tolist()
    transform = Image.Transform.AFFINE
    found: Others = {
        "opencv": one_by_one(lambda image: cv2.warpAffine(image, matrix, (side, side))),
        "pillow": pillow(lambda image: image.transform(image.size, transform, inverse, Image.Resampling.BILINEAR)),
    }
    if kornia := installed("kornia.geometry.transform"):
        found["kornia"] = torched(
            lambda x: kornia.warp_affine(x, x.new_tensor(matrix).expand(len(x), 2, 3), (side, side))
        )
    return found


def by_opencv(name: str, side: int) -> Others:
    line = np.eye(tail(side), dtype=np.float32) / tail(side)
    calls: dict[str, Callable[[Any], Any]] = {
        "brightness": lambda image: cv2.convertScaleAbs(image, alpha=1.0, beta=76.5),
        "contrast": lambda image: cv2.convertScaleAbs(image, alpha=0.4, beta=0.6 * image.mean()),
        "gaussian-blur": lambda image: cv2.GaussianBlur(image, (0, 0), 0.03 * side),
        "motion-blur": lambda image: cv2.filter2D(image, -1, line),
        "jpeg-compression": lambda image: cv2.imdecode(
            cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 58])[1], cv2.IMREAD_UNCHANGED
        ),
    }
    return {"opencv": one_by_one(calls[name])} if name in calls else {}


def tail(side: int) -> int:
    """Length of the motion blur at severity 3: three standard deviations of 8 pixels on 28, odd."""
    return round(24 / 28 * side) | 1


def by_pillow(name: str, side: int) -> Others:
    calls: dict[str, Callable[[Image.Image], Image.Image]] = {
        "brightness": lambda image: ImageEnhance.Brightness(image).enhance(1.3),
        "contrast": lambda image: ImageEnhance.Contrast(image).enhance(0.4),
        "saturation": lambda image: ImageEnhance.Color(image).enhance(0.4),
        "sharpness": lambda image: ImageEnhance.Sharpness(image).enhance(3.0),
        "gaussian-blur": lambda image: image.filter(ImageFilter.GaussianBlur(0.03 * side)),
        "jpeg-compression": through_file,
    }
    return {"pillow": pillow(calls[name])} if name in calls else {}


def through_file(image: Image.Image) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=58)
    return Image.open(file)


def by_numpy(name: str) -> Others:
    rng = np.random.default_rng(0)
    calls: Others = {
        "gaussian-noise": lambda x: np.clip(x + rng.normal(0, 20.4, x.shape), 0, 255).astype(np.uint8),
        "shot-noise": lambda x: np.clip(rng.poisson(x * (100 / 255)) * 2.55, 0, 255).astype(np.uint8),
    }
    return {"numpy": calls[name]} if name in calls else {}


def installed(module: str) -> Any:
    """The module, or None where it is not installed."""
    return importlib.import_module(module) if importlib.util.find_spec(module.partition(".")[0]) else None


def by_kornia(name: str, side: int) -> Others:
    kornia = installed("kornia")
    size, deviation = 2 * int(np.ceil(0.12 * side)) + 1, 0.03 * side
    calls: dict[str, Callable[[Any], Any]] = {
        "brightness": lambda x: kornia.enhance.adjust_brightness(x, 0.3),
        "contrast": lambda x: kornia.enhance.adjust_contrast_with_mean_subtraction(x, 0.4),
        "saturation": lambda x: kornia.enhance.adjust_saturation(x, 0.4) if x.shape[1] == 3 else x,
        "gaussian-blur": lambda x: kornia.filters.gaussian_blur2d(x, (size, size), (deviation, deviation)),
        "motion-blur": lambda x: kornia.filters.motion_blur(x, tail(side), 20.0, 0.0),
    }
    return {"kornia": torched(calls[name])} if kornia and name in calls else {}


def torched(change: Callable[[Any], Any]) -> Callable[[Batch], Any]:
    """Bytes to a float tensor with channels first, and back."""

    def call(batch: Batch) -> Any:
        import torch

        images = batch if batch.ndim == 4 else batch[..., None]
        tensor = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
        return (change(tensor).clamp(0, 1) * 255).round().to(torch.uint8).permute(0, 2, 3, 1).contiguous().numpy()

    return call


def lenet() -> Callable[[Batch], Any]:
    import torch
    from torch import nn

    torch.set_num_threads(1)
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10)),
    ).eval()

    def call(batch: Batch) -> Any:
        with torch.inference_mode():
            parts = [torch.from_numpy(batch[at : at + 512, None]).float() / 255 for at in range(0, len(batch), 512)]
            return [model(part) for part in parts]

    return call


if __name__ == "__main__":
    main()
