"""Make the pictures of the image perturbations in the documentation: severities 0 to 5 of four images each.

    python benchmarks/perturbation_pictures.py

The images are a digit and two photographs that come with scikit-learn, and a drawn sign; nothing is downloaded.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits, load_sample_images

from fieldcheck.core.rng import ItemStreams
from fieldcheck.tomography.perturbations import registry

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures" / "perturbations"
SIDE, GAP = 64, 4
Images = npt.NDArray[np.uint8]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = np.stack([digit(), photograph(0), photograph(1), sign()])
    for name in registry:
        if registry[name].kind == "image":
            picture = Image.fromarray(sheet(name, rows)).quantize(96, dither=Image.Dither.NONE)
            picture.save(FOLDER / f"{name}.png", optimize=True)
    print(f"{sum(file.stat().st_size for file in FOLDER.glob('*.png')):,} bytes in {FOLDER}")


def sheet(name: str, images: Images) -> Images:
    """One row per image, one column per severity, on white."""
    made = registry.build(name)
    count = len(images)
    canvas = np.full((count * (SIDE + GAP) - GAP, 6 * (SIDE + GAP) - GAP, 3), 255, dtype=np.uint8)
    for level in range(6):
        severity = np.full(count, level)
        out = made.apply(images, severity, ItemStreams.of(1, name, np.arange(count), severity))
        for row in range(count):
            top, left = row * (SIDE + GAP), level * (SIDE + GAP)
            canvas[top : top + SIDE, left : left + SIDE] = out[row]
    return canvas


def digit() -> Images:
    small = (load_digits().images[3] * (255 / 16)).astype(np.uint8)
    return resized(Image.fromarray(np.pad(small, 1)).convert("RGB"))


def photograph(number: int) -> Images:
    photo = Image.fromarray(load_sample_images().images[number])
    left = (photo.width - photo.height) // 2
    return resized(photo.crop((left, 0, left + photo.height, photo.height)))


def sign() -> Images:
    picture = Image.new("RGB", (256, 256), (120, 160, 200))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 190, 256, 256), fill=(90, 100, 80))
    draw.rectangle((120, 120, 136, 256), fill=(110, 110, 110))
    draw.ellipse((58, 30, 198, 170), fill=(200, 30, 40))
    draw.ellipse((80, 52, 176, 148), fill=(245, 245, 240))
    draw.rectangle((92, 90, 164, 110), fill=(20, 20, 20))
    return resized(picture)


def resized(picture: Image.Image) -> Images:
    return np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS), dtype=np.uint8)


if __name__ == "__main__":
    main()
