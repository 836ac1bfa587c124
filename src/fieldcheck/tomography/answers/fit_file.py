"""A fitted regression in a file of plain numbers, so that the next question need not wait for the fit."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldcheck import numerics
from fieldcheck.core.errors import FieldcheckError, SpaceError
from fieldcheck.core.space import Space
from fieldcheck.core.versions import versions
from fieldcheck.files import npz
from fieldcheck.files.damage import decoding
from fieldcheck.files.whole import whole_file
from fieldcheck.tomography import surrogates
from fieldcheck.tomography.surrogates.base import Evidence, FittedSurrogate, Storable, Surrogate


def fitted(surrogate: Surrogate, evidence: Evidence, *, seed: int, path: Path | None) -> FittedSurrogate:
    """The surrogate fitted to the evidence; read from the file if that holds this very fit, else fitted and kept there.

    Kept are those that say how (``Storable``). A file that is damaged, of another version or about
    other outcomes is ignored and replaced; a folder that cannot be written to is no error. Without a file it is fitted.
    """
    if path is None or not isinstance(surrogate, Storable):
        return surrogate.fit(evidence, seed=seed)
    key = _key(surrogate, evidence, seed)
    known = _read(path, key, surrogate, evidence.space)
    if known is not None:
        return known
    found = surrogate.fit(evidence, seed=seed)
    numbers = surrogate.numbers_of(found)
    if numbers is not None:
        _write(path, {"key": np.array(key), **numbers})
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
        for path in sorted(file for place in package.__path__ for file in Path(place).rglob("*.py")):
            total.update(path.read_bytes())
    return total.hexdigest()


def _read(path: Path, key: str, surrogate: Storable, space: Space) -> FittedSurrogate | None:
    with suppress(SpaceError), decoding(path, SpaceError, rule="a fit that was kept here"):
        numbers = npz.read_npz(path, SpaceError)
        found = surrogate.of_numbers(numbers, space) if str(numbers["key"]) == key else None
        return found if found is None or _answers(found, space) else None
    return None


def _answers(found: FittedSurrogate, space: Space) -> bool:
    """Whether a fit that was kept can be asked at all: its arrays may not fit together."""
    return bool(np.isfinite(found.predict(np.array([0, space.size - 1]))).all())


def _write(path: Path, numbers: dict[str, npt.NDArray[Any]]) -> None:
    """Where it cannot be written, it is fitted again next time."""
    with suppress(OSError, FieldcheckError), whole_file(path) as place, place.open("wb") as stream:
        np.savez(stream, **numbers)  # type: ignore[arg-type]
