"""Where steps run, one engine a file. A new one is a file here and a line in the registry below."""

from __future__ import annotations

from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.pool.engine import Engine, Loop
from fieldcheck.core.registry import Registry
from fieldcheck.engines.processes import Processes, let_go
from fieldcheck.engines.ray import Ray

__all__ = ["Processes", "engine_of", "let_go", "registry"]

registry: Registry[Engine] = Registry(
    "engine", "fieldcheck.engines", Loop, Processes, Ray, error=FieldcheckError, hint="--engine processes"
)


def engine_of(spec: str) -> Engine:
    """The engine for ``local``, ``processes:workers=4``, or an address whose scheme is its name: ``ray://host:10001``."""
    scheme, address, _ = spec.strip().partition("://")
    return registry.build(scheme, address=spec.strip()) if address else registry.build(spec)
