"""What the prior takes from all items stands beside the draws: nobody looks for it again, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fieldcheck import sources
from fieldcheck.accuracy import designs
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.accuracy.estimators import estimate
from fieldcheck.campaign import Campaign
from fieldcheck.campaign.verification import verify
from fieldcheck.core.draws import WaveDraws
from fieldcheck.core.pool.pool import Pool
from fieldcheck.core.sample import Labelled, Sample
from fieldcheck.numerics.regression import priors, risk

SIZE = 800


def columns(kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(6)
    doubt = rng.beta(0.5, 2.0, SIZE)
    said = np.where(rng.random(SIZE) < 0.5, "cat", "dog")
    found: dict[str, Any] = {"id": np.arange(SIZE), "prediction": said}
    if "confidence" in kind:
        found["confidence"] = np.full(SIZE, 0.9) if "constant" in kind else 1 - doubt
    if "dsa" in kind:
        found["dsa"] = doubt + rng.random(SIZE)
    return found


def truth_of(item: str) -> str:
    return "cat" if int(item) % 3 else "dog"


KINDS = ["confidence", "dsa", "confidence, dsa", "constant confidence, dsa"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_campaign_that_is_opened_again_does_not_look_for_them(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, second = sources.load(columns(kind)), list[str]()
    for name in ("here.db", "c.db"):
        with Campaign.create(tmp_path / name, pool, budget=60, seed=2) as held:
            for item in held.ask("Eva", n=20):
                held.tell(item, truth_of(item), by="Eva")
            said = repr(held.estimate())
            second = held.ask("Eva", n=60) if name == "here.db" else second

    announced = risk._announced

    def looked(part: Any, given: Any) -> Any:
        assert part.size < 100, "all items were looked at for the prior"
        return announced(part, given)  # models of the labels alone

    monkeypatch.setattr(priors, "_found", looked)
    monkeypatch.setattr(risk, "_announced", looked)
    with Campaign.open(tmp_path / "c.db", pool=sources.load(columns(kind))) as held:
        assert repr(held.estimate()) == said
        assert held.ask("Eva", n=60) == second
    monkeypatch.undo()
    assert verify(tmp_path / "c.db", pool=sources.load(columns(kind))).holds


def drawn(pool: Pool) -> Sample:
    frame = derived.frame(pool, derived.names(pool))
    return designs.registry["waves"]().draw(frame, None, budget=40, seed=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("facts", [np.zeros(0), np.ones(3), np.ones(40)])
def test_without_them_they_are_found_again(kind: str, facts: Any) -> None:
    """None are there, or those of something else."""
    sample = drawn(sources.load(columns(kind)))
    draws = sample.drawn_as(WaveDraws)
    assert len(draws.facts) == len(priors.Facts._fields) + ("dsa" in kind)
    losses = (sample.items % 4 == 0).astype(np.float64)
    said = estimate(Labelled(sample, losses, losses > 0), level=0.95)
    fresh = replace(drawn(sources.load(columns(kind))), draws=replace(draws, facts=facts))
    assert fresh.frame is not None
    fresh.frame._memo.clear()
    again = estimate(Labelled(fresh, losses, losses > 0), level=0.95)
    assert repr(again) == repr(said)


def test_a_record_that_leaves_them_out_is_read(tmp_path: Path) -> None:
    record = drawn(sources.load(columns("dsa"))).as_record()
    del record["draws"]["facts"]
    assert len(Sample.from_record(record).drawn_as(WaveDraws).facts) == 0


@pytest.mark.parametrize(("facts", "holds"), [([], True), ([1.0] * 6, False)])
def test_verify_compares_them_where_they_were_kept(
    facts: list[float], holds: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(priors, "facts_of", lambda _: np.array(facts))
    Campaign.create(tmp_path / "c.db", sources.load(columns("dsa")), budget=60, seed=2).close()
    monkeypatch.undo()
    assert verify(tmp_path / "c.db", pool=sources.load(columns("dsa"))).holds is holds
