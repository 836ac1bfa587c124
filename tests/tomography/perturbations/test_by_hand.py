"""Image perturbations against values that can be worked out by hand, or by another library."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from fieldcheck.core.rng import ItemStreams

from .subjects import build, patterns, photographs, run

LEVELS = range(1, 6)


def grey(*values: float) -> np.ndarray:
    """An 8 x 8 image that consists of ``values`` in turn."""
    return np.resize(np.array(values, dtype=np.uint8), (1, 8, 8))


def pixel(out: np.ndarray) -> float:
    return float(out.ravel()[0])


@pytest.mark.parametrize(
    ("scale", "expected"), [("mnist", [126, 151, 176, 202, 228]), ("deeptest", [120, 140, 160, 180, 200])]
)
def test_brightness_adds_to_grey(scale: str, expected: list[int]) -> None:
    made = [pixel(run(f"brightness:scale={scale}", grey(100), level)) for level in LEVELS]
    assert made == expected


def test_brightness_keeps_the_hue_of_colours() -> None:
    colour = np.tile(np.array([200, 100, 50], dtype=np.uint8), (1, 8, 8, 1))
    assert run("brightness", colour, 1)[0, 0, 0].tolist() == [226, 113, 56]
    assert run("brightness", colour, 5)[0, 0, 0].tolist() == [255, 128, 64]
    assert run("brightness", np.zeros_like(colour), 2)[0, 0, 0].tolist() == [51, 51, 51]
    assert run("brightness:scale=deeptest", colour, 3)[0, 0, 0].tolist() == [255, 160, 110]


def test_contrast_by_hand() -> None:
    half = grey(100, 200)  # mean 150
    assert [sorted(set(run("contrast", half, level).ravel().tolist())) for level in (1, 2, 5)] == [
        [112, 188],
        [125, 175],
        [142, 158],
    ]
    made = [pixel(run("contrast:scale=deeptest", grey(100), level)) for level in LEVELS]
    assert made == [120, 160, 210, 250, 255]


def test_light_by_hand() -> None:
    """sRGB 188 is half the light of 255, 137 a quarter (IEC 61966-2-1)."""
    assert pixel(run("exposure", grey(137), 2)) == pytest.approx(188, abs=1)
    assert pixel(run("exposure", grey(137), 4)) == pytest.approx(255, abs=1)
    assert pixel(run("darken", grey(255), 5)) == round(255 * (1.055 * (1 / 16) ** (1 / 2.4) - 0.055))


def test_published_translation_moves_whole_pixels() -> None:
    image = patterns(1, 120, 110)
    out = run("translate:pixels=published", image, 3)
    assert np.array_equal(out[:, 60:, 60:], image[:, :-60, :-60])
    assert not out[:, :60].any()
    assert not out[:, :, :60].any()


def test_scaled_translation_is_published_at_512() -> None:
    image = patterns(1, 512, 512, 1)
    assert np.array_equal(run("translate", image, 2), run("translate:pixels=published", image, 2))


def test_scaled_translation_between_pixels_shares_by_distance() -> None:
    image = np.zeros((1, 32, 32), dtype=np.uint8)
    image[0, 10, 10] = 200
    out = run("translate", image, 2)  # 2 * 20 / 512 * 32 = 2.5 pixels
    assert out[0, 12:14, 12:14].tolist() == [[50, 50], [50, 50]]
    assert out.sum() == 200


def test_zoom_out_to_half_takes_every_second_place() -> None:
    image = patterns(1, 32, 32, 1)
    out = run("zoom", image, 5)
    means = (image[:, ::2, ::2].astype(float) + image[:, 1::2, ::2] + image[:, ::2, 1::2] + image[:, 1::2, 1::2]) / 4
    assert np.array_equal(out[:, 8:24, 8:24], np.rint(means))
    assert not out[:, :8].any()


def test_scale_by_6_shows_the_centre() -> None:
    image = np.zeros((1, 60, 60), dtype=np.uint8)
    image[:, 25:35, 25:35] = 90
    assert np.all(run("scale", image, 5)[:, 3:-3, 3:-3] == 90)
    assert run("scale", image, 1).astype(bool).sum() == pytest.approx(15**2, abs=70)


@pytest.mark.parametrize("name", ["rotate", "shear"])
def test_turning_and_slanting_keep_the_centre_and_go_both_ways(name: str) -> None:
    image = np.zeros((1, 29, 29), dtype=np.uint8)
    image[0, 14, 14], image[0, 4, 14] = 200, 100
    out = run(name, np.repeat(image, 40, axis=0), 2)
    assert np.all(out[:, 14, 14] == 200)
    ways = {tuple(np.argwhere((one > 0) & (np.arange(29)[:, None] < 10)).mean(axis=0).round(1)) for one in out}
    assert len(ways) == 2
    assert sum(column for _, column in ways) == pytest.approx(28)


def test_rotation_by_hand() -> None:
    """A pixel 10 above the centre, turned by 30 degrees, is at 8.66 above and 5 aside."""
    image = np.zeros((1, 41, 41), dtype=np.float64)
    image[0, 10, 20] = 1
    out = run("rotate", image, 5)[0]
    y, x = (np.indices((41, 41)) * out).sum(axis=(1, 2)) / out.sum()
    assert y == pytest.approx(20 - 10 * np.cos(np.pi / 6), abs=0.15)
    assert abs(x - 20) == pytest.approx(10 * np.sin(np.pi / 6), abs=0.15)


@pytest.mark.parametrize("size", [28, 100])
def test_occlusion_covers_a_square_inside(size: int) -> None:
    image = np.zeros((50, size, size), dtype=np.uint8)
    for level, share in zip(LEVELS, (0.15, 0.25, 0.35, 0.45, 0.55), strict=True):
        side = max(level, round(share * size))
        out = run("occlusion", image, level)
        assert set(np.unique(out)) == {0, 128}
        assert np.all((out > 0).sum(axis=(1, 2)) == side**2)
        assert np.all((out > 0).any(axis=1).sum(axis=1) == side)


def test_blurs_keep_constants_and_brightness() -> None:
    constant = np.full((2, 24, 24), 131, dtype=np.uint8)
    dot = np.zeros((1, 65, 65))
    dot[0, 32, 32] = 1
    for name in ("gaussian-blur", "motion-blur:scale=cifar", "sharpness"):
        assert np.array_equal(run(name, constant, 5), constant)
    for name in ("gaussian-blur", "motion-blur:scale=cifar"):
        assert run(name, dot, 3).sum() == pytest.approx(1, abs=65 * 65 / 2**16)


def test_gaussian_blur_has_the_width_it_says() -> None:
    """Deviation of 3 % of 101 pixels; a pixel is integrated over, which adds 1/12 along each axis."""
    dot = np.zeros((1, 101, 101))
    dot[0, 50, 50] = 1
    out = run("gaussian-blur", dot, 3)[0]
    places = np.arange(101) - 50
    variance = (out.sum(axis=0) * places**2).sum() / out.sum()
    assert variance == pytest.approx(3.03**2 + 1 / 12, rel=0.02)


def test_small_and_large_images_blur_alike() -> None:
    """40 x 40 goes through a matrix, 40 x 41 through shifted copies: away from the added column they agree."""
    wide = patterns(6, 40, 41)
    small = run("motion-blur:scale=cifar", wide[:, :, :40], 4)
    large = run("motion-blur:scale=cifar", wide, 4)
    assert np.array_equal(small[:, :, :30], large[:, :, :30])


def test_saturation_ends_in_grey_and_leaves_grey_alone() -> None:
    colours = patterns(3, 16, 16)
    out = run("saturation", colours, 5).astype(int)
    assert np.ptp(out, axis=3).max() == 0
    luma = colours @ np.array([0.299, 0.587, 0.114])
    assert np.abs(out[..., 0] - luma).max() <= 0.51
    assert np.array_equal(run("saturation", colours[..., 0], 5), colours[..., 0])


@pytest.mark.parametrize(("scale", "deviations"), [("cifar", (0.04, 0.1)), ("imagenet", (0.08, 0.38))])
def test_gaussian_noise_has_the_deviation_it_says(scale: str, deviations: tuple[float, float]) -> None:
    """200,000 pixels of float images far from the ends; the standard error of a deviation is 1/sqrt(2n)."""
    batch = np.full((50, 40, 100), 0.5)
    out = run(f"gaussian-noise:scale={scale}", batch, 1) - 0.5
    assert out.std() == pytest.approx(deviations[0], rel=6 / np.sqrt(2 * batch.size) + 1e-3)
    assert abs(out.mean()) < 6 * deviations[0] / np.sqrt(batch.size)


def test_shot_noise_counts_photons() -> None:
    """Mean stays, variance is brightness over photons: 0.4 / 50. Tolerances are six standard errors."""
    batch = np.full((50, 40, 100), 102, dtype=np.uint8)
    out = run("shot-noise", batch, 5) / 255.0
    size = batch.size
    assert out.mean() == pytest.approx(0.4, abs=6 * np.sqrt(0.4 / 50 / size) + 0.5 / 255)
    assert out.var() == pytest.approx(0.4 / 50, rel=6 * np.sqrt(2 / size) + 0.02)
    assert set(np.unique(run("shot-noise:scale=imagenet", batch, 5))) == {0, 85, 170, 255}
    assert not run("shot-noise", np.zeros_like(batch), 5).any()


def test_codec_error_shows_pixels_of_the_image_only() -> None:
    batch = np.arange(64, dtype=np.uint8).reshape(1, 8, 8).repeat(30, axis=0)
    out = run("codec-error", batch, 5).astype(int)
    steps = (out - batch.astype(int)).ravel()
    rows, columns = np.round(steps / 8), steps - 8 * np.round(steps / 8)
    assert np.abs(rows).max() <= 2
    assert np.abs(columns).max() <= 2
    assert 0.5 < (steps != 0).mean() < 0.75


def test_fog_is_brighter_than_black_and_darker_than_white() -> None:
    out = run("fog", np.zeros((20, 32, 32), dtype=np.uint8), 5)
    assert out.min() >= 85
    assert out.max() <= 171
    assert np.all(out.std(axis=(1, 2)) > 5)
    white = run("fog", np.full((2, 17, 17), 255, np.uint8), 3)
    assert np.array_equal(white.max(axis=(1, 2)), [255, 255])
    assert np.array_equal(white.min(axis=(1, 2)), np.rint([(255 + 0.8 * 128) / 1.8] * 2))


@pytest.mark.parametrize("part", [np.s_[:, :], np.s_[:31, :29], np.s_[:, :, 1]], ids=["colour", "odd", "grey"])
@pytest.mark.parametrize(("scale", "qualities"), [("cifar", (80, 65, 58, 50, 40)), ("imagenet", (25, 18, 15, 10, 7))])
def test_jpeg_loses_what_libjpeg_loses(part: tuple[slice, ...], scale: str, qualities: tuple[int, ...]) -> None:
    """Against Pillow. A frequency halfway between two steps may be rounded the other way, which changes its block."""
    images = np.stack([photo[part] for photo in photographs(32)])
    for level, quality in enumerate(qualities, start=1):
        expected = np.stack([through_libjpeg(image, quality) for image in images])
        out = run(f"jpeg-compression:scale={scale}", images, level)
        lost = np.abs(expected - images.astype(float)).mean()
        assert np.abs(out - expected).mean() < min(1.0, 0.15 * lost)


def through_libjpeg(image: np.ndarray, quality: int) -> np.ndarray:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file)).astype(float)


def test_noise_of_channels_and_items_is_independent() -> None:
    out = run("gaussian-noise", np.full((2, 60, 60, 3), 0.5), 1) - 0.5
    flat = np.moveaxis(out, 3, 1).reshape(6, -1)
    correlations = np.corrcoef(flat)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < 6 / np.sqrt(flat.shape[1])


def test_draws_of_another_item_give_another_picture() -> None:
    batch = np.full((1, 16, 16), 100, dtype=np.uint8)
    level = np.array([2])
    noise = build("gaussian-noise")
    one, other = (noise.apply(batch, level, ItemStreams.of(0, "gaussian-noise", [item], level)) for item in (0, 1))
    assert not np.array_equal(one, other)
