"""Pure array functions: nothing here knows what a pool or a design is."""

from __future__ import annotations
