"""Changes of texts, one a file."""

from __future__ import annotations
