"""Disturbed copies of images, for a second model that should bear what the field may bring.

Images are tensors, one per item, with channels first and values from 0 to 1. Each disturbance meets a random half of
a batch (Shorten and Khoshgoftaar, A survey on image data augmentation, Journal of Big Data 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Augmentation = Callable[[Any, Any, Any], Any]


def augmented(torch: Any, images: Any, names: Sequence[str], noise: Any) -> Any:
    """The images after the named disturbances, in the order of the table below."""
    for name, change in TABLE.items():
        if name in names:
            met = torch.rand(len(images), 1, 1, 1, generator=noise) < 0.5
            images = torch.where(met, change(torch, images, noise), images)
    return images


def _between(torch: Any, images: Any, noise: Any, *, low: float, high: float) -> Any:
    """One number per image."""
    return low + (high - low) * torch.rand(len(images), 1, 1, 1, generator=noise)


def flip(torch: Any, images: Any, noise: Any) -> Any:
    """Left to right."""
    return images.flip(3)


def shift(torch: Any, images: Any, noise: Any) -> Any:
    """Moved by up to an eighth of its size in both directions; the border is repeated."""

    def along(size: int) -> Any:
        most = max(1, size // 8)
        by = torch.randint(-most, most + 1, (len(images), 1), generator=noise)
        return (torch.arange(size) + by).clamp(0, size - 1)

    rows, columns = along(images.shape[2]), along(images.shape[3])
    item = torch.arange(len(images))[:, None, None]
    return images.permute(0, 2, 3, 1)[item, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def brightness(torch: Any, images: Any, noise: Any) -> Any:
    """Contrast from half to one and a half, and a fifth darker to a fifth brighter."""
    contrast = _between(torch, images, noise, low=0.5, high=1.5)
    return (images * contrast + _between(torch, images, noise, low=-0.2, high=0.2)).clamp(0, 1)


def blur(torch: Any, images: Any, noise: Any) -> Any:
    """Each pixel the mean of its neighbourhood of 3 x 3, blended with what it was."""
    smooth = torch.nn.functional.avg_pool2d(images, 3, stride=1, padding=1, count_include_pad=False)
    return torch.lerp(images, smooth, _between(torch, images, noise, low=0.3, high=1.0))


def occlusion(torch: Any, images: Any, noise: Any) -> Any:
    """A rectangle of a quarter to a half of each side, in one grey."""

    def covered(size: int) -> Any:
        length = size * (0.25 + 0.25 * torch.rand(len(images), 1, generator=noise))
        start = (size - length) * torch.rand(len(images), 1, generator=noise)
        place = torch.arange(size) + 0.5
        return (place >= start) & (place < start + length)

    inside = covered(images.shape[2])[:, None, :, None] & covered(images.shape[3])[:, None, None, :]
    return torch.where(inside, _between(torch, images, noise, low=0.0, high=1.0), images)


def speckle(torch: Any, images: Any, noise: Any) -> Any:
    """Normal noise with a standard deviation of up to a quarter."""
    size = _between(torch, images, noise, low=0.0, high=0.25)
    return images + size * torch.randn(images.shape, generator=noise)


TABLE: Mapping[str, Augmentation] = {
    "flip": flip,
    "shift": shift,
    "brightness": brightness,
    "blur": blur,
    "occlusion": occlusion,
    "noise": speckle,
}
