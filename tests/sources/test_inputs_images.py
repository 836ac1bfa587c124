"""Image files: folders, lists, sizes, colours, damage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fieldcheck.core.errors import InputsError
from fieldcheck.sources import open_inputs

RNG = np.random.default_rng(0)


def write(path: Path, size: tuple[int, int] = (6, 4), *, mode: str = "L") -> np.ndarray:
    """A random image of that width and height; its pixels."""
    shape = (size[1], size[0]) if mode in ("L", "I;16") else (size[1], size[0], len(mode))
    pixels = RNG.integers(0, 256, shape).astype(np.uint16 if mode == "I;16" else np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return pixels


def test_folder_is_sorted_by_path_and_folders_are_classes(tmp_path: Path) -> None:
    pixels = {name: write(tmp_path / name) for name in ("dog/b.png", "cat/deep/z.png", "cat/a.bmp")}
    (tmp_path / "notes.txt").write_text("no image")
    write(tmp_path / ".hidden" / "x.png")
    write(tmp_path / "cat" / "._a.png")
    inputs = open_inputs(tmp_path)
    assert inputs.ids == ["cat/a.bmp", "cat/deep/z.png", "dog/b.png"]
    assert inputs.labels.tolist() == ["cat", "cat", "dog"]
    assert inputs.classes == ("cat", "dog")
    assert inputs.kind == "image"
    np.testing.assert_array_equal(inputs.batch(0, 9), np.stack([pixels[name] for name in inputs.ids]))
    np.testing.assert_array_equal(inputs.batch(1, 2)[0], pixels["cat/deep/z.png"])


def test_images_beside_folders_have_no_labels(tmp_path: Path) -> None:
    write(tmp_path / "cat" / "a.png")
    write(tmp_path / "b.png")
    assert open_inputs(tmp_path).labels is None


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputsError, match="no image"):
        open_inputs(tmp_path)


def test_another_size_is_refused_or_resized(tmp_path: Path) -> None:
    write(tmp_path / "a.png", (6, 4))
    write(tmp_path / "b.png", (8, 4))
    with pytest.raises(InputsError, match=r"b\.png has 8x4 pixels, a\.png has 6x4") as raised:
        open_inputs(tmp_path).batch(0, 2)
    assert raised.value.hint == "--size 6x4"
    assert open_inputs(tmp_path, size="5x7").batch(0, 2).shape == (2, 7, 5)
    for bad in ("5", "0x7", "5x-7", "axb"):
        with pytest.raises(InputsError, match="size"):
            open_inputs(tmp_path, size=bad)


def test_colours(tmp_path: Path) -> None:
    write(tmp_path / "a.png", mode="L")
    write(tmp_path / "b.png", mode="RGB")
    with pytest.raises(InputsError, match="colour"):
        open_inputs(tmp_path).batch(0, 2)
    rgb = open_inputs(tmp_path, colour="rgb").batch(0, 2)
    assert rgb.shape == (2, 4, 6, 3)
    assert np.all(rgb[0] == rgb[0][..., :1])
    assert open_inputs(tmp_path, colour="grey").batch(0, 2).shape == (2, 4, 6)


def test_first_image_in_colour_turns_grey_ones(tmp_path: Path) -> None:
    write(tmp_path / "a.png", mode="RGBA")
    write(tmp_path / "b.png", mode="L")
    assert open_inputs(tmp_path).batch(0, 2).shape == (2, 4, 6, 3)


def test_sixteen_bits_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.png", mode="I;16")
    with pytest.raises(InputsError, match="more than 8 bits"):
        open_inputs(tmp_path)


def test_broken_files_are_named_or_left_out(tmp_path: Path) -> None:
    kept = write(tmp_path / "x" / "a.png", (64, 64))
    write(tmp_path / "x" / "b.jpg", (64, 64))
    whole = (tmp_path / "x" / "b.jpg").read_bytes()
    (tmp_path / "x" / "b.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "x" / "c.png").write_bytes(b"not an image")
    with pytest.raises(InputsError, match=r"x/b\.jpg cannot be read"):
        open_inputs(tmp_path).batch(0, 2)
    inputs = open_inputs(tmp_path, skip_broken=True)
    assert inputs.ids == ["x/a.png"]
    assert inputs.labels.tolist() == ["x"]
    assert any("2 broken images were left out" in note for note in inputs.notes)
    np.testing.assert_array_equal(inputs.batch(0, 1)[0], kept)


def test_all_broken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.png").write_bytes(b"not an image")
    with pytest.raises(InputsError, match="no image can be decoded"):
        open_inputs(tmp_path, skip_broken=True)


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    write(secret / "s.png")
    folder = tmp_path / "images"
    write(folder / "a.png")
    (folder / "out.png").symlink_to(secret / "s.png")
    (folder / "inside.png").symlink_to(folder / "a.png")
    (folder / "more").symlink_to(secret, target_is_directory=True)
    inputs = open_inputs(folder)
    assert inputs.ids == ["a.png", "inside.png"]
    assert any("1 links that lead out" in note for note in inputs.notes)


def test_list_of_paths(tmp_path: Path) -> None:
    write(tmp_path / "lists" / "in" / "a.png")
    write(tmp_path / "elsewhere" / "b.png")
    listed = tmp_path / "lists" / "field.txt"
    listed.write_text(f"in/a.png\tcat\n\n{tmp_path}/elsewhere/b.png\tdog\n")
    inputs = open_inputs(listed)
    assert inputs.ids == ["in/a.png", f"{tmp_path}/elsewhere/b.png"]
    assert inputs.labels.tolist() == ["cat", "dog"]
    assert inputs.batch(0, 2).shape == (2, 4, 6)


@pytest.mark.parametrize(("line", "said"), [("../elsewhere/b.png", "leads out"), ("", "empty"), ("a\na", "2 times")])
def test_bad_lists(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "field.txt").write_text(line)
    with pytest.raises(InputsError, match=said):
        open_inputs(tmp_path / "field.txt")


def test_lines_as_texts(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("good film\nbad film\n")
    assert open_inputs(tmp_path / "t.txt", kind="text").batch(0, 2) == ["good film", "bad film"]
