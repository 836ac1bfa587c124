"""Figures and self-contained HTML."""

from fieldcheck.report.bench import bench_page
from fieldcheck.report.blocks import Answer, ImageStrip, Picture, Section, sections_of
from fieldcheck.report.charts import draw, svg_file
from fieldcheck.report.estimate import answer_of, estimate_page, facts_of
from fieldcheck.report.page import page
from fieldcheck.report.png import grey_png
from fieldcheck.report.tables import to_csv, to_html, to_latex
from fieldcheck.report.write import write_text

__all__ = [
    "Answer",
    "ImageStrip",
    "Picture",
    "Section",
    "answer_of",
    "bench_page",
    "draw",
    "estimate_page",
    "facts_of",
    "grey_png",
    "page",
    "sections_of",
    "svg_file",
    "to_csv",
    "to_html",
    "to_latex",
    "write_text",
]
