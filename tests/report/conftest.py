"""Exhibits of every kind, small, and with whatever text a test wants in all of their fields."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from math import nan

import pytest

from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import BarChart, Exhibit, IntervalChart, IntervalRow, Line, LineChart, Matrix, Table
from fieldcheck.core.interval import Interval


def tiny_png() -> bytes:
    """One grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")
    )


def every_kind(text: str) -> tuple[Exhibit, ...]:
    """One exhibit of each kind, with the text wherever a text can be."""
    lines = (Line(text, (50.0, 200.0, 800.0), (0.1, 0.05, 0.02), (0.05, 0.02, 0.01), (0.2, 0.1, 0.03)),)
    rows = (IntervalRow(text, 0.9, 0.8, 0.95), IntervalRow(text, -6.9, -19.0, 5.2, trusted=False))
    pair = (text, text)
    return (
        LineChart(text, text, text, text, lines, reference=0.05, reference_label=text, note=text),
        IntervalChart(text, text, text, rows, truth=0.91, note=text),
        BarChart(text, text, text, text, pair, pair, ((1.0, 2.0), (3.0, 4.0)), note=text),
        Matrix(
            text,
            text,
            pair,
            pair,
            ((nan, 1.0), (-0.5, nan)),
            texts=(pair, pair),
            legend=((1.0, text),),
            note=text,
        ),
        Table(text, text, (text, "number"), ((text, 0.5), (text, None)), note=text),
    )


@pytest.fixture
def exhibits_with() -> Callable[[str], tuple[Exhibit, ...]]:
    return every_kind


@pytest.fixture
def png() -> bytes:
    return tiny_png()


@pytest.fixture
def estimate_with() -> Callable[[str], Estimate]:
    """An estimate with the text in all fields that may come from a user or a file."""

    def make(text: str) -> Estimate:
        interval = Interval(0.872, 0.944, method=text, trusted=False, note=text)
        return Estimate(
            metric="accuracy",
            value=0.913,
            interval=interval,
            standard_error=0.018,
            labels=100,
            failures=14,
            population=12_000,
            task="classification",
            design=text,
            design_title=text,
            paper=text,
            auxiliary=text,
            budget=100,
            seed=1,
            mean_loss=0.087,
            truth=0.9106,
            warnings=(text,),
            versions={text: text, "fieldcheck": text},
        )

    return make
