"""The nouns: frozen, self-validating, and free of everything else in the package."""

from __future__ import annotations
