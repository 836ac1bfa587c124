"""How a detector's outputs become boxes, one decoder a file. A new one is a file here and a line in the registry."""

from __future__ import annotations

from fieldcheck.core.errors import ModelError
from fieldcheck.core.registry import Registry
from fieldcheck.models.decoders.base import Decoder
from fieldcheck.models.decoders.boxes import BoxRows
from fieldcheck.models.decoders.yolox import Yolox

__all__ = ["registry"]


registry: Registry[Decoder] = Registry("decoder", "fieldcheck.decoders", BoxRows, Yolox, error=ModelError, hint="")
