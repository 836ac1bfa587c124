"""``fieldcheck predict`` and ``fieldcheck auxiliary`` from the outside."""

from __future__ import annotations

import json
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.sources import load

from .sheets import Run


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """Images whose brightness is their class, and a network that reads it off: classes 0 (dark) to 2 (bright)."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 120)
    images = np.clip(40 + 90 * labels[:, None, None] + rng.normal(0, 45, (120, 6, 6)), 0, 255).astype(np.uint8)
    images[:, 0, 0] = rng.integers(0, 256, 120)
    np.savez(tmp_path / "train.npz", images=images[:60], labels=labels[:60])
    np.savez(tmp_path / "field.npz", images=images[60:], labels=labels[60:])
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(36, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
    with torch.no_grad():
        network[1].weight[:] = 1 / 36
        network[1].bias[:] = torch.tensor([-0.1, -0.3, -0.5, -0.7])
        network[3].weight[:] = torch.tensor([[-9.0, -9, 0, 0], [9, -9, -9, 0], [0, 9, 9, 9]])
        network[3].bias[:] = torch.tensor([2.0, 0.5, -2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the newer exporter needs a package more
        torch.onnx.export(
            network.eval(),
            (torch.zeros(2, 1, 6, 6),),
            tmp_path / "net.onnx",
            input_names=["x"],
            dynamic_axes={"x": {0: "n"}},
            dynamo=False,
        )
    return tmp_path


def test_from_model_to_assessment(run: Run, digits: Path) -> None:
    done = run(
        *("predict", "net.onnx", "field.npz", "--reference", "train.npz", "--truth", "--out", "pool.parquet"),
        *("--auxiliary", "confidence,dsa,lsa", "--activations", "acts.npy", "--activations-type", "float16"),
    )
    assert done.code == 0, done.err
    assert "60 items in pool.parquet" in done.out
    assert "divided by 255" in done.err
    pool = load(digits / "pool.parquet")
    assert {"dsa", "lsa"} <= set(pool.columns)
    assert pool.truth_known
    assert np.load(digits / "acts.npy").dtype == np.float16
    assert run("simulate", "pool.parquet", "--design", "ces", "--activations", "acts.npy", "--budget", 30).code == 0
    left = sorted(path.name for path in digits.iterdir())
    assert left == ["acts.npy", "field.npz", "net.onnx", "pool.parquet", "train.npz"]


def test_json_and_no_truth_unless_asked_for(run: Run, digits: Path) -> None:
    done = run("predict", "net.onnx", "field.npz", "--out", "pool.csv", "--batch", 7, "--json")
    said = json.loads(done.out)
    assert (said["items"], said["task"], said["accuracy"]) == (60, "classification", None)
    assert said["notes"]
    assert "target" not in (digits / "pool.csv").read_text().splitlines()[0]


def test_shards_by_processes(run: Run, digits: Path) -> None:
    words = (
        "predict",
        "net.onnx",
        "field.npz",
        "--reference",
        "train.npz",
        "--auxiliary",
        "confidence,dsa,lsa",
        "--truth",
    )
    words += ("--batch", "5")
    assert run(*words, "--out", "one.parquet").code == 0
    done = run(*words, "--out", "cut", "--rows", 20, "--engine", "processes:workers=2")
    assert done.code == 0, done.err
    assert "60 items in 3 shards in cut" in done.out
    one, other = load(digits / "one.parquet"), load(digits / "cut")
    assert one.digest() == other.digest()
    for name in ("dsa", "lsa"):
        np.testing.assert_allclose(one.columns[name], other.columns[name], rtol=1e-6, atol=1e-9)
    refused = run(*words, "--out", "cut", "--rows", 30)
    assert (refused.code, "differs in rows" in refused.err) == (2, True)
    refused = run(*words, "--out", "two.parquet", "--engine", "processes")
    assert (refused.code, "--out pool/" in refused.err) == (2, True)


def test_ray_names_its_extra(run: Run, digits: Path) -> None:
    try:
        import ray  # noqa: F401
    except ImportError:
        refused = run("predict", "net.onnx", "field.npz", "--out", "cut", "--engine", "ray")
        assert (refused.code, "fieldcheck[ray]" in refused.err) == (2, True)


def test_shard_cuts_a_pool(run: Run, digits: Path) -> None:
    run("predict", "net.onnx", "field.npz", "--out", "pool.csv", "--truth")
    done = run("shard", "pool.csv", "--out", "cut", "--rows", 25, "--json")
    assert done.json["shards"] == ["000000.parquet", "000001.parquet", "000002.parquet"]
    estimates = [run("simulate", pool, "--budget", 20, "--json").json["value"] for pool in ("pool.csv", "cut")]
    assert estimates[0] == estimates[1]
    assert run("shard", "pool.csv", "--out", "cut").code == 2


def test_a_campaign_on_shards_in_other_processes(run: Run, digits: Path) -> None:
    """The same items and the same statement as in this process and in memory."""
    run("predict", "net.onnx", "field.npz", "--out", "pool.csv", "--truth")
    run("shard", "pool.csv", "--out", "cut", "--rows", 25)
    said = []
    for name, pool, engine in (("one", "pool.csv", "local"), ("two", "cut", "processes:workers=1")):
        begun = run("start", pool, "--campaign", f"{name}.db", "--budget", 25, "--items", "none", "--engine", engine)
        assert begun.code == 0, begun.err
        asked = run("next", f"{name}.db", "--out", f"{name}.jsonl", "--by", "Eva", "--engine", engine)
        assert asked.code == 0, asked.err
        rows = [json.loads(line) for line in (digits / f"{name}.jsonl").read_text().splitlines()]
        filled = "".join(f"{row['id']},{at % 3}\n" for at, row in enumerate(rows))
        (digits / f"{name}.csv").write_text(f"id,label\n{filled}")
        assert run("import", f"{name}.db", f"{name}.csv", "--by", "Eva").code == 0
        found = run("estimate", f"{name}.db", "--engine", engine, "--json")
        assert found.code == 0, found.err
        said.append(([row["id"] for row in rows], found.json["value"], found.json["interval"]))
    assert said[0] == said[1]


def test_layers_are_listed(run: Run, digits: Path) -> None:
    done = run("predict", "net.onnx", "field.npz", "--layer", "list")
    assert done.code == 0
    assert sum("(auto)" in line for line in done.out.splitlines()) == 1
    said = json.loads(run("predict", "net.onnx", "field.npz", "--layer", "list", "--json").out)
    assert said["auto"] in said["layers"]


def test_folder_of_images(run: Run, digits: Path) -> None:
    with np.load(digits / "field.npz") as data:
        for at, (image, label) in enumerate(zip(data["images"], data["labels"], strict=True)):
            place = digits / "field" / str(label) / f"{at}.png"
            place.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(place)
    (digits / "field" / "0" / "broken.png").write_bytes(b"no image")
    refused = run("predict", "net.onnx", "field", "--out", "pool.csv")
    assert refused.code == 2
    assert "0/broken.png" in refused.err
    assert not (digits / "pool.csv").exists()
    done = run("predict", "net.onnx", "field", "--out", "pool.csv", "--skip-broken", "--truth", "--symmetry", "flip")
    assert done.code == 0, done.err
    assert "1 broken images were left out" in done.err
    pool = load(digits / "pool.csv")
    assert len(pool) == 60
    assert "symmetry" in pool.columns


def test_predictions_only(run: Run, digits: Path) -> None:
    run("predict", "net.onnx", "field.npz", "--out", "pool.csv")
    done = run("predict", "none", "pool.csv", "--auxiliary", "margin,gini", "--out", "more.csv")
    assert done.code == 0, done.err
    assert {"margin", "gini"} <= set(load(digits / "more.csv").columns)


@pytest.mark.parametrize(
    "words",
    [
        ("net.onnx", "field.npz"),
        ("net.onnx", "field.npz", "--out", "pool.xlsx"),
        ("net.onnx", "field.npz", "--out", "gone/pool.csv"),
        ("net.onnx", "field.npz", "--out", "pool.csv", "--auxiliary", "dsa"),
        ("net.onnx", "field.npz", "--out", "pool.csv", "--auxiliary", "psychic"),
        ("net.onnx", "field.npz", "--out", "pool.csv", "--scale", "large"),
        ("net.onnx", "field.npz", "--out", "pool.csv", "--task", "guess"),
        ("net.onnx", "field.npz", "--out", "pool.csv", "--layer", "nope", "--activations", "a.npy"),
        ("net.onnx", "field.npz", "--out", "pool.csv", "--activations", "a.txt"),
        ("net.onnx", "gone.npz", "--out", "pool.csv"),
        ("gone.onnx", "field.npz", "--out", "pool.csv"),
        ("none", "gone.csv", "--out", "pool.csv"),
    ],
)
def test_problems_are_told_and_nothing_is_written(run: Run, digits: Path, words: tuple[str, ...]) -> None:
    before = sorted(path.name for path in digits.iterdir())
    done = run("predict", *words)
    assert done.code == 2, done.err
    assert "rule:" in done.err
    assert sorted(path.name for path in digits.iterdir()) == before


def test_auxiliary_shows_how_well_each_separates(run: Run, tea: Path) -> None:
    said = json.loads(run("auxiliary", tea, "--json").out)
    names = [one["name"] for one in said["signals"]]
    assert names[-1] == "together"
    assert {"confidence", "lsa"} <= set(names)
    done = run("auxiliary", tea, "--auxiliary", "lsa", "--html", "signals.html")
    assert done.code == 0, done.err
    assert "AUC" in done.out
    assert "confidence" not in done.out
    page = Path("signals.html").read_text(encoding="utf-8")
    assert "logistic curve" in page


def test_auxiliary_in_regression(run: Run, price: Path) -> None:
    done = run("auxiliary", price, "--task", "regression")
    assert done.code == 0, done.err
    assert "rank correlation" in done.out


def test_auxiliary_needs_the_truth(run: Run, digits: Path) -> None:
    run("predict", "net.onnx", "field.npz", "--out", "pool.csv")
    done = run("auxiliary", "pool.csv")
    assert done.code == 2
    assert "truth" in done.err


def folders(digits: Path, *, colour: bool) -> None:
    """The field as files in class folders."""
    with np.load(digits / "field.npz") as data:
        for at, (image, label) in enumerate(zip(data["images"], data["labels"], strict=True)):
            place = digits / "field" / ("dark", "grey", "light")[label] / f"{at}.png"
            place.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.stack([image] * 3, axis=2) if colour else image).save(place)


def test_pictures_in_colour_for_a_grey_model(run: Run, digits: Path) -> None:
    folders(digits, colour=True)
    done = run("predict", "net.onnx", "field", "--out", "pool.csv")
    assert done.code == 0, done.err
    assert "--colour grey" in done.err
    same = run("predict", "net.onnx", "field", "--out", "same.csv", "--colour", "gray")
    assert same.code == 0, same.err
    assert (digits / "pool.csv").read_text() == (digits / "same.csv").read_text()
    refused = run("predict", "net.onnx", "field", "--out", "no.csv", "--colour", "rgb")
    assert refused.code == 2


def test_class_folders_become_the_truth_where_asked(run: Run, digits: Path) -> None:
    folders(digits, colour=False)
    plain = run("predict", "net.onnx", "field", "--out", "pool.csv")
    assert "--truth writes it" in plain.err
    assert not load(digits / "pool.csv").truth_known
    done = run("predict", "net.onnx", "field", "--truth", "folder", "--out", "pool.csv")
    assert done.code == 0, done.err
    assert load(digits / "pool.csv").truth_known
    assert load(digits / "pool.csv").classes == ("dark", "grey", "light")
    advice = next(line for line in done.out.splitlines() if line.startswith("next: "))
    assert run(*shlex.split(advice)[2:], "--budget", "20").code == 0
    assert run("predict", "net.onnx", "field.npz", "--truth", "labels", "--out", "named.csv").code == 0
    assert load(digits / "named.csv").truth_known


def test_the_printed_start_shows_what_was_predicted_on(run: Run, digits: Path) -> None:
    folders(digits, colour=False)
    done = run("predict", "net.onnx", "field", "--out", "pool.csv")
    advice = next(line for line in done.out.splitlines() if line.startswith("next: "))
    started = run(*shlex.split(advice)[2:])
    assert started.code == 0, started.err
    with Campaign.open(digits / "pool.db") as campaign:
        assert {campaign.view.content(at).kind for at in range(10)} == {"image"}
    refused = run("start", "pool.csv", "--campaign", "blind.db")
    assert refused.code == 2
    assert "label blind" in refused.err
    assert not (digits / "blind.db").exists()
    (digits / "field").rename(digits / "moved")
    refused = run("label", "pool.db", "--no-browser")
    assert refused.code == 2
    assert "label blind" in refused.err


@pytest.mark.parametrize(
    "names", ["dark\ngrey\nlight\n", '["dark", "grey", "light"]', "{0: 'dark', 1: 'grey', 2: 'light'}"]
)
def test_class_names_from_a_file_or_from_the_model(run: Run, digits: Path, names: str) -> None:
    import onnx

    (digits / "names.txt").write_text(names)
    done = run("predict", "net.onnx", "field.npz", "--classes", "names.txt", "--out", "pool.csv")
    assert done.code == 0, done.err
    assert load(digits / "pool.csv").classes == ("dark", "grey", "light")
    model = onnx.load(digits / "net.onnx")
    entry = model.metadata_props.add()
    entry.key, entry.value = "names", names
    onnx.save(model, digits / "named.onnx")
    assert run("predict", "named.onnx", "field.npz", "--out", "own.csv").code == 0
    assert load(digits / "own.csv").classes == ("dark", "grey", "light")


def test_texts_are_kept_for_whoever_labels(run: Run, digits: Path) -> None:
    (digits / "grader.py").write_text(
        "import numpy as np\n\n\ndef model(texts):\n"
        "    p = np.array([0.9 if 'good' in text else 0.2 for text in texts])\n"
        "    return np.column_stack([1 - p, p])\n"
    )
    rows = "\n".join(f"r{at},{'good' if at % 3 else 'bad'} number {at}" for at in range(40))
    (digits / "reviews.csv").write_text(f"id,text\n{rows}\n")
    done = run("predict", "grader:model", "reviews.csv", "--trust", "--out", "pool.csv")
    assert done.code == 0, done.err
    advice = next(line for line in done.out.splitlines() if line.startswith("next: "))
    assert run(*shlex.split(advice)[2:]).code == 0
    with Campaign.open(digits / "pool.db") as campaign:
        assert campaign.view.content(1).text == "good number 1"


def test_each_of_several_texts_is_kept_in_a_column_of_its_own(run: Run, digits: Path) -> None:
    (digits / "matcher.py").write_text(
        "import numpy as np\n\n\ndef model(pairs):\n"
        "    p = np.array([0.9 if one == other else 0.2 for one, other in pairs])\n"
        "    return np.column_stack([1 - p, p])\n"
    )
    rows = "\n".join(f"r{at},number {at},number {at - at % 2}" for at in range(40))
    (digits / "questions.csv").write_text(f"id,first,second\n{rows}\n")
    words = ("predict", "matcher:model", "questions.csv", "--text", "first", "--text", "second", "--trust")
    for name in ("two.csv", "two.parquet"):
        done = run(*words, "--out", name)
        assert done.code == 0, done.err
        assert run("start", name, "--campaign", f"{name}.db").code == 0
        with Campaign.open(digits / f"{name}.db") as campaign:
            assert dict(campaign.view.content(3).pairs) == {"first": "number 3", "second": "number 2"}
