"""A fitted regression in a file of plain numbers, so that the next question need not wait for the fit."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck import numerics
from fieldcheck.core.space import Space
from fieldcheck.core.versions import versions
from fieldcheck.numerics.regression.grid_features import GridFeatures
from fieldcheck.tomography import surrogates
from fieldcheck.tomography.surrogates.auto import Blend
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate, Surrogate
from fieldcheck.tomography.surrogates.logistic import LogisticFit
from fieldcheck.tomography.surrogates.regression.basis import Basis
from fieldcheck.tomography.surrogates.regression.mean import MeanOverInputs

Numbers = Mapping[str, npt.NDArray[Any]]


TERMS = ("smooth", "bends", "guesses")


def fitted(surrogate: Surrogate, evidence: Evidence, *, seed: int, path: Path | None) -> FittedSurrogate:
    """The surrogate fitted to the evidence; read from the file if that holds this very fit, else fitted and kept there.

    Kept are ``logistic``, and ``auto`` where it chose nothing else. A file that is damaged, of another version or about
    other outcomes is ignored and replaced; a folder that cannot be written to is no error. Without a file it is fitted.
    """
    if path is None:
        return surrogate.fit(evidence, seed=seed)
    key = _key(surrogate, evidence, seed)
    known = _read(path, key, evidence.space)
    if known is not None:
        return known
    found = surrogate.fit(evidence, seed=seed)
    alone = found.parts[0] if isinstance(found, Blend) and len(found.parts) == 1 else found
    if isinstance(alone, LogisticFit):
        _write(path, {"key": np.array(key), **_numbers(replace(alone, notes=found.notes))})
    return found


def _key(surrogate: Surrogate, evidence: Evidence, seed: int) -> str:
    """A fingerprint of everything that the fit depends on."""
    words = (_code(), versions(), surrogate, seed, evidence.space, evidence.guess)
    total = sha256(repr(words).encode())
    outcomes = evidence.outcomes
    for column in (outcomes.tests, outcomes.inputs, outcomes.held, evidence.classes):
        total.update(b"none" if column is None else np.ascontiguousarray(column).tobytes())
    return total.hexdigest()


@cache
def _code() -> str:
    """A fingerprint of the code that fits: what other code fitted is fitted again."""
    total = sha256()
    for package in (surrogates, numerics):
        for path in sorted(file for place in package.__path__ for file in Path(place).glob("*.py")):
            total.update(path.read_bytes())
    return total.hexdigest()


def _numbers(fit: LogisticFit) -> dict[str, npt.NDArray[Any]]:
    mean: MeanOverInputs = fit.predictor
    values, weights = zip(*mean.nodes, strict=True)
    return {
        **{f"table{axis}": table for axis, table in enumerate(mean.basis.smooth.tables)},
        **{name: getattr(mean.basis, name).degrees for name in TERMS},
        "coefficients": mean.coefficients,
        "covariance": fit.covariance,
        "shares": mean.shares,
        "values": np.concatenate(values),
        "weights": np.concatenate(weights),
        "ends": np.cumsum([len(one) for one in values]),
        "numbers": np.array([mean.basis.classes, mean.guess, fit.inflation, fit.length]),
        "notes": np.array(fit.notes),
    }


def _of_numbers(kept: Numbers, space: Space) -> LogisticFit:
    """The inverse of ``_numbers``."""
    tables = tuple(kept[f"table{axis}"] for axis in range(len(space.axes)))
    classes, guess, inflation, length = kept["numbers"].tolist()
    smooth, bends, guesses = (GridFeatures(tables, kept[name]) for name in TERMS)
    basis = Basis(smooth, bends, guesses, int(classes))
    values, weights = (np.split(kept[name], kept["ends"][:-1]) for name in ("values", "weights"))
    nodes = list(zip(values, weights, strict=True))
    mean = MeanOverInputs(space, basis, kept["coefficients"], kept["shares"], nodes, guess)
    return LogisticFit(space, mean, kept["covariance"], inflation, tuple(kept["notes"].tolist()), length)


def _read(path: Path, key: str, space: Space) -> LogisticFit | None:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return _of_numbers(dict(file), space) if str(file["key"]) == key else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def _write(path: Path, numbers: dict[str, npt.NDArray[Any]]) -> None:
    """The file is there as a whole or not at all; two who write at once do not mix."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            np.savez(stream, **numbers)  # type: ignore[arg-type]
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
