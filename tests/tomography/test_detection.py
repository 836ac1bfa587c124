"""Detectors from the command line: boxes are decoded, brought back to the picture, and travel with it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save
from typer.testing import CliRunner

from fieldcheck.cli.app import app
from fieldcheck.core.boxes import objects_of
from fieldcheck.core.errors import FieldcheckError, SpaceError
from fieldcheck.core.rng import ItemStreams
from fieldcheck.core.space import Axis, Space
from fieldcheck.models.fit import PictureFit
from fieldcheck.tomography import perturbations
from fieldcheck.tomography.answers.run import Run
from fieldcheck.tomography.setup.space_file import read_space_file
from fieldcheck.tomography.setup.subject import Subject, of_space_file

HEIGHT, WIDTH = 40, 48
NAMES = ("scale", "translate", "rotate", "shear", "zoom", "brightness")

SPACE = """
[model]
file = "{model}"
{more}
[data]
file = "scenes.npz"
{data}
[check]
kind = "{check}"
[plan]
kind = "full"
"""

AXIS = """
[[perturbation]]
name = "{name}"
levels = {levels}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Dark pictures with one or two bright rectangles; the last one is empty."""
    rng = np.random.default_rng(0)
    images = np.zeros((12, HEIGHT, WIDTH, 3), dtype=np.uint8)
    boxes, ends = [], [0]
    for at, image in enumerate(images[:-1]):
        for left in (4, 28)[: 1 + at % 2]:
            x, y = left + int(rng.integers(0, 8)), int(rng.integers(4, 24))
            image[y : y + 10, x : x + 8] = 250
            boxes.append([at % 3, x, y, x + 8, y + 10])
        ends.append(len(boxes))
    ends.append(len(boxes))
    np.savez(tmp_path / "scenes.npz", images=images, boxes=np.array(boxes, dtype=float), box_offsets=np.array(ends))
    (tmp_path / "detectors.py").write_text(DETECTORS)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("detectors", None)


DETECTORS = """
import numpy as np

def bright(batch):  # finds nothing but one box around all that is bright
    found = []
    for image in np.asarray(batch).max(axis=-1):
        y, x = np.nonzero(image > 100)
        found.append(np.array([[x.min(), y.min(), x.max() + 1, y.max() + 1, .9]]) if len(x) else np.zeros((0, 5)))
    return found

def flat(batch):
    return np.zeros((len(batch), 360), dtype=np.float32)

def fixed(batch):
    return [np.array([[1, 1, 3, 3, .9, 0.]]) for _ in batch]

def half(output, height, width):
    return output[:1]

def none_right(said, true):
    assert all(len(one) for one in true)
    return np.zeros(len(said))
