"""What we depend on: name, version, licence and why it is there; and what is known against it.

    python3 run.py licences [--extras all] [--audit]

Licences are read from the metadata of the installed packages, nothing else is asked. ``--audit`` asks the advisory
database of PyPI (https://pypi.org/pypi/NAME/VERSION/json) for known weaknesses, and says so where it cannot be reached.
The exit code is 1 where a package has a known weakness, or does not say its licence, and 2 where it could not be asked.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from urllib.error import URLError
from urllib.request import urlopen

OURSELVES = "fieldcheck"


UNSAID = "not said"


NOT_AUDITED = 2
"""Exit code: no answer is not a good answer."""


PATIENCE = 5
"""Packages without an answer, and none with one, after which it is given up."""


@dataclass(frozen=True)
class Package:
    """One package; ``why`` is the package that asks for it, or the extra of ours."""

    name: str
    version: str
    licence: str
    why: str


def packages(extras: set[str]) -> list[Package]:
    """All that is installed of what we need, and of what that needs."""
    found: dict[str, Package] = {}
    open_ends = [(name, why) for name, why in _needs(OURSELVES, extras)]
    while open_ends:
        name, why = open_ends.pop(0)
        if _key(name) in found or _key(name) == OURSELVES:
            continue
        try:
            told = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        found[_key(name)] = Package(told["Name"], told["Version"], licence_of(told), why)
        open_ends += [(other, name) for other, _ in _needs(name, set())]
    return sorted(found.values(), key=lambda one: one.name.lower())


def _needs(name: str, extras: set[str]) -> Iterator[tuple[str, str]]:
    for text in metadata.requires(name) or ():
        required = re.match(r"[\w.-]+", text)
        extra = re.search(r"extra\s*==\s*[\"']([^\"']+)", text)
        if required and (extra is None or extra[1] in extras):
            yield required[0], extra[1] if extra else name


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(told: metadata.PackageMetadata) -> str:
    """The expression where there is one, else what the classifiers say, else the first line of the text."""
    known = told.get_all("Classifier") or ()
    classified = [line.rpartition(" :: ")[2] for line in known if line.startswith("License ::")]
    by_name = {name: told[name] for name in ("License-Expression", "License", "License-File") if name in told}
    said = by_name.get("License-Expression") or " and ".join(classified) or by_name.get("License") or ""
    kept = f"see its {by_name['License-File']}" if "License-File" in by_name else UNSAID
    return next(iter(said.strip().splitlines()), kept)[:60]


def weaknesses(package: Package) -> list[str]:
    """Names of what is known against this version."""
    address = f"https://pypi.org/pypi/{package.name}/{package.version}/json"
    with urlopen(address, timeout=20) as answer:
        return [one["id"] for one in json.load(answer).get("vulnerabilities", ()) if not one.get("withdrawn")]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--extras", default="pandas,excel,images,torch,onnx,keras,transformers,datasets,postgres,ray")
    parser.add_argument("--audit", action="store_true", help="ask PyPI for known weaknesses")
    asked = parser.parse_args()
    found = packages(set(asked.extras.split(",")))
    for one in found:
        print(f"{one.name:<28} {one.version:<16} {one.licence:<44} {one.why}")
    unsaid = [one.name for one in found if one.licence == UNSAID]
    print(f"{len(found)} packages" + (f"; no licence said: {', '.join(unsaid)}" if unsaid else ""))
    return max(int(bool(unsaid)), audit(found) if asked.audit else 0)


def audit(found: list[Package]) -> int:
    """Say what is known against each; who gives no answer is named, and nothing is concluded from that."""
    weak, unanswered = 0, list[str]()
    for number, one in enumerate(found, 1):
        try:
            known = weaknesses(one)
        except (URLError, OSError, ValueError) as error:
            print(f"not audited: no answer about {one.name} {one.version} from pypi.org ({error})")
            unanswered.append(one.name)
            if len(unanswered) == number == PATIENCE:
                print(f"NOT AUDITED: none of the first {number} of {len(found)} packages got an answer, so nothing is")
                print("known about weaknesses. Try again where https://pypi.org answers itself, not a mirror of it")
                return NOT_AUDITED
            continue
        weak += bool(known)
        if known:
            print(f"{one.name} {one.version}: {', '.join(known)}")
    answered = len(found) - len(unanswered)
    print(f"{weak} of the {answered} packages that got an answer have known weaknesses; {len(unanswered)} got none")
    return 1 if weak else NOT_AUDITED if unanswered else 0


if __name__ == "__main__":
    sys.exit(main())
