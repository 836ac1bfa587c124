"""Colours can be told from the paper, and text can be read (WCAG 2.2: 1.4.3 and 1.4.11)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fieldcheck.report.palette import COLOURS, DARK, LIGHT


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
class TestContrast:
    def test_text(self, scheme: Mapping[str, str]) -> None:
        for text in ("ink", "muted", "accent", "good", "bad"):
            assert contrast(scheme[text], scheme["paper"]) >= 4.5
            assert contrast(scheme[text], scheme["card"]) >= 4.5
        assert contrast(scheme["warn-ink"], scheme["warn-paper"]) >= 4.5

    def test_text_on_the_strongest_cell(self, scheme: Mapping[str, str]) -> None:
        for cell in ("better", "worse", "same"):
            assert contrast(scheme["ink"], scheme[cell]) >= 4.5

    def test_series(self, scheme: Mapping[str, str]) -> None:
        for index in range(COLOURS):
            assert contrast(scheme[f"s{index}"], scheme["paper"]) >= 3

    def test_both_schemes_have_the_same_names(self, scheme: Mapping[str, str]) -> None:
        assert set(scheme) == set(LIGHT)
