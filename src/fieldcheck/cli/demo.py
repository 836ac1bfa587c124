"""``fieldcheck demo``: the whole of it on built-in data, in under a minute."""

from __future__ import annotations

import pickle
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from fieldcheck import report, sources, tomography
from fieldcheck.accuracy.comparison.difference import Comparison
from fieldcheck.accuracy.comparison.simulate import simulate
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.cli import options
from fieldcheck.cli.show import say, say_lines, tell
from fieldcheck.cli.tomography.options import smallest_of
from fieldcheck.core import words
from fieldcheck.core.errors import FieldcheckError
from fieldcheck.core.estimate import Estimate
from fieldcheck.core.exhibit import Exhibit
from fieldcheck.files import whole
from fieldcheck.report import tomography_figures
from fieldcheck.report.comparison import differences_chart
from fieldcheck.sources import digits
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.answers.weak_spots import Weakness, weaknesses

BUDGET, LABELLED = 140, 100
"""Labels of the campaign, and as many of them as the demo gives itself; the others are for its reader."""


LOOKS = (20, 40, 60, 80, LABELLED)
"""Labels after which the estimate is told."""


BY = "demo"
"""In this name the demo labels: it knows the truth."""


INFERENCES = 3_000


SPACE = f"""\
# Where does the network break? fieldcheck tomography run space.toml --out run --trust
seed = 0
surrogate = "logistic"

[model]
file = "network.pkl"

[data]
file = "digits.npz"

[plan]
kind = "spread"
inferences = {INFERENCES}

[[perturbation]]
name = "brightness"
levels = 5

[[perturbation]]
name = "zoom"
levels = 3

[[perturbation]]
name = "noise"
levels = 5
apply = "gaussian-noise:scale=imagenet"
"""


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report, the pools and the campaign.")] = Path(
        "demo"
    ),
    seed: options.Seed = 0,
) -> None:
    """Train a network on digits: how accurate is it in a shifted field, is another one better, where does it break?"""
    _make_folder(out)
    tell("training a small network on scikit-learn's digits ...")
    field = digits.digits_field(seed)
    _write_inputs(field, out)
    with _campaign(out, seed) as campaign:
        found = _labelled(campaign, field)
        versus = simulate(field.challenger, against=field.pool, budget=LABELLED, seed=seed)
        run = _tomography(field, out)
        weak = weaknesses(run)
        more = [_against(versus), _broken(run, weak)]
        report.write_text(out / "report.html", report.campaign_page(campaign, more=more))
    _say_all(field, found, versus, run, weak)
    say(f"report:        {out / 'report.html'}")
    say(f"label on:      {shlex.join(['fieldcheck', 'label', str(out / 'campaign.db')])}")
    query = ["fieldcheck", "tomography", "query", str(out / "run"), "noise >= 3 and zoom = 0"]
    say(f"ask further:   {shlex.join(query)}")


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FieldcheckError(f"{out}: cannot be made ({error.strerror})", hint="--out with another folder") from None


def _write_inputs(field: digits.DigitsField, out: Path) -> None:
    """The pools, what people see of the items, and what techniques and tomography look at."""
    sources.save(field.pool, out / "pool.csv")
    sources.save(field.challenger, out / "challenger.csv")
    np.save(out / "activations.npy", field.activations)
    np.save(out / "digits.npy", np.rint(255 * (1.0 - np.clip(field.images, 0.0, 1.0))).astype(np.uint8))
    np.savez(out / "digits.npz", images=np.rint(255 * field.fresh).astype(np.uint8), labels=field.truths)
    whole.write_bytes(out / "network.pkl", pickle.dumps(field.network))
    whole.write_text(out / "space.toml", SPACE)


def _campaign(out: Path, seed: int) -> Campaign:
    """A new one; an earlier one of the demo is replaced, unless people have labelled in it."""
    file = out / "campaign.db"
    if file.exists():
        with Campaign.open(file, pool=out / "pool.csv") as earlier:
            others = set(earlier.progress().annotators) - {BY}
        if others:
            raise FieldcheckError(
                f"{file} holds labels of {', '.join(sorted(others))}",
                rule="labels are not overwritten",
                hint="--out with another folder",
            )
        file.unlink()
    title = "Digits in the field"
    return Campaign.create(file, out / "pool.csv", budget=BUDGET, seed=seed, items=out / "digits.npy", title=title)


def _labelled(campaign: Campaign, field: digits.DigitsField) -> Estimate:
    """Label a part of the campaign, and tell how the estimate narrows."""
    pool, found = field.pool, None
    if pool.target is None:
        raise FieldcheckError("the demo's pool without its truth")
    for count in range(1, LABELLED + 1):
        (item,) = campaign.ask(BY)
        campaign.tell(item, pool.classes[int(pool.target[pool.position_of([item])[0]])], by=BY)
        if count in LOOKS:
            found = campaign.estimate()
            say(f"{count:>4} labels:  accuracy {_shown(found)}")
    if not isinstance(found, Estimate):
        raise FieldcheckError("the demo's campaign says nothing about one model")
    return found


def _shown(found: Estimate | Comparison) -> str:
    if not isinstance(found, Estimate):
        return found.headline()
    low, value, high = (words.percent(one) for one in (found.interval.low, found.value, found.interval.high))
    return f"{value} ({low} to {high})"


def _tomography(field: digits.DigitsField, out: Path) -> Run:
    """What a few thousand inferences say about all combinations of three perturbations."""
    shutil.rmtree(out / "run", ignore_errors=True)
    subject = tomography.of_space_file(tomography.read_space_file(out / "space.toml"), trust=True)
    run = tomography.measure(
        subject, plan=tomography.plans.build("spread"), budget=INFERENCES, surrogate="logistic", folder=out / "run"
    )
    run.export()
    return run


def _against(found: Comparison) -> report.Section:
    chart = replace(differences_chart(found), name="versus", title="Difference of accuracy")
    return report.Section("Is another network better?", (chart,), found.sentence())


def _broken(run: Run, weak: Weakness) -> report.Section:
    whole = run.ask("all")
    text = (
        f"Averaged over all {words.count(whole.tests)} combinations of three perturbations it is right on "
        f"{words.percent(whole.robustness)} of the inputs ({words.percent(whole.low)} to {words.percent(whole.high)}). "
        f"{smallest_of(weak)}"
    )
    figures: tuple[Exhibit, ...] = (tomography_figures.alone(run), *tomography_figures.pairs(run)[:3])
    return report.Section("Where does it break?", figures, text)


def _say_all(field: digits.DigitsField, found: Estimate, versus: Comparison, run: Run, weak: Weakness) -> None:
    truth = 1.0 - float(np.mean(field.pool.losses()))
    laboratory = words.percent(field.laboratory_accuracy)
    say()
    say_lines(
        f"How accurate?  {_shown(found)} in the field; {laboratory} in the laboratory; truth {words.percent(truth)}"
    )
    say_lines(f"Which one?     {versus.sentence()}")
    say_lines(f"Where not?     {words.percent(run.ask('all').robustness)} over all perturbations. {smallest_of(weak)}")
    say()
