"""What every perturbation is: inputs and a severity in, inputs with the same true label out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fieldcheck.core.inputs import Kind


@runtime_checkable
class Perturbation(Protocol):
    """A change of the input that leaves its true label as it is.

    name, title
        The word on the command line and in queries; what it does, for people.
    kind
        What it is for: images, texts or rows.
    levels
        Largest severity that is defined; 0 is always the identity.
    random
        Whether it draws random numbers: one generator per item, named by seed, perturbation, item and severity, so
        that the result does not depend on the batch, the worker or the machine.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[Kind]
    random: ClassVar[bool]
    levels: int

    def apply(self, batch: Any, severity: npt.NDArray[np.int64], rngs: Sequence[np.random.Generator]) -> Any:
        """Perturb a batch.

        batch
            Images: one array, items x height x width (x channels), uint8 or float in [0, 1]; the same dtype and shape
            come back. Texts: a list of strings.
        severity
            One per item, 0..levels: items at 0 come back unchanged, bit for bit.
        rngs
            One per item for random perturbations, else empty.
        """
        ...
