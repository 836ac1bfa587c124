"""PyTorch, where it is installed."""

from __future__ import annotations

from typing import Any

from fieldcheck.core.errors import ModelError


def need_torch(by: str) -> Any:
    """The package; an error that says how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ModelError(
            f"{by} needs PyTorch, which is not installed",
            rule="networks are trained with PyTorch",
            hint='pip install "fieldcheck[torch]"',
        ) from error
    return torch


def seeded(torch: Any, number: int) -> Any:
    """A source of random numbers of its own."""
    return torch.Generator().manual_seed(number)
