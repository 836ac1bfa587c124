"""Figures and self-contained HTML."""

from __future__ import annotations

from fieldcheck.files.whole import write_text
from fieldcheck.report.bench import bench_page
from fieldcheck.report.blocks import Card, Commands, Gallery, Headline, ImageStrip, Picture, Section, sections_of
from fieldcheck.report.campaign import campaign_page
from fieldcheck.report.charts import draw, svg_file
from fieldcheck.report.estimate import answer_of, estimate_page, facts_of
from fieldcheck.report.junit import junit_error, junit_xml
from fieldcheck.report.page import page
from fieldcheck.report.tables import tabulated, to_csv, to_html, to_latex
from fieldcheck.report.tomography import tomography_page

__all__ = [
    "Card",
    "Commands",
    "Gallery",
    "Headline",
    "ImageStrip",
    "Picture",
    "Section",
    "answer_of",
    "bench_page",
    "campaign_page",
    "draw",
    "estimate_page",
    "facts_of",
    "junit_error",
    "junit_xml",
    "page",
    "sections_of",
    "svg_file",
    "tabulated",
    "to_csv",
    "to_html",
    "to_latex",
    "tomography_page",
    "write_text",
]
