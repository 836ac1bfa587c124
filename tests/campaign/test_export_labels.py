"""Labels as they leave: the same fields everywhere, and weights with which any metric is one of the whole pool."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from fieldcheck.campaign.exchange import labels
from fieldcheck.core.estimate import Estimate

from .crowd import animals, label_all, start, truth


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def scored(rows: list[dict[str, str]], metric: object, **options: object) -> float:
    said, right = ([row[name] for row in rows] for name in ("prediction", "label"))
    weights = [float(row["sample_weight"]) for row in rows]
    return float(metric(right, said, sample_weight=weights, **options))  # type: ignore[operator]


def test_the_weighted_accuracy_of_a_random_sample_is_the_estimate(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "srs")
    label_all(campaign, animals())
    rows = rows_of(labels.as_text(labels.records(campaign), "csv"))
    found = campaign.estimate()
    assert isinstance(found, Estimate)
    assert scored(rows, accuracy_score) == pytest.approx(found.value, abs=1e-9)
    assert sum(float(row["sample_weight"]) for row in rows) == pytest.approx(300)
    campaign.disconnect()


def test_weights_of_waves_undo_what_was_looked_for(tmp_path: Path) -> None:
    """Waves ask about doubtful items: the plain mean is far too low, the weighted one is not."""
    plain, weighted, pool = [], [], animals()
    for seed in range(12):
        (tmp_path / str(seed)).mkdir()
        campaign = start(tmp_path / str(seed), pool, "waves", seed=seed, budget=90, objective="expose")
        label_all(campaign, pool)
        rows = rows_of(labels.as_text(labels.records(campaign), "csv"))
        plain.append(np.mean([row["label"] == row["prediction"] for row in rows]))
        weighted.append(scored(rows, accuracy_score))
        assert 0 < scored(rows, f1_score, average="macro") < 1
        campaign.disconnect()
    assert pool.failed is not None
    accuracy, error = 1 - pool.failed.mean(), np.std(weighted) / np.sqrt(len(weighted))
    assert np.mean(plain) < accuracy - 0.05
    assert abs(np.mean(weighted) - accuracy) < 3 * error + 0.02


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_fields_are_the_same_everywhere(tmp_path: Path, kind: str) -> None:
    now = [1_700_000_000.0]
    campaign = start(tmp_path, animals(), "srs", clock=lambda: now[0])
    for item in campaign.ask("Ann", n=3):
        now[0] += 12.5
        campaign.tell(item, truth(animals(), item), by="Ann")
    text = labels.as_text(labels.records(campaign), kind)
    rows = rows_of(text) if kind == "csv" else [json.loads(line) for line in text.splitlines()]
    assert list(rows[0])[:3] == ["id", "label", "prediction"]
    assert list(rows[0])[-4:] == list(labels.FIELDS)
    assert [float(row["lead_time"]) for row in rows] == [12.5, 12.5, 12.5]
    assert rows[0]["created_at"].startswith("2023-11-14T22:13:32+00:00")
    assert {row["annotator"] for row in rows} == {"Ann"}
    assert not {"dsa", "confidence"} & set(rows[0])
    campaign.disconnect()


def test_without_known_chances_there_are_no_weights(tmp_path: Path) -> None:
    campaign = start(tmp_path, animals(), "gbs:auxiliary=confidence,batch=20")
    label_all(campaign, animals())
    assert {one.weight for one in labels.records(campaign)} == {None}
    campaign.disconnect()
