"""Figures and tables of docs/waves.md, from what `waves_study.py` printed and the measured rows that ship.

    python benchmarks/waves_figures.py study.tsv

Writes docs/figures/*.svg and benchmarks/results/waves_study.md; prints the numbers that the page quotes.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from fieldcheck import report
from fieldcheck.bench import measured_rows
from fieldcheck.core.exhibit import Line, LineChart

ROOT = Path(__file__).resolve().parent.parent
BUDGETS = (50, 100, 200, 400, 800)
Cell = dict[str, str]


def main() -> None:
    with Path(sys.argv[1]).open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file, delimiter="\t"))
    failures = [cell for cell in cells if not cell["subject"].startswith("dave")]
    (ROOT / "docs" / "figures").mkdir(exist_ok=True)
    for chart in (error_chart(failures), coverage_chart(failures)):
        report.write_text(ROOT / "docs" / "figures" / f"{chart.name}.svg", report.svg_file(chart))
    report.write_text(ROOT / "benchmarks" / "results" / "waves_study.md", record(cells))
    print(summary(cells))
    print(against_published(failures))


def error_chart(cells: list[Cell]) -> LineChart:
    """Error relative to simple random sampling, against the best of all published techniques in hindsight."""
    best = best_published("rmse", smallest=True)
    lines = [
        line(name, [c for c in cells if c["condition"] == "plain" and c["objective"] == name]) for name in OBJECTIVES
    ]
    lines.append(Line("best published", x=BUDGETS, y=tuple(geometric(best[n]) for n in BUDGETS)))
    return LineChart(
        "waves_error", "Error relative to simple random sampling", "labels", "RMSE / RMSE of srs", tuple(lines),
        x_log=True, reference=1.0, reference_label="srs",
    )  # fmt: skip


def coverage_chart(cells: list[Cell]) -> LineChart:
    """Worst coverage over subjects, with and without a blind spot."""
    lines = []
    for condition, words in (("plain", "as it is"), ("blind", "blind spot")):
        own = [c for c in cells if c["condition"] == condition and c["objective"] == "estimate"]
        for key, kind in (("coverage", "standard"), ("guarded_coverage", "guarded")):
            worst = tuple(min(float(c[key]) for c in own if int(c["budget"]) == n) for n in BUDGETS)
            lines.append(Line(f"{kind}, {words}", x=BUDGETS, y=worst))
    return LineChart(
        "waves_coverage", "Coverage on the worst of eight subjects", "labels", "coverage", tuple(lines),
        x_log=True, reference=0.95, reference_label="promised",
    )  # fmt: skip


OBJECTIVES = ("estimate", "balanced", "expose")


def line(name: str, cells: list[Cell]) -> Line:
    return Line(f"waves, {name}", x=BUDGETS, y=tuple(geometric(column(cells, "rmse", n)) for n in BUDGETS))


def column(cells: list[Cell], key: str, budget: int | None = None) -> list[float]:
    return [float(c[key]) for c in cells if budget is None or int(c["budget"]) == budget]


def geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def best_published(key: str, *, smallest: bool) -> dict[int, list[float]]:
    """By budget, the best ratio to srs on each classification subject, over all published techniques and variables."""
    rows = [r for r in measured_rows() if r["task"] == "classification" and not r["design"].startswith("waves")]
    baseline = {(r["subject"], r["budget"]): r[key] for r in rows if r["design"] == "srs"}  # type: ignore[literal-required]
    best: dict[tuple[str, int], float] = {}
    for row in rows:
        at = (row["subject"], row["budget"])
        ratio = row[key] / baseline[at]  # type: ignore[literal-required]
        best[at] = min(best.get(at, np.inf), ratio) if smallest else max(best.get(at, 0.0), ratio)
    return {n: [value for (_, budget), value in sorted(best.items()) if budget == n] for n in BUDGETS}


def against_published(cells: list[Cell]) -> str:
    """In how many cells waves is level with the best of all published techniques."""
    text = []
    for objective, key, mine, smallest in (
        ("estimate", "rmse", "rmse", True),
        ("expose", "exposed_mean", "failures", False),
    ):
        own = [c for c in cells if c["condition"] == "plain" and c["objective"] == objective]
        best = best_published(key, smallest=smallest)
        hits = [
            float(c[mine]) <= theirs if smallest else float(c[mine]) >= 0.95 * theirs
            for n in BUDGETS
            for c, theirs in zip(
                sorted((c for c in own if int(c["budget"]) == n), key=lambda c: c["subject"]), best[n], strict=True
            )
        ]
        text.append(f"{objective}: {sum(hits)} of {len(hits)} cells level with the best published ({key})")
    return "\n".join(text)


def summary(cells: list[Cell]) -> str:
    names = ("condition", "objective", "RMSE (worst)", "audit RMSE", "failures", "coverage (worst)", "guarded (worst)")
    head = "| " + " | ".join((*names, "width", "guarded width")) + " |"
    lines = [head, "|---" * 9 + "|"]
    for regression in (False, True):
        for key in dict.fromkeys((c["condition"], c["objective"]) for c in cells):
            own = [c for c in cells if (c["condition"], c["objective"]) == key]
            own = [c for c in own if c["subject"].startswith("dave") == regression]
            if regression and key[0] in ("blind", "flipped"):
                continue
            lines.append(_summary_row(f"{key[0]}{', regression' if regression else ''}", key[1], own))
    return "\n".join(lines)


def _summary_row(condition: str, objective: str, own: list[Cell]) -> str:
    rmse, coverage, guarded = (column(own, key) for key in ("rmse", "coverage", "guarded_coverage"))
    cells = [
        *(
            condition,
            objective,
            f"{geometric(rmse):.3f} ({max(rmse):.2f})",
            f"{geometric(column(own, 'audit_rmse')):.3f}",
        ),
        f"{geometric(column(own, 'failures')):.2f}",
        *(f"{np.mean(one):.3f} ({min(one):.3f})" for one in (coverage, guarded)),
        *(f"{np.mean(column(own, key)):.2f}" for key in ("width", "guarded_width")),
    ]
    return "| " + " | ".join(cells) + " |"


def record(cells: list[Cell]) -> str:
    head = list(cells[0])
    rows = "\n".join("| " + " | ".join(cell[key] for key in head) + " |" for cell in cells)
    return (
        "# The default technique on the published subjects\n\n```console\n"
        "$ python benchmarks/waves_study.py ../shared/data/subjects --repetitions 500 --jobs 2 > study.tsv\n"
        "$ python benchmarks/waves_figures.py study.tsv\n```\n\n"
        "500 campaigns a cell; the leaking lsa of CN12_CIFAR10 left out. rmse, failures and widths are relative to\n"
        "simple random sampling with as many labels; `bias` is in units of its error, `audit_bias_in_se` in\n"
        "Monte-Carlo standard errors. Geometric means of rmse and failures, plain means of coverage and widths:\n\n"
        f"{summary(cells)}\n\n## Every cell\n\n| {' | '.join(head)} |\n{'|---' * len(head)}|\n{rows}\n"
    )


if __name__ == "__main__":
    main()
