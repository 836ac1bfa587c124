"""Named streams of randomness.

A stream is named by its purpose (``stream(seed, "srs", "draw")``), never by the order of calls, so that a campaign
that is killed, moved or audited draws the same items again. numpy promises that ``SeedSequence`` and the raw output
of ``PCG64`` stay as they are; everything else is built on those two (see ``numerics.draws``).
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """The generator for one purpose of one seed; the same on every machine."""
    name = "/".join(str(part) for part in purpose)
    words = np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *(int(w) for w in words)])))