"""


def space_file(folder: Path, *names: str, levels: int = 3, **words: str) -> Path:
    given = {"model": "detectors:bright", "more": 'scale = "none"\nlayout = "plain"', "check": "detection"}
    given |= {"data": 'boxes = "class,x0,y0,x1,y1"'}
    path = folder / "space.toml"
    text = SPACE.format(**(given | words))
    path.write_text(text + "".join(AXIS.format(name=name, levels=levels) for name in names))
    return path


def subject(folder: Path, *names: str, levels: int = 3, **words: str) -> Subject:
    return of_space_file(read_space_file(space_file(folder, *names, levels=levels, **words)), trust=True)


def every(found: Subject) -> tuple[Any, Any]:
    return np.repeat(np.arange(found.space.size), found.inputs), np.tile(np.arange(found.inputs), found.space.size)


@pytest.mark.parametrize("names", [("scale", "translate"), ("rotate", "zoom"), ("shear", "brightness", "translate")])
def test_a_detector_that_knows_where_things_went_is_always_right(folder: Path, names: tuple[str, ...]) -> None:
    """Whatever is asked: it returns the true boxes, moved, and every row that applies holds, all objects found."""
    found = subject(folder, *names)
    executor = found.executor
    assert executor is not None
    assert executor.scenes is not None
    tests, inputs = every(found)
    truths = executor.truths(tests, inputs)
    left = np.array([len(boxes) > 0 for boxes in truths])
    said = [np.column_stack([boxes[:, :4], np.ones(len(boxes)), boxes[:, 4]]) for boxes in truths]
    held = executor.scenes.held(
        [one for one, there in zip(said, left, strict=True) if there], [boxes for boxes in truths if len(boxes)]
    )
    assert left.any()
    assert not left.all()
    assert held.tolist() == [1.0] * int(left.sum())
    objects = executor.scenes.objects(said, truths)
    assert objects is not None
    assert (objects.recall, objects.precision) == (1.0, 1.0)


@pytest.mark.parametrize("name", ["scale", "translate", "zoom", "zoom:direction=in"])
def test_boxes_go_where_pixels_go(name: str) -> None:
    """A bright rectangle in a picture, perturbed: the moved box is around what is bright, within a pixel."""
    made: Any = perturbations.registry.build(name)
    images = np.zeros((4, HEIGHT, WIDTH), dtype=np.uint8)
    images[:, 18:24, 20:30] = 255
    severity = np.array([1, 2, 3, 3])
    draws = ItemStreams.of(0, made.name, np.arange(4), severity)
    moved, maps = made.apply(images, severity, draws), made.motions(severity, draws, HEIGHT, WIDTH)
    for image, step in zip(moved, maps, strict=True):
        y, x = np.nonzero(image > 127)
        centre = np.array([WIDTH, HEIGHT]) / 2
        corners = np.array([[20.0, 18], [30, 24]]) - centre
        wanted = (step @ np.column_stack([corners, np.ones(2)]).T)[:2].T + centre
        low, high = np.clip(wanted, 0, [WIDTH, HEIGHT])
        assert np.abs(low - [x.min(), y.min()]).max() <= 1
        assert np.abs(high - [x.max() + 1, y.max() + 1]).max() <= 1


@pytest.mark.parametrize("name", ["rotate", "shear"])
def test_boxes_are_around_what_is_turned(name: str) -> None:
    made: Any = perturbations.registry.build(name)
    images = np.zeros((6, HEIGHT, WIDTH), dtype=np.uint8)
    images[:, 12:18, 14:34] = 255
    severity = np.array([1, 1, 2, 2, 3, 3])
    draws = ItemStreams.of(0, made.name, np.arange(6), severity)
    moved, maps = made.apply(images, severity, draws), made.motions(severity, draws, HEIGHT, WIDTH)
    centre = np.array([WIDTH, HEIGHT]) / 2
    corners = np.array([[14.0, 12], [34, 12], [14, 18], [34, 18]]) - centre
    for image, step in zip(moved, maps, strict=True):
        y, x = np.nonzero(image > 127)
        wanted = (step @ np.column_stack([corners, np.ones(4)]).T)[:2].T + centre
        assert np.abs(wanted.min(axis=0) - [x.min(), y.min()]).max() <= 1.5
        assert np.abs(wanted.max(axis=0) - [x.max() + 1, y.max() + 1]).max() <= 1.5


def test_what_left_the_picture_does_not_come_back(folder: Path) -> None:
    """Enlarged 2.6 times, then shrunk to .5: what was cut off in between stays gone, and the rest is smaller."""
    found = subject(folder, "scale", "zoom", levels=5).executor
    assert found is not None
    test = found.space.numbers([[2, 5]])
    alone = found.space.numbers([[2, 0]])
    for at in range(11):
        there = [len(found.truths(one, np.array([at]))[0]) for one in (alone, test)]
        assert there[0] == there[1]
    boxes = np.concatenate(found.truths(np.repeat(test, 11), np.arange(11)))
    assert boxes[:, 0].min() >= WIDTH / 4
    assert boxes[:, 2].max() <= 3 * WIDTH / 4


def test_an_input_without_a_box_left_is_not_counted(folder: Path) -> None:
    found = subject(folder, "translate", "brightness", levels=5)
    tests, inputs = every(found)
    held = found.measure(tests, inputs, None)
    executor, left = found.executor, found.left()
    assert executor is not None
    assert left is not None
    assert np.isnan(held[inputs == 11]).all()  # there never was a box
    shares = left.of(found.space.severities(np.arange(found.space.size)))
    assert shares[0] == 11 / 12
    by_test = np.isnan(held).reshape(-1, 12).mean(axis=1)
    assert (1 - by_test).tolist() == pytest.approx(shares.tolist())


def test_the_command_line_says_what_is_left(folder: Path) -> None:
    run = CliRunner().invoke(
        app, ["tomography", "run", str(space_file(folder, "scale", "brightness", levels=5)), "--out", "run", "--trust"]
    )
    assert run.exit_code == 0, run.output
    assert "Share of the inputs with an object left" in run.output
    assert "objects found" in run.output
    asked, gone = (
        int(line.split()[0].replace(",", ""))
        for line in run.output.splitlines()
        if line[:1].isdigit() and (" inferences in " in line or " more were planned where no object is left" in line)
    )
    assert asked + gone == 36 * 12
    summary = CliRunner().invoke(
        app, ["tomography", "run", "space.toml", "--out", "run", "--trust", "--resume", "--json"]
    )
    facts = json.loads(summary.stdout)
    assert facts["by_order"]["0"] == pytest.approx(6 / 11)  # one box around two rectangles is neither of them
    assert facts["objects"]["0"]["recall"] == pytest.approx(6 / 16)
    assert facts["not_applicable"] > 0
    asked = CliRunner().invoke(app, ["tomography", "query", "run", "scale = 5", "--json"])
    answer = json.loads(asked.stdout)
    assert asked.exit_code == 0
    assert (answer["tests"] == 0) == (facts["left"]["scale"][5] < 0.2)
    opened = Run.open("run")
    assert opened.ask("brightness <= 2 and scale = 0").left == pytest.approx(11 / 12)


def test_wrong_outputs_are_said(folder: Path) -> None:
    with pytest.raises(FieldcheckError, match=r"\(360,\)"):
        subject(folder, "scale", model="detectors:flat")
    with pytest.raises(FieldcheckError, match="yolox gives"):
        subject(folder, "scale", more='decoder = "yolox"\nlayout = "plain"')
    with pytest.raises(FieldcheckError, match="no decoder"):
        subject(folder, "scale", more='decoder = "yolo99"\nlayout = "plain"')
    with pytest.raises(FieldcheckError, match="elastic does not say"):
        subject(folder, "elastic")


def test_boxes_are_held_against_boxes(folder: Path) -> None:
    with pytest.raises(SpaceError, match="the model gives boxes, and the check is 'label'"):
        subject(folder, "brightness", check="label", more='scale = "none"\nlayout = "plain"\ndecoder = "boxes"')


def test_flat_rows_are_boxes_where_that_is_said(folder: Path) -> None:
    found = subject(folder, "scale", model="detectors:flat", more='decoder = "boxes:columns=6"\nlayout = "plain"')
    assert found.measure(np.zeros(3, dtype=int), np.arange(3), None).tolist() == [0.0] * 3


def test_a_random_detector_finds_nothing(folder: Path) -> None:
    found = subject(folder, "scale", model="detectors:fixed")
    held = found.measure(*every(found), None)
    assert np.nanmean(held) == 0


def test_own_decoders_and_checks(folder: Path) -> None:
    more = 'decoder = "detectors:half"\nlayout = "plain"\nscale = "none"'
    plain = {"model": "detectors:bright", "more": more}
    found = subject(folder, "translate", **plain)
    assert found.measure(np.zeros(2, dtype=int), np.array([0, 1]), None).tolist() == [1.0, 0.0]
    own = subject(folder, "translate", **plain, check='function"\nfunction = "detectors:none_right')
    assert own.measure(np.zeros(2, dtype=int), np.array([0, 11]), None).tolist()[0] == 0.0
    with pytest.raises(FieldcheckError, match="trust"):
        of_space_file(read_space_file(space_file(folder, "translate", **plain)), trust=False)


def test_a_share_and_f1(folder: Path) -> None:
    """One box where two objects are side by side is none of them; with a share of .01 nothing changes."""
    at_rest = np.zeros(11, dtype=int), np.arange(11)
    assert subject(folder, "scale", check="detection-f1:least=0.6").measure(*at_rest, None).sum() == 6
    assert subject(folder, "scale", check="detection:share=0.5").measure(*at_rest, None).sum() == 6


def test_classes_that_are_one(folder: Path) -> None:
    groups = 'detection"\nclasses = { thing = { truth = [0, 1], model = [0] } }\nvisible = 0.5\n#"'
    found = subject(folder, "scale", model="detectors:fixed", check=groups)
    executor = found.executor
    assert executor is not None
    assert executor.scenes is not None
    assert [len(boxes) for boxes in executor.scenes.boxes] == [1, 2, 0, 2, 1, 0] * 2


def test_letterboxes_and_back() -> None:
    images = np.full((2, 20, 40, 3), 255, dtype=np.uint8)
    fit = PictureFit("letterbox", 80, 80)
    assert fit(images).shape == (2, 80, 80, 3)
    assert (fit(images)[:, :40] == 255).all()
    assert (fit(images)[:, 40:] == 114).all()
    centred = PictureFit("letterbox-centre", 80, 80)
    assert (centred(images)[:, 20:60] == 255).all()
    assert (centred(images)[:, :20] == 114).all()
    box = np.array([[0.0, 20, 80, 60, 1]])
    assert centred.back(box, 20, 40).tolist() == [[0, 0, 40, 20, 1]]
    ramp = np.tile(np.arange(8, dtype=np.float32), (1, 4, 1)) / 8
    wide = PictureFit("stretch", 16, 4)(ramp)[0, 0]
    assert wide[1:-1] == pytest.approx((np.arange(1, 15) + 0.5) / 16 - 0.5 / 8, abs=1e-6)


def tiny_yolox(path: Path) -> None:
    """A graph for one picture of 32 x 32 whose raw outputs are those of YOLOX: one box, 8 x 8 around (12, 12)."""
    raw = np.zeros((1, 16 + 4 + 1, 6), dtype=np.float32)
    raw[0, 5] = [0.5, 0.5, 0.0, 0.0, 1.0, 1.0]
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["bright"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Clip", ["bright", "zero", "one"], ["there"]),
        helper.make_node("Mul", ["raw", "there"], ["out"]),
    ]
    arrays = {"raw": raw, "zero": np.float32(0), "one": np.float32(1)}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 21, 6])],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def test_an_onnx_detector_of_one_picture_at_a_time(folder: Path) -> None:
    """Raw outputs, letterboxed: a box of 8 x 8 around (12, 12) of 32 is one of 12 x 12 around (18, 18) of 48."""
    tiny_yolox(folder / "tiny.onnx")
    images = np.full((5, HEIGHT, WIDTH, 3), 9, dtype=np.uint8)
    boxes = np.array([[12.0, 12, 24, 24, 0]] * 4 + [[0, 0, 5, 5, 0]])
    np.savez(folder / "scenes.npz", images=images, boxes=boxes, box_offsets=np.arange(6))
    more = 'decoder = "yolox"\nfit = "letterbox"\nscale = "none"\nchannels = "bgr"'
    found = subject(folder, "translate", "brightness", model="tiny.onnx", more=more, data="")
    assert found.measure(np.zeros(5, dtype=int), np.arange(5), None).tolist() == [1, 1, 1, 1, 0]
    moved = found.space.numbers([[1, 0], [3, 0]])  # by 1.6 pixels (overlap .61) and by 4.7 (.23)
    assert found.measure(moved, np.zeros(2, dtype=int), None).tolist() == [1.0, 0.0]
    with pytest.raises(FieldcheckError, match="fit letterbox"):
        subject(folder, "translate", model="tiny.onnx", more=more.replace('fit = "letterbox"\n', ""), data="")


def test_average_precision_by_hand() -> None:
    """Scores .9 right, .8 wrong, .7 right of two objects: precision 1 up to recall 1/2, then 2/3."""
    truth = np.array([[0.0, 0, 10, 10, 1], [20, 20, 30, 30, 1]])
    said = np.array([[0.0, 0, 10, 10, 0.9, 1], [50, 50, 60, 60, 0.8, 1], [20, 20, 30, 30, 0.7, 1]])
    found = objects_of([truth], [said], iou=0.5, score=0.75)
    assert found.precision == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert found.recall == 0.5
    assert found.select(np.array([1])).found.tolist() == []


def test_without_classes_all_objects_are_one_kind() -> None:
    """Two objects of two classes, both found by boxes that name none, the second after a box of nothing."""
    truth = np.array([[0, 0, 10, 10, 0.0], [20, 0, 30, 10, 1.0]])
    said = np.array([[0, 0, 10, 10, 0.9, np.nan], [50, 0, 60, 10, 0.8, np.nan], [20, 0, 30, 10, 0.7, np.nan]])
    assert objects_of([truth], [said], iou=0.5, score=0.5).precision == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    truth[:, 4], said[:, 5] = np.nan, 3
    assert objects_of([truth], [said], iou=0.5, score=0.5).precision == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_levels_may_be_chosen() -> None:
    axis = Axis("zoom", 2, chosen=(2, 5))
    assert (axis.highest, axis.severities(np.array([1, 2, 1]), np.arange(3)).tolist()) == (5, [2, 5, 2])
    with pytest.raises(FieldcheckError, match="higher"):
        Axis("zoom", 2, chosen=(5, 2))
    assert Space((axis,)).size == 3


DRIVING = """
[model]
file = "{data}/driving/yolox_nano_coco_416.onnx"
decoder = "yolox"
fit = "letterbox"
scale = "none"
channels = "bgr"
threads = 1
[data]
file = "{data}/driving/udacity_boxes.npz"
boxes = "class,x0,y0,x1,y1"
where = "split=1"
limit = 24
[check]
kind = "detection:share=0.5,score=0.3"
classes = {{ vehicle = {{ truth = ["car", "truck"], model = [2, 5, 7] }} }}
[[perturbation]]
name = "scale"
[[perturbation]]
name = "darken"
"""


def test_a_real_detector_on_real_frames(tmp_path: Path, published_data: Path) -> None:
    """YOLOX-nano on 24 frames: it finds cars, and finds fewer in the dark; boxes are where the cars are."""
    if not (published_data / "driving").is_dir():
        pytest.skip("the driving frames are not there")
    path = tmp_path / "space.toml"
    path.write_text(DRIVING.format(data=published_data.as_posix()))
    found = of_space_file(read_space_file(path))
    tests = found.space.numbers([[0, 0], [1, 0], [0, 5]])
    held, objects = found.observe(np.repeat(tests, 24), np.tile(np.arange(24), 3), None)
    assert objects is not None
    clean, larger, dark = (objects.select(np.arange(24) + 24 * at).recall for at in range(3))
    assert clean > 0.4
    assert larger > 0.4
    assert dark < clean
    assert np.isnan(held).sum() < 24
