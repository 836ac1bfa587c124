"""Small grey pictures as PNG files."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldcheck.campaign.picture import png


def grey_png(image: npt.NDArray[np.float64], *, scale: int = 8) -> bytes:
    """A grey image, values from 0 (white) to 1 (black), each cell ``scale`` pixels wide."""
    shades = np.rint((1.0 - np.clip(image, 0.0, 1.0)) * 255).astype(np.uint8)
    return png(np.kron(shades, np.ones((scale, scale), dtype=np.uint8))[:, :, None])
