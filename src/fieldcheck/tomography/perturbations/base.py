"""What every perturbation is: inputs and a severity in, inputs with the same true label out."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fieldcheck.core.errors import SpaceError
from fieldcheck.core.inputs import Kind
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.types import FloatArray, IntArray


@runtime_checkable
class Perturbation(Protocol):
    """A change of the input that leaves its true label as it is.

    name, title
        The word on the command line and in queries; what it does, for people.
    kind
        What it is for: images, texts or rows.
    random
        Whether it draws random numbers: one stream per item, named by seed, perturbation, item and severity, so
        that the result does not depend on the batch, the worker or the machine.
    still
        Whether what is in an image stays where it is. Others say by ``motions`` where it goes; those that do not
        cannot be used where the truth has places, as in detection.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[Kind]
    random: ClassVar[bool]
    still: ClassVar[bool]

    @property
    def levels(self) -> int:
        """Largest severity that is defined; 0 is always the identity."""
        ...

    def apply(self, batch: Any, severity: IntArray, draws: ItemStreams) -> Any:
        """Perturb a batch.

        batch
            Images: one array, items x height x width (x channels), uint8 or float in [0, 1]; the same dtype and shape
            come back. Texts: a list of strings.
        severity
            One per item, 0..levels: items at 0 come back unchanged, bit for bit.
        draws
            One stream per item (``Draws.of(seed, name, items, severity)``); those that are not random leave it alone.
        """
        ...


@runtime_checkable
class Moving(Perturbation, Protocol):
    """A perturbation that moves what is in an image, and says where to."""

    def motions(self, severity: IntArray, draws: ItemStreams, height: int, width: int) -> FloatArray:
        """Where points go, measured from the centre of images of this size: a 3 x 3 matrix for ``(x, y, 1)`` each."""
        ...


def check_severity(perturbation: Perturbation, severity: npt.ArrayLike, count: int) -> IntArray:
    """One severity per item; an error unless all are defined."""
    given = np.asarray(severity, dtype=np.int64)
    if given.shape != (count,):
        raise SpaceError(
            f"{perturbation.name}: severities of shape {given.shape} for {count} items", rule="one severity per item"
        )
    if count and not (given.min() >= 0 and given.max() <= perturbation.levels):
        raise SpaceError(
            f"{perturbation.name}: severities from {given.min()} to {given.max()}",
            rule=f"whole numbers from 0 to {perturbation.levels}",
        )
    return given
