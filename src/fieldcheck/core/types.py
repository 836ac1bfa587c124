"""Names for the arrays that travel between packages."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

IntArray = npt.NDArray[np.int64]

BoolArray = npt.NDArray[np.bool_]

Task = Literal["classification", "regression"]

Loss = Literal["squared", "absolute"]
