"""How plausible perturbed inputs still are: measured for some tests, predicted for every test of the space."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fieldcheck.core import inputs as items
from fieldcheck.core.errors import SpaceError
from fieldcheck.core.rng import stream
from fieldcheck.core.space import Space
from fieldcheck.core.types import FloatArray, IntArray
from fieldcheck.files import npz
from fieldcheck.files.damage import decoding
from fieldcheck.files.whole import whole_file
from fieldcheck.tomography.plans.base import count_of_order, low_orders, space_filling
from fieldcheck.tomography.quality.base import QualityScore
from fieldcheck.tomography.quality.features import OnnxFeatures, View, hashed_tokens, of_model, pixels
from fieldcheck.tomography.quality.grid_process import fit_grid, held_out
from fieldcheck.tomography.quality.scores import score_for
from fieldcheck.tomography.quality.token_models import TokenModel
from fieldcheck.tomography.setup.executor import Executor, take

FILE = "quality.npz"


LARGEST = 5_000_000
"""Tests of a space for which every prediction is kept."""


LEAST_TESTS = 10


ROWS = 2000
"""Perturbed inputs that are held at once, about."""


SURROGATES = ("process", "forest")
"""How tests that were not measured are predicted: a Gaussian process over tests of all orders, or the published way,
a forest of regression trees over all tests of orders up to two."""


BATCH, WINDOW = 100, 3
"""Of the published early stopping: inputs of a batch, and how many changes in a row must be small."""


@dataclass(frozen=True, eq=False)
class Quality:
    """A score of every test of a space.

    predicted
        One per test of the space, in the order of their numbers.
    tests, measured
        The tests that were measured, and their scores.
    error
        Mean absolute error of predictions for tests that were held out; nan where every test was measured.
    notes
        What the scores looked at, which values are good, and how well they are predicted.
    """

    score: str
    predicted: FloatArray
    tests: IntArray
    measured: FloatArray
    error: float
    notes: tuple[str, ...] = ()

    def save(self, folder: str | Path) -> Path:
        """Write ``quality.npz`` into the folder of a run, where queries find it."""
        path = Path(folder) / FILE
        with whole_file(path) as place, place.open("wb") as file:
            np.savez_compressed(
                file, predicted=self.predicted.astype(np.float32), tests=self.tests, measured=self.measured,
                score=np.array(self.score), error=np.array(self.error), notes=np.array(self.notes, dtype=np.str_),
            )  # fmt: skip
        return path

    @classmethod
    def open(cls, folder: str | Path) -> Quality:
        """What ``save`` wrote."""
        path = Path(folder) / FILE
        with decoding(path, SpaceError, rule="as it was written", hint="delete it, and measure the quality again"):
            file = npz.read_npz(path, SpaceError)
            return cls(
                score=str(file["score"]),
                predicted=file["predicted"].astype(np.float64),
                tests=file["tests"],
                measured=file["measured"],
                error=float(file["error"]),
                notes=tuple(map(str, file["notes"])),
            )


def measure_quality(
    executor: Executor,
    *,
    score: str = "auto",
    features: str | Path | View = "auto",
    tests: int = 150,
    inputs: int = 100,
    surrogate: str = "process",
    stop: float = 0.0,
    scale: str = "share",
    seed: int = 0,
) -> Quality:
    """Measure the quality of some tests and predict that of all others.

    The same inputs are perturbed in every test and compared with themselves, clean. Where the order of perturbations
    matters, they are applied in the order of the space.

    score
        By name, as ``fieldcheck tomography list scores`` shows them; ``auto``: the usual one for this kind of data.
    features
        What ``kid`` and ``fid`` look at: ``model``, the last hidden layer of the model under test; ``pixels``; the
        path of an extractor in an ONNX file. What ``token-f1`` looks at: ``letters``, hashed n-grams of letters; the
        path of a folder with a language model. Or a function from a batch to features. ``auto`` is ``model`` or
        ``letters``. A model is blind to what it was trained to ignore, and so are its features.
    tests
        How many tests to measure: every order as many, as far as it has them, far from each other.
    surrogate
        ``process``; or ``forest``, the published way, which measures all tests of orders up to two.
    stop
        The published early stopping: inputs come in batches of a hundred, until three changes in a row between the
        scores of batches are smaller than this; the score is their mean. 0: all inputs at once.
    scale
        ``share``: distances between images as a share of that between clean inputs and pure noise; ``plain``: as is.
    """
    space = executor.space
    chosen_score, view, said = checked(
        executor,
        score=score,
        features=features,
        tests=tests,
        inputs=inputs,
        surrogate=surrogate,
        stop=stop,
        scale=scale,
    )
    chosen = over_orders(space, tests, seed=seed) if surrogate == "process" else np.sort(low_orders(space, 2))
    some = _some(len(executor.inputs), inputs, seed)
    if stop:  # data may be sorted: every batch is a random one
        some = stream(seed, "quality", "batches").permutation(some)
    unit, note = _unit(executor, chosen_score, view, some, seed) if scale == "share" else (1.0, "")
    scores = _scores(executor, chosen_score, view, chosen, inputs=some, stop=stop * unit) / unit
    fit = _by_forest if surrogate == "forest" else _by_process
    return fit(space, chosen_score, chosen, scores, said=said + note, seed=seed)


def checked(
    executor: Executor,
    *,
    score: str = "auto",
    features: str | Path | View = "auto",
    tests: int = 150,
    inputs: int = 100,
    surrogate: str = "process",
    stop: float = 0.0,
    scale: str = "share",
) -> tuple[QualityScore, View, str]:
    """The score, what it looks at and that in words; refuses what cannot be measured, before anything is spent."""
    chosen = score_for(score, kind=executor.inputs.kind)
    _check_sizes(executor.space, tests, inputs, len(executor.inputs))
    _check_ways(surrogate, scale, stop)
    return chosen, *_view(chosen, features, executor)


def _check_ways(surrogate: str, scale: str, stop: float) -> None:
    if surrogate not in SURROGATES:
        raise SpaceError(f"no way '{surrogate}' to predict quality", rule="there are: " + ", ".join(SURROGATES))
    if scale not in ("share", "plain"):
        raise SpaceError(f"no scale '{scale}' of quality", rule="share, or plain")
    if type(stop) not in (int, float) or not 0 <= stop < 1:
        raise SpaceError(f"stop = {stop!r} of quality", rule="the largest change that is small: 0.005")


def _unit(executor: Executor, score: QualityScore, view: View, inputs: IntArray, seed: int) -> tuple[float, str]:
    """How far pure noise is from clean images, where a distance has no bound of its own; and that in words."""
    if executor.inputs.kind != "image" or np.isfinite(score.high):
        return 1.0, ""
    clean = np.asarray(items.gather(executor.inputs, np.sort(inputs)))
    found = score.score(view(clean), view(_noise(clean, seed)))
    if not (np.isfinite(found) and found > 0):
        return 1.0, ""
    return found, f", as a share of the distance to pure noise ({found:.3g})"


def _noise(images: Any, seed: int) -> Any:
    """As many images in which every value of every pixel is equally likely."""
    drawn = np.frombuffer(stream(seed, "quality", "noise").bytes(images.size), dtype=np.uint8).reshape(images.shape)
    if images.dtype == np.uint8:
        return drawn
    low, high = images.min(), images.max()
    return (low + drawn / 255 * (high - low)).astype(images.dtype)


def over_orders(space: Space, count: int, *, seed: int) -> IntArray:
    """Tests of all orders, ascending: every order as many, as far as it has them, and far from each other."""
    if space.size <= count:
        return np.arange(space.size, dtype=np.int64)
    shares, left = {}, count
    totals = sorted((count_of_order(space, order), order) for order in range(len(space.axes) + 1))
    for place, (total, order) in enumerate(totals):
        shares[order] = min(total, left // (len(totals) - place))
        left -= shares[order]
    parts = [space_filling(space, order, share, seed=seed) for order, share in shares.items()]
    return np.unique(np.concatenate(parts))


def _check_sizes(space: Space, tests: int, inputs: int, available: int) -> None:
    if space.size > LARGEST:
        raise SpaceError(
            f"the quality of {space.size:,} tests",
            rule=f"quality is predicted for spaces of up to {LARGEST:,}",
            hint="fewer levels, fewer perturbations, or no [quality]: other queries are answered in any space",
        )
    if tests < LEAST_TESTS:
        raise SpaceError(f"the quality of {tests} tests", rule=f"{LEAST_TESTS} tests or more")
    if min(inputs, available) < 2:
        raise SpaceError(f"quality on {min(inputs, available)} inputs", rule="two inputs or more")


def _view(score: QualityScore, features: str | Path | View, executor: Executor) -> tuple[View, str]:
    """What the score looks at, as a function of a batch and in words."""
    if score.needs == "inputs":
        return (lambda batch: batch), "the inputs themselves"
    if callable(features):
        return features, "features of a function of yours"
    if score.needs == "tokens":
        return _tokens(features)
    if features in ("auto", "model"):
        return of_model(executor)
    if features == "pixels" and executor.inputs.kind != "text":
        return pixels, "the numbers of the inputs"
    return OnnxFeatures.open(_existing(features, "model, pixels (not for texts), or an ONNX file")), str(features)


def _tokens(features: str | Path) -> tuple[View, str]:
    if features in ("auto", "letters"):
        return hashed_tokens, "hashed n-grams of letters: spelling, not meaning"
    return TokenModel.open(_existing(features, "letters, or a folder with a language model")), str(features)


def _plain(batch: Any) -> Any:
    """Items of several texts as one text each: a score looks at all of their words."""
    pairs = isinstance(batch, list) and batch and isinstance(batch[0], tuple)
    return ["\n".join(texts) for texts in batch] if pairs else batch


def _existing(features: str | Path, rule: str) -> Path:
    path = Path(features)
    if not path.exists():
        raise SpaceError(f"no features '{features}'", rule=rule)
    return path


def _some(available: int, count: int, seed: int) -> IntArray:
    """Positions of random inputs, ascending."""
    words = stream(seed, "quality", "inputs").bit_generator.random_raw(available)
    return np.sort(np.argsort(words, kind="stable")[:count]).astype(np.int64)


def _scores(
    executor: Executor, score: QualityScore, view: View, tests: IntArray, *, inputs: IntArray, stop: float
) -> FloatArray:
    """One per test: of all inputs at once, or of batches of them until the scores hardly change."""
    if not stop or len(inputs) < 2 * BATCH:
        return _together(executor, score, view, tests, np.sort(inputs))
    sums, rows, counts = np.zeros(len(tests)), [], np.zeros(len(tests))
    going = np.arange(len(tests))
    for first in range(0, len(inputs) - BATCH + 1, BATCH):
        found = np.full(len(tests), np.nan)
        found[going] = _together(executor, score, view, tests[going], np.sort(inputs[first : first + BATCH]))
        sums[going], counts[going] = sums[going] + found[going], counts[going] + 1
        rows.append(found)
        if len(rows) > WINDOW:
            changes = np.abs(np.diff(rows[-WINDOW - 1 :], axis=0))[:, going]
            going = going[changes.max(axis=0) >= stop]
        if not len(going):
            break
    return np.asarray(sums / counts)


def _together(executor: Executor, score: QualityScore, view: View, tests: IntArray, inputs: IntArray) -> FloatArray:
    """Neighbouring tests are perturbed together: they share their first perturbations."""
    clean = view(
        _plain(items.gather(executor.inputs, inputs))
        if score.needs != "features"
        else items.gather(executor.inputs, inputs)
    )
    together = max(1, ROWS // len(inputs))
    found = []
    for first in range(0, len(tests), together):
        some = tests[first : first + together]
        batch, which = executor.perturbed(np.repeat(some, len(inputs)), np.tile(inputs, len(some)))
        seen = view(batch if score.needs == "features" else _plain(batch))
        found += [score.score(clean, take(seen, at)) for at in which.reshape(len(some), -1)]
    return np.array(found, dtype=np.float64)


def _by_forest(
    space: Space, score: QualityScore, tests: IntArray, scores: FloatArray, *, said: str, seed: int
) -> Quality:
    """As published: a hundred trees over all tests of orders up to two."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(100, bootstrap=False, random_state=seed)
    forest.fit(space.severities(tests), scores)
    everywhere = np.asarray(forest.predict(space.severities(np.arange(space.size))), dtype=np.float64)
    notes = (f"{score.name} of {said}; {score.better} values mean plausible inputs", score.caution)
    way = f"{len(tests)} tests of orders up to two measured; a forest says the others, how well is not known"
    return Quality(score.name, everywhere, tests, scores, float("nan"), (*filter(None, notes), way))


def _by_process(
    space: Space, score: QualityScore, tests: IntArray, scores: FloatArray, *, said: str, seed: int
) -> Quality:
    if not np.isfinite(scores).all():
        raise SpaceError(f"{score.name} is not finite for some tests", rule="features are finite numbers")
    values = score.smoothed(scores)
    meaning = f"{score.name} of {said}; {score.better} values mean plausible inputs"
    notes = tuple(filter(None, (meaning, score.caution)))
    if len(tests) == space.size:
        return Quality(score.name, scores, tests, scores, float("nan"), (*notes, "every test was measured"))
    error = float(np.abs(score.back(held_out(space, tests, values, seed=seed)) - scores).mean())
    spread = float(np.abs(scores - np.median(scores)).mean())
    notes += (f"{len(tests)} tests measured; held-out mean absolute error {error:.3g}, of a constant {spread:.3g}",)
    return Quality(score.name, score.back(fit_grid(space, tests, values).everywhere()), tests, scores, error, notes)
