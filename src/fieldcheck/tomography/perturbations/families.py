"""The perturbations that the papers test together."""

from __future__ import annotations

from fieldcheck.core.errors import SpaceError

_FAMILIES: dict[str, tuple[str, ...]] = {
    "digits": ("brightness", "zoom", "motion-blur", "shear"),
    "natural": ("shot-noise", "brightness:scale=cifar", "jpeg-compression", "contrast"),
    "driving": ("scale", "contrast:scale=deeptest", "translate", "brightness:scale=deeptest"),
    "signs": ("darken", "codec-error", "gaussian-blur", "exposure"),
    "text": ("synonym", "typos", "contraction", "punctuation"),
}


_ALSO = {"mnist": "digits", "cifar": "natural", "deeptest": "driving"}


def family(name: str) -> list[str]:
    """The perturbations of a family, as the registry builds them, in the papers' order.

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
