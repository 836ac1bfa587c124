"""Changes of images, one a file."""

from __future__ import annotations
