"""Charts as SVG: one kind, one file."""

from __future__ import annotations

from fieldcheck.report.charts.draw import Chart, draw, svg_file

__all__ = ["Chart", "draw", "svg_file"]
