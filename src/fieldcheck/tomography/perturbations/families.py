"""The perturbations that the papers test together."""

from __future__ import annotations

from fieldcheck.core.errors import SpaceError

_FAMILIES: dict[str, tuple[str, ...]] = {
    "digits": ("brightness", "zoom", "motion-blur", "shear"),
    "natural": ("shot-noise", "brightness:scale=cifar", "jpeg-compression", "contrast"),
    "driving": ("scale", "contrast:scale=deeptest", "translate", "brightness:scale=deeptest"),
    "signs": ("darken", "codec-error", "gaussian-blur", "exposure"),
    "text": ("synonym", "typos", "contraction", "punctuation"),
    "cifar-10-c": (
        *("gaussian-noise", "shot-noise", "impulse-noise", "defocus-blur", "glass-blur", "motion-blur:scale=cifar"),
        *("zoom-blur", "snow", "frost", "fog", "brightness:scale=cifar", "contrast", "elastic", "pixelate"),
        "jpeg-compression",
    ),
    "mnist-c": (
        *("shot-noise:scale=imagenet", "impulse-noise:scale=imagenet", "glass-blur", "motion-blur", "shear", "zoom"),
        *("rotate:scale=mnist", "brightness", "translate", "stripe", "fog", "spatter", "dotted-line", "zigzag"),
        "canny-edges",
    ),
    "cure-tsd": (
        *("saturation", "defocus-blur", "codec-error", "darken", "dirty-lens", "exposure", "gaussian-blur"),
        *("gaussian-noise:scale=imagenet", "rain", "shadow", "snow", "haze"),
    ),
}


_ALSO = {"mnist": "digits", "cifar": "natural", "deeptest": "driving"}


def family(name: str) -> list[str]:
    """The perturbations of a family, as the registry builds them, in the papers' order.

    Whole benchmarks: cifar-10-c (15), mnist-c (15), cure-tsd (12). The four of each task that are tested together:
    digits (or mnist), natural (or cifar), driving (or deeptest), signs, text: Mu and Gilmer 2019; Hendrycks and
    Dietterich 2019; Tian et al. 2018; Temel et al. 2017; the four of the tomography paper.
    """
    key = name.strip().lower()
    if _ALSO.get(key, key) not in _FAMILIES:
        raise SpaceError(f"no family '{name}'", rule="there are: " + ", ".join(families()), hint="--family digits")
    return list(_FAMILIES[_ALSO.get(key, key)])


def families() -> list[str]:
    """The names that ``family`` knows."""
    return [*_FAMILIES, *_ALSO]
