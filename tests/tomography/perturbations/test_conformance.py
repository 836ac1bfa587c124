"""What every image perturbation must do, on every kind of image. A new one is tested by being in the registry."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.testing import check_perturbation
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.perturbations.base import Perturbation

from .subjects import IMAGES, TEXTS, VARIANTS, Images, build, patterns, photographs, run

CASES: dict[str, Images] = {
    "8x8 grey": patterns(4, 8, 8, 1)[..., 0],
    "28x28 grey": patterns(6, 28, 28, 1),
    "32x32 colour": patterns(6, 32, 32),
    "33x57 float32": patterns(3, 33, 57).astype(np.float32) / np.float32(255),
    "70x65 float64": patterns(2, 70, 65, 1)[..., 0] / 255.0,
    "constant": np.full((3, 16, 16, 3), 77, dtype=np.uint8),
    "black": np.zeros((3, 16, 16), dtype=np.uint8),
    "white": np.ones((3, 16, 20, 3), dtype=np.float32),
    "none": np.zeros((0, 16, 16), dtype=np.uint8),
}
ALL = [*IMAGES, *VARIANTS]


@pytest.mark.parametrize("spec", [*ALL, *TEXTS])
def test_every_perturbation(spec: str) -> None:
    check_perturbation(build(spec))


@pytest.mark.parametrize("name", [*IMAGES, *TEXTS])
def test_it_is_described(name: str) -> None:
    made = build(name)
    assert isinstance(made, Perturbation)
    assert made.name == name
    assert made.title
    assert type(made).__doc__
    assert made.levels == (20 if made.kind == "text" else 5)
    assert getattr(made, "paper", "")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("spec", ALL)
def test_shape_and_dtype_stay_and_zero_is_the_identity(spec: str, case: str) -> None:
    batch = CASES[case]
    before = batch.copy()
    severity = np.arange(len(batch)) % 6
    out = run(spec, batch, severity)
    assert out.dtype == batch.dtype
    assert out.shape == batch.shape
    assert np.array_equal(out[severity == 0], batch[severity == 0])
    assert np.array_equal(run(spec, batch, 0), batch)
    assert np.array_equal(batch, before), "it writes into what it is given"
    if out.size:
        assert out.min() >= 0
        assert out.max() <= (255 if out.dtype == np.uint8 else 1)


@pytest.mark.parametrize("case", ["8x8 grey", "28x28 grey", "32x32 colour", "33x57 float32"])
@pytest.mark.parametrize("spec", ALL)
def test_an_item_does_not_depend_on_its_batch(spec: str, case: str) -> None:
    batch = np.concatenate([CASES[case]] * 4)
    severity = np.arange(len(batch)) % 6
    together = run(spec, batch, severity, seed=5)
    order = np.arange(len(batch))[::-1]
    assert np.array_equal(run(spec, batch[order], severity[order], seed=5, items=order), together[order])
    alone = [run(spec, batch[at : at + 1], severity[at], seed=5, items=[at]) for at in range(len(batch))]
    assert np.array_equal(np.concatenate(alone), together)


@pytest.mark.parametrize("name", IMAGES)
def test_randomness_is_declared(name: str) -> None:
    batch = np.repeat(patterns(1, 24, 24), 16, axis=0)
    one, other = run(name, batch, 3, seed=0), run(name, batch, 3, seed=1)
    assert np.array_equal(one, other) != build(name).random
    assert np.all(one == one[0]) != build(name).random


@pytest.mark.parametrize("spec", sorted(set(ALL) - {"translate:pixels=published"}))
def test_distortion_grows_with_severity(spec: str) -> None:
    """Mean distance from the original, 60 photographs: each level is further away than the one before."""
    batch = photographs(32)
    distances = [float(np.abs(run(spec, batch, level).astype(float) - batch).mean()) for level in range(6)]
    assert distances[0] == 0
    assert np.all(np.diff(distances) > 0), distances


@pytest.mark.parametrize("name", sorted(set(IMAGES) - {"shot-noise"}))
def test_float_images_get_what_bytes_get(name: str) -> None:
    """The same image as bytes and as floats; shot noise counts photons, which bytes round."""
    batch = patterns(5, 32, 32)
    as_bytes = run(name, batch, 2)
    as_floats = run(name, batch / 255.0, 2)
    assert np.abs(as_floats * 255 - as_bytes).max() <= 0.51


GOLDEN = {
    "brightness": "fc4f9e9e16c5",
    "canny-edges": "96b60f7016b1",
    "codec-error": "9dc5c09b1760",
    "contrast": "5b6c5b6a5b6d",
    "darken": "cf6452ca887b",
    "defocus-blur": "f201163b0a11",
    "dotted-line": "a761cc793c0b",
    "exposure": "f45a24506e9f",
    "gaussian-blur": "dd192dfa87d4",
    "gaussian-noise": "ff144609c35e",
    "glass-blur": "10222debd638",
    "haze": "a138138eb8d9",
    "impulse-noise": "d7c7c115778d",
    "jpeg-compression": "6c7dbe315bb6",
    "motion-blur": "94944f37fbee",
    "occlusion": "8c63b24458aa",
    "pixelate": "09691686b5fa",
    "rain": "fb49493a4041",
    "rotate": "53514d39b1ee",
    "saturation": "299772ec9e63",
    "scale": "183d06ca876b",
    "shadow": "6748304ffd64",
    "sharpness": "2fb264b7a5ee",
    "shear": "a2d2d2b15f46",
    "shot-noise": "1fd2bdd43a5b",
    "snow": "51745685e482",
    "stripe": "637477eb09ba",
    "translate": "8104982440e5",
    "zigzag": "ddabd7d67236",
    "zoom": "9c1227fae1e9",
    "zoom-blur": "417551970256",
}

SUMS_OF_FLOATS = {"dirty-lens", "elastic", "fog", "frost", "spatter"}


@pytest.mark.parametrize("name", sorted(set(IMAGES) - SUMS_OF_FLOATS))
def test_pixels_are_pinned(name: str) -> None:
    """The very bytes, on every machine; sums of floats may be rounded otherwise elsewhere."""
    made = run(name, patterns(10, 28, 28), np.arange(10) % 5 + 1, seed=11)
    assert hashlib.sha256(made.tobytes()).hexdigest()[:12] == GOLDEN[name]


@pytest.mark.parametrize(
    "batch",
    [
        np.zeros((2, 7, 9), dtype=np.uint8),
        np.zeros((2, 3, 16, 16), dtype=np.uint8),
        np.zeros((2, 16, 16), dtype=np.int32),
        np.full((2, 16, 16), 1.5),
        np.full((2, 16, 16), np.nan),
        np.zeros((16, 16), dtype=np.uint8),
    ],
    ids=["small", "channels first", "int32", "above 1", "nan", "one image"],
)
def test_other_arrays_are_refused(batch: Images) -> None:
    with pytest.raises(FieldcheckError):
        run("brightness", batch, 1)


@pytest.mark.parametrize("severity", [[1], [1, 21], [-1, 1]])
@pytest.mark.parametrize(("name", "batch"), [("fog", np.zeros((2, 9, 9), np.uint8)), ("typos", ["one", "two"])])
def test_severities_that_are_not_defined_are_refused(name: str, batch: Images | list[str], severity: list[int]) -> None:
    draws = perturbations.ItemStreams.of(0, name, [0, 1], [1, 1])
    with pytest.raises(FieldcheckError):
        build(name).apply(batch, np.array(severity), draws)
