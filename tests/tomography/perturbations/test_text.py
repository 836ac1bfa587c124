"""Text perturbations: as many edits as the severity says, or as the sentence allows, each of its own kind."""

from __future__ import annotations

import difflib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldcheck.core.errors import InputsError, SpaceError
from fieldcheck.core.rng import ItemStreams
from fieldcheck.tomography.perturbations import Edited, registry
from fieldcheck.tomography.perturbations.text.base import WORD, TextPerturbation
from fieldcheck.tomography.perturbations.text.contraction import Contraction
from fieldcheck.tomography.perturbations.text.synonym import synonyms

from .subjects import SENTENCES, TEXTS, run

WORDS = st.sampled_from(
    [
        *("the", "movie", "was", "wonderful", "and", "do", "not", "go", "it's", "I", "am", "here", "don't", "can't"),
        *("12", "3.5", "Öl", "привет", "你好", "aaa", "x", "rock'n'roll", "😀", "naïve"),
    ]
)
GLUE = st.sampled_from([" ", ", ", "  ", "! ", ".\n", "-", "... "])
SENTENCE = st.lists(st.tuples(WORDS, GLUE), max_size=12).map(lambda parts: "".join(map("".join, parts)))
TEXT = st.one_of(SENTENCE, st.text(max_size=60))
LEVEL = st.integers(0, 5)


def edited(name: str, text: str, level: int, seed: int = 0) -> tuple[str, int]:
    made = registry.build(name)
    assert isinstance(made, TextPerturbation)
    done = made.edit([text], np.array([level]), ItemStreams.of(seed, name, 0, level))
    assert isinstance(done, Edited)
    return done.texts[0], int(done.edits[0])


def places(name: str, text: str) -> int:
    made = registry.build(name)
    assert isinstance(made, TextPerturbation)
    return len(made.places(text))


