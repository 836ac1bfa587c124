"""The perturbations, one a file. A new one is a file and a line below; users' own are one function and one line.

Severity 0 is the identity; images have severities to 5, texts as many edits as the severity says.
"""

from __future__ import annotations

from collections.abc import Callable

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.registry import Registry
from fieldcheck.core.rng import ItemStreams
from fieldcheck.tomography.perturbations.base import Perturbation
from fieldcheck.tomography.perturbations.families import families, family
from fieldcheck.tomography.perturbations.image.brightness import Brightness
from fieldcheck.tomography.perturbations.image.canny_edges import CannyEdges
from fieldcheck.tomography.perturbations.image.codec_error import CodecError
from fieldcheck.tomography.perturbations.image.contrast import Contrast
from fieldcheck.tomography.perturbations.image.darken import Darken
from fieldcheck.tomography.perturbations.image.defocus_blur import DefocusBlur
from fieldcheck.tomography.perturbations.image.dirty_lens import DirtyLens
from fieldcheck.tomography.perturbations.image.dotted_line import DottedLine
from fieldcheck.tomography.perturbations.image.elastic import Elastic
from fieldcheck.tomography.perturbations.image.exposure import Exposure
from fieldcheck.tomography.perturbations.image.fog import Fog
from fieldcheck.tomography.perturbations.image.frost import Frost
from fieldcheck.tomography.perturbations.image.gaussian_blur import GaussianBlur
from fieldcheck.tomography.perturbations.image.gaussian_noise import GaussianNoise
from fieldcheck.tomography.perturbations.image.glass_blur import GlassBlur
from fieldcheck.tomography.perturbations.image.haze import Haze
from fieldcheck.tomography.perturbations.image.impulse_noise import ImpulseNoise
from fieldcheck.tomography.perturbations.image.jpeg_compression import JpegCompression
from fieldcheck.tomography.perturbations.image.motion_blur import MotionBlur
from fieldcheck.tomography.perturbations.image.occlusion import Occlusion
from fieldcheck.tomography.perturbations.image.pixelate import Pixelate
from fieldcheck.tomography.perturbations.image.rain import Rain
from fieldcheck.tomography.perturbations.image.rotate import Rotate
from fieldcheck.tomography.perturbations.image.saturation import Saturation
from fieldcheck.tomography.perturbations.image.scale import Scale
from fieldcheck.tomography.perturbations.image.shadow import Shadow
from fieldcheck.tomography.perturbations.image.sharpness import Sharpness
from fieldcheck.tomography.perturbations.image.shear import Shear
from fieldcheck.tomography.perturbations.image.shot_noise import ShotNoise
from fieldcheck.tomography.perturbations.image.snow import Snow
from fieldcheck.tomography.perturbations.image.spatter import Spatter
from fieldcheck.tomography.perturbations.image.stripe import Stripe
from fieldcheck.tomography.perturbations.image.translate import Translate
from fieldcheck.tomography.perturbations.image.zigzag import Zigzag
from fieldcheck.tomography.perturbations.image.zoom import Zoom
from fieldcheck.tomography.perturbations.image.zoom_blur import ZoomBlur
from fieldcheck.tomography.perturbations.own import Change, OneByOne, made_of
from fieldcheck.tomography.perturbations.text.base import Edited
from fieldcheck.tomography.perturbations.text.casing import Casing
from fieldcheck.tomography.perturbations.text.contraction import Contraction
from fieldcheck.tomography.perturbations.text.keyboard import Keyboard
from fieldcheck.tomography.perturbations.text.punctuation import Punctuation
from fieldcheck.tomography.perturbations.text.synonym import Synonym
from fieldcheck.tomography.perturbations.text.typos import Typos
from fieldcheck.tomography.perturbations.text.word_order import WordOrder

__all__ = ["Edited", "ItemStreams", "families", "family", "register", "registry"]


registry: Registry[Perturbation] = Registry(
    "perturbation",
    "fieldcheck.perturbations",
    *(Brightness, Contrast, Darken, Exposure, Saturation, Sharpness, Fog),
    *(Zoom, Scale, Translate, Rotate, Shear, Elastic),
    *(GaussianBlur, DefocusBlur, MotionBlur, ZoomBlur, GlassBlur, Pixelate, JpegCompression, CodecError, CannyEdges),
    *(GaussianNoise, ShotNoise, ImpulseNoise, Occlusion, Stripe, DottedLine, Zigzag),
    *(Haze, Rain, Snow, Frost, Shadow, Spatter, DirtyLens),
    *(Synonym, Typos, Keyboard, Contraction, Punctuation, Casing, WordOrder),
    error=SpaceError,
    hint="fieldcheck tomography list perturbations",
)


def register(
    name: str, *, kind: Kind, levels: int = 5, title: str = "", still: bool = False
) -> Callable[[Change], type[OneByOne]]:
    """Make a perturbation of the function below, and know it by ``name``.

    The function gets one item, its severity (1 and up) and a numpy generator of its own; items at severity 0 never get
    there. ``kind`` is what an item is: an image, a text, or a row (also a time series: any array).
    ``still``: what is in an image stays where it is, so that true boxes do.
    """

    def make(function: Change) -> type[OneByOne]:
        made = made_of(function, name, kind=kind, levels=levels, title=title, still=still)
        registry.add(made)
        return made

    return make
