"""What is shown of an item, and what is not."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fieldcheck.accuracy.auxiliary import registry
from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.items import Content, blind, content_of, inside, shades, upright
from fieldcheck.core.errors import InputsError
from fieldcheck.core.pool.pool import Pool
from fieldcheck.sources.inputs.images import MEDIA, SUFFIXES
from fieldcheck.sources.pools.arrays import from_arrays


def pool(ids: list[Any] | None = None, **columns: Any) -> Pool:
    names = ids or ["a", "b", "c"]
    return from_arrays(
        ids=names, y_pred=["x", "y", "x"], y_true=["x", "x", "x"], confidence=[0.9, 0.8, 0.7], metadata=columns
    )


def pixels_of(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        return image.tobytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    for name in ("a.png", "sub/b.JPG"):
        (tmp_path / name).write_bytes(b"picture")
    (tmp_path / "note.txt").write_bytes("zwölf\nline".encode())
    return tmp_path


def test_an_image_named_by_the_id(folder: Path) -> None:
    content = content_of(folder, pool(["a", "sub/b.JPG", "c"]), 0)
    assert (content.kind, content.name, content.media) == ("image", "a", "image/png")
    assert content.read() == b"picture"
    assert content_of(folder, pool(["a", "sub/b.JPG", "c"]), 1).media == "image/jpeg"


def test_an_image_named_by_a_column(folder: Path) -> None:
    items = pool(Image=["sub/b.JPG", "missing.png", None], text=["s", "t", "u"], ids=["1", "2", "3"])
    assert content_of(folder, items, 0).path == (folder / "sub" / "b.JPG").resolve()
    missing = content_of(folder, items, 1)
    assert (missing.kind, missing.text) == ("text", "t")
    assert "missing.png" in missing.note
    assert content_of(folder, items, 2).note == ""


def test_a_text_file(folder: Path) -> None:
    assert content_of(folder, pool(path=["note.txt"] * 3, ids=["1", "2", "3"]), 0).text == "zwölf\nline"


def test_one_column_of_text_is_the_text() -> None:
    content = content_of("", pool(review=["good\nbad", "", "<b>"], stars=[1, 2, 3]), 0)
    assert (content.kind, content.text) == ("text", "good\nbad")


def test_several_are_a_row() -> None:
    content = content_of("", pool(question=["q", "", ""], document=["d", "", ""], stars=[1, 2, 3]), 0)
    assert content.pairs == (("question", "q"), ("document", "d"), ("stars", "1"))


def test_what_would_bias_is_left_out() -> None:
    hidden = {"dsa": [1.0, 2.0, 3.0], "Label": ["x", None, "y"], "entropy": [0.1, 0.2, 0.3], "correct": ["?", "?", "?"]}
    content = content_of("", pool(city=["Graz", None, "Oslo"], size=[1.5, float("nan"), 2.0], **hidden), 1)
    assert content.pairs == (("city", ""), ("size", ""))


@pytest.mark.parametrize("name", [*registry, "mdsa", "knn", "Combined"])
def test_every_variable_there_is_would_bias(name: str) -> None:
    content = content_of("", pool(city=["Graz", "Linz", "Oslo"], **{name: [1.0, 2.0, 3.0]}), 0)
    assert content.pairs == (("city", "Graz"),)


@pytest.mark.parametrize("suffix", sorted(SUFFIXES - {".avif"}))
def test_whatever_is_predicted_on_is_shown(tmp_path: Path, suffix: str) -> None:
    """Browsers show no TIFF and no PPM: these are turned into a PNG."""
    colours = np.full((3, 4, 3), 200, dtype=np.uint8)
    Image.fromarray(colours[..., 0] if suffix == ".pgm" else colours).save(tmp_path / f"a{suffix}")
    content = content_of(tmp_path, pool(), 0)
    assert content.kind == "image"
    assert content.media == (MEDIA[suffix] or "image/png")
    with Image.open(io.BytesIO(content.read())) as image:
        assert image.size == (4, 3)
        assert image.get_format_mimetype() == content.media


def test_many_shades_are_brought_to_those_of_a_screen(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 30_000], [60_000, 15_000]], dtype=np.uint16)).save(tmp_path / "a.tif")
    assert pixels_of(content_of(tmp_path, pool(), 0).read()) == bytes([0, 128, 255, 64])


def test_a_campaign_hides_its_own_auxiliary_variable(tmp_path: Path) -> None:
    items = from_arrays(
        y_pred=["x", "y"] * 10, metadata={"doubt": np.arange(20) / 20, "city": ["Graz"] * 20}, name="cities"
    )
    campaign = Campaign.create(tmp_path / "c.db", items, "sups:auxiliary=doubt", budget=5)
    assert campaign.view.content(0).pairs == (("city", "Graz"),)
    assert dict(content_of("", items, 0).pairs).keys() == {"doubt", "city"}
    campaign.disconnect()


@pytest.mark.parametrize("name", ["../x.png", "/etc/passwd", "sub", "", "a\0b", "x" * 9_999, "gone.png"])
def test_outside_and_nowhere(folder: Path, name: str) -> None:
    (folder.parent / "x.png").write_bytes(b"secret")
    assert inside(folder, name) is None


def test_links_out_of_the_folder(folder: Path) -> None:
    secret = folder.parent / "secret.png"
    secret.write_bytes(b"secret")
    (folder / "link.png").symlink_to(secret)
    (folder / "own.png").symlink_to(folder / "a.png")
    assert inside(folder, "link.png") is None
    assert inside(folder, "own.png") == (folder / "a.png").resolve()


def test_images_in_an_array(tmp_path: Path) -> None:
    grey = np.zeros((3, 2, 2))
    grey[1] = [[0.0, 1.0], [0.5, 0.2]]
    np.save(tmp_path / "images.npy", grey)
    content = content_of(tmp_path / "images.npy", pool(), 1)
    assert content.kind == "image"
    assert pixels_of(content.read()) == bytes([0, 255, 128, 51])


def test_images_in_an_archive(tmp_path: Path) -> None:
    colour = np.zeros((3, 3, 4, 5), dtype=np.uint8)  # torch's order: channels first
    colour[2, 0] = 7
    np.savez(tmp_path / "images.npz", labels=np.zeros(3), x=colour)
    rows = pixels_of(content_of(tmp_path / "images.npz", pool(), 2).read())
    assert rows == bytes([7, 0, 0]) * 20


def test_arrays_that_do_not_fit(tmp_path: Path) -> None:
    np.save(tmp_path / "few.npy", np.zeros((2, 4, 4)))
    np.save(tmp_path / "flat.npy", np.zeros(3))
    np.save(tmp_path / "objects.npy", np.array([{}, {}, {}], dtype=object))
    (tmp_path / "no.npy").write_bytes(b"no array")
    (tmp_path / "no.npz").write_bytes(b"PK\x03\x04 no archive")
    for name in ("few.npy", "flat.npy", "objects.npy", "no.npy", "no.npz", "gone.npy"):
        with pytest.raises(InputsError):
            content_of(tmp_path / name, pool(), 0)


def test_pictures() -> None:
    assert upright(np.zeros((2, 3))).shape == (2, 3, 1)
    assert upright(np.zeros((3, 9, 8))).shape == (9, 8, 3)
    assert shades(np.array([np.nan, -1.0, 300.0, 51.0]), 255.0).tolist() == [0, 0, 255, 51]
    content = Content("image", "a", pixels=np.zeros((1, 1, 4), dtype=np.uint8))
    assert content.read().startswith(b"\x89PNG\r\n\x1a\n")


class TestSecondTable:
    """What people should see stands in another file, and is found by id."""

    def test_by_id_whatever_the_order(self, tmp_path: Path) -> None:
        (tmp_path / "test.csv").write_text("key;text;city;prediction;gold\nc;third;Graz;x;x\na;first;Oslo;y;y\n")
        content = content_of(tmp_path / "test.csv", pool(stars=[5, 4, 3]), 0)
        assert (content.kind, content.text) == ("text", "first")
        assert content.pairs == (("city", "Oslo"), ("stars", "5"))
        assert content_of(tmp_path / "test.csv", pool(stars=[5, 4, 3]), 1).pairs == (("stars", "4"),)

    def test_by_number_where_neither_has_ids(self, tmp_path: Path) -> None:
        (tmp_path / "pairs.csv").write_text("text\nfirst\nsecond\nthird\n")
        numbered = from_arrays(y_pred=["x", "y", "x"])
        assert content_of(tmp_path / "pairs.csv", numbered, 2).text == "third"

    def test_one_that_shows_nothing_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "other.csv").write_text("id,text\n7,first\n8,second\n")
        with pytest.raises(InputsError, match="show nothing"):
            content_of(tmp_path / "other.csv", pool(), 0)


class TestBlind:
    """People are not asked about what they cannot see."""

    def test_a_picture_that_is_named_and_not_there(self, folder: Path) -> None:
        items = pool(["a.png", "b.png", "c.png"])
        assert blind(folder, items, [0]) == ""
        assert "'b.png' is not found in" in blind(folder, items, [0, 1, 2])
        assert "beside the pool" in blind("", items, [0])

    def test_a_folder_of_something_else(self, folder: Path) -> None:
        assert "no file in" in blind(folder, pool(["1", "2", "3"]), [0, 1])
        assert "is not found" in blind(folder / "nowhere", pool(), [0])

    def test_texts_and_rows_need_nothing(self) -> None:
        assert blind("", pool(city=["a", "b", "c"]), [0, 1]) == ""


def test_what_stands_beside_a_text_is_shown_too() -> None:
    content = content_of("", pool(review=["good", "", ""], stars=[1, 2, 3], Score=[0.1, 0.2, 0.3], truth=["x"] * 3), 0)
    assert (content.text, content.pairs) == ("good", (("stars", "1"),))


def test_a_column_of_right_answers_is_not_shown() -> None:
    content = content_of("", pool(gold_label=["x", "y", "x"], category=["toys", "food", "toys"]), 0)
    assert content.pairs == (("category", "toys"),)