def damerau(one: str, other: str) -> int:
    """Edits that turn one string into the other: insert, delete, replace, exchange neighbours."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def changed_words(before: str, after: str) -> list[tuple[str, str]]:
    """Words that differ, by position; both texts have the same number of words."""
    one, other = WORD.findall(before), WORD.findall(after)
    assert len(one) == len(other)
    return [(a, b) for a, b in zip(one, other, strict=True) if a != b]


@given(text=TEXT, level=LEVEL, seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", TEXTS)
def test_the_count_is_the_severity_or_all_there_is(name: str, text: str, level: int, seed: int) -> None:
    after, count = edited(name, text, level, seed)
    assert count == min(level, places(name, text))
    assert (after == text) == (count == 0)
    assert edited(name, text, level, seed) == (after, count)


@given(text=SENTENCE, level=LEVEL, seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("name", ["typos", "keyboard"])
def test_typos_are_one_edit_in_each_of_so_many_words(name: str, text: str, level: int, seed: int) -> None:
    after, count = edited(name, text, level, seed)
    pairs = aligned(text, after)
    assert len(pairs) == count
    assert all(damerau(a, b) == 1 for a, b in pairs)
    assert all(a[0] == b[0] for a, b in pairs)


def aligned(before: str, after: str) -> list[tuple[str, str]]:
    """Pieces between spaces and marks that differ; an edit never touches those."""
    one, other = (text.translate(str.maketrans("-,.!", "    ")).split() for text in (before, after))
    assert len(one) == len(other)
    return [(a, b) for a, b in zip(one, other, strict=True) if a != b]


@given(text=SENTENCE, level=LEVEL, seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_punctuation_changes_one_mark_in_each_of_so_many_pieces(text: str, level: int, seed: int) -> None:
    after, count = edited("punctuation", text, level, seed)
    pieces = [(a, b) for a, b in zip(text.split(), after.split(), strict=True) if a != b]
    assert len(pieces) == count
    assert all(abs(len(a) - len(b)) == 1 and damerau(a, b) == 1 for a, b in pieces)
    assert [c for c in text if c not in ",.;:!?"] == [c for c in after if c not in ",.;:!?"]


@given(text=SENTENCE, level=LEVEL, seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_casing_changes_case_only(text: str, level: int, seed: int) -> None:
    after, count = edited("casing", text, level, seed)
    assert len(changed_words(text, after)) == count
    assert after.lower() == text.lower()


@given(text=SENTENCE, level=LEVEL, seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_word_order_keeps_the_words_and_moves_two_for_each_edit(text: str, level: int, seed: int) -> None:
    after, count = edited("word-order", text, level, seed)
    assert Counter(WORD.findall(text)) == Counter(WORD.findall(after))
    assert WORD.sub("_", text) == WORD.sub("_", after)
    assert len(changed_words(text, after)) == 2 * count


def test_word_order_reaches_every_pair_that_is_possible() -> None:
    seen = {edited("word-order", "a b c d", 2, seed)[0] for seed in range(60)}
    assert seen == {"b a d c"}
    assert len({edited("word-order", "a b c d", 1, seed)[0] for seed in range(60)}) == 3
    assert edited("word-order", "so so so", 5) == ("so so so", 0)


@given(text=SENTENCE, level=LEVEL, seed=st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_synonyms_replace_so_many_words(text: str, level: int, seed: int) -> None:
    after, count = edited("synonym", text, level, seed)
    pairs = changed_words(text, after)
    assert len(pairs) == count
    assert all(b.lower() in synonyms()[a.lower()] for a, b in pairs)


def test_synonyms_keep_capitals() -> None:
    assert {edited("synonym", "Movie", 1, seed)[0] for seed in range(5)} == {"Film"}
    assert edited("synonym", "a MOVIE", 1) == ("a FILM", 1)


def test_the_table_is_sound() -> None:
    """No function words, single lower-case words, nothing is its own synonym, same article."""
    table = synonyms()
    assert len(table) > 20_000
    assert not table.keys() & {"the", "not", "and", "with", "very", "will", "can", "who"}
    for word, others in table.items():
        assert others
        assert word not in others
        assert all(other.isascii() and other.isalpha() and other.islower() for other in others)
        assert all((other[0] in "aeio") == (word[0] in "aeio") for other in others)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I do not know", "I don't know"),
        ("I don't know", "I do not know"),
        ("I don’t know", "I do not know"),
        ("It is late", "It's late"),
        ("It's late", "It is late"),
        ("I am here", "I'm here"),
        ("I'm here", "I am here"),
        ("DO NOT", "DON'T"),
        ("You cannot go", "You can't go"),
        ("they can't", "they cannot"),
        ("The cat will not", "The cat won't"),
        ("won't", "will not"),
        ("she would go", "she'd go"),
        ("who it is.", "who it is."),
        ("she'd go", "she'd go"),
        ("donut isn", "donut isn"),
        ("Whatıs not", "Whatıs not"),
    ],
)
def test_contraction_by_hand(before: str, after: str) -> None:
    assert edited("contraction", before, 1) == (after, int(before != after))


@pytest.mark.parametrize(
    ("direction", "after"), [("expand", "I do not and I do not"), ("contract", "I don't and I don't")]
)
def test_contraction_goes_one_way_when_told(direction: str, after: str) -> None:
    text = "I do not and I don't"
    assert run(f"contraction:direction={direction}", [text], 5) == [after]
    with pytest.raises(SpaceError):
        Contraction("sideways")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_does_not_depend_on_its_batch(name: str) -> None:
    texts = SENTENCES * 3
    severity = np.arange(len(texts)) % 6
    together = run(name, texts, severity, seed=2)
    assert [text for text, level in zip(together, severity, strict=True) if level == 0] == [texts[0], texts[6]]
    alone = [run(name, [text], severity[at], seed=2, items=[at])[0] for at, text in enumerate(texts)]
    assert alone == together


@pytest.mark.parametrize("name", TEXTS)
def test_edits_are_chosen_at_random(name: str) -> None:
    text = SENTENCES[0]
    assert len({edited(name, text, 1, seed)[0] for seed in range(30)}) > 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("synonym", "What's the best way to buy a film? I don't know, it is marvelous and you are not there!"),
        ("typos", "What's the best way to buy a movie? I don't know, it is wobderful and you aer not there!"),
        ("keyboard", "What's ths best way to buy a movie? I don't knos, it is wonderful and you are not there!"),
        ("contraction", "What is the best way to buy a movie? I don't know, it is wonderful and you're not there!"),
        ("punctuation", "What's the best way to buy a movie I don't know,, it is wonderful and you are not there!"),
        ("casing", "What's the best WAY to buy a movie? I don't know, it is wonderful and you are Not there!"),
        ("word-order", "the What's best to way buy a movie? I don't know, it is wonderful and you are not there!"),
    ],
)
def test_texts_are_pinned(name: str, expected: str) -> None:
    """A change of these changes runs that were recorded."""
    assert edited(name, SENTENCES[0], 2, seed=9)[0] == expected


def test_other_things_than_texts_are_refused() -> None:
    with pytest.raises(InputsError):
        run("typos", [3], 1)


def test_a_word_diff_agrees_with_the_count() -> None:
    """An independent checker on a plain sentence: difflib's changed words."""
    before = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    for level in range(6):
        after, count = edited("typos", " ".join(before), level)
        matcher = difflib.SequenceMatcher(a=before, b=after.split(), autojunk=False)
        changed = sum(stop - start for tag, start, stop, _, _ in matcher.get_opcodes() if tag != "equal")
        assert changed == count == level
