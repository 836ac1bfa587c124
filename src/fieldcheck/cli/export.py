"""``fieldcheck export``: the labels, for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fieldcheck import report
from fieldcheck.campaign.exchange import labels
from fieldcheck.cli import campaigns, options
from fieldcheck.cli.show import say, show_json
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError


def export(
    storage: campaigns.Storage,
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the labels: .csv or .jsonl.")],
    pool: campaigns.PoolMoved = None,
    as_json: options.AsJson = False,
) -> None:
    """Write the labels that count, with who, when, after how many seconds, and a weight for metrics of your own.

    With sample_weight, any metric of scikit-learn is one of the whole pool and not of the items that happened to be
    drawn.
    """
    options.check_outputs(out)
    kind = labels.KINDS.get(out.suffix.lower())
    if kind is None:
        raise FieldcheckError(f"--out {out}", rule="written as " + ", ".join(labels.KINDS), hint="--out labels.csv")
    with campaigns.open_campaign(storage, pool) as campaign:
        found = labels.records(campaign)
    report.write_text(out, labels.as_text(found, kind))
    if as_json:
        show_json({"file": str(out), "labels": len(found)})
    else:
        weighted = (
            "" if all(one.weight is not None for one in found) else "; sample_weight is not known for this design"
        )
        say(f"{words.counted(len(found), 'label')} in {out}{weighted}")
