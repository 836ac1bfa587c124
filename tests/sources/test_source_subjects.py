"""The pools published with the papers, as they were published.

The counts are those of the words in the files' own outcome columns.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived

CLASSIFICATION = {
    "CN5_MNIST": (10_000, 95),
    "LN5_MNIST": (10_000, 132),
    "CN12_CIFAR10": (10_000, 1_934),
    "VGG16_CIFAR10": (10_000, 641),
    "model_D": (33_500, 9_543),
    "model_E": (33_500, 7_049),
    "model_G": (15_000, 5_054),
    "model_H": (15_000, 6_390),
}


@pytest.mark.parametrize("subject", CLASSIFICATION)
def test_classification(published_data: Path, subject: str) -> None:
    pool = sources.load(published_data / "subjects" / f"{subject}.csv")
    size, failures = CLASSIFICATION[subject]
    assert (pool.name, pool.task, len(pool), pool.losses().sum()) == (
        subject,
        "classification",
        size,
        failures,
    )
    assert derived.names(pool) == ("confidence", "combined", "dsa", "lsa")
    assert (pool.id_of(0), pool.id_of(size - 1)) == ("0", str(size - 1))
    assert not pool.notes


def test_regression(published_data: Path) -> None:
    pool = sources.load(published_data / "subjects" / "dave_orig.csv")
    assert (pool.name, pool.task, len(pool)) == ("dave_orig", "regression", 5_614)
    assert derived.names(pool) == ("vae", "sae", "lsa")
    first = (-0.373665106110275 + 0.0309260338544846) ** 2
    assert pool.losses()[0] == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("subject", ["CN5_MNIST", "LN5_MNIST", "VGG16_CIFAR10"])
def test_combined_follows_its_definition(published_data: Path, subject: str) -> None:
    """The published column and ``1 - P_c (1 - DSA / max DSA)`` agree to the digits kept."""
    pool = sources.load(published_data / "subjects" / f"{subject}.csv")
    assert pool.confidence is not None
    dsa = derived.values(pool, "dsa")
    by_definition = 1 - pool.confidence * (1 - dsa / dsa.max())
    assert np.max(np.abs(derived.values(pool, "combined") - by_definition)) < 1e-6
