"""Requirements as JUnit XML, which build servers show as tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as Xml

from fieldcheck.core.requirement import Decision
from fieldcheck.report.svg import clean

_TAGS = {"failed": "failure", "undecided": "skipped"}


def junit_xml(suite: str, decisions: Sequence[Decision]) -> str:
    """One test case per requirement: failed ones carry ``failure``, undecided ones ``skipped``.

    suite
        Name of what was checked.
    """
    counts = {tag: sum(_TAGS.get(one.word) == tag for one in decisions) for tag in _TAGS.values()}
    numbers = {"tests": len(decisions), "failures": counts["failure"], "skipped": counts["skipped"], "errors": 0}
    parent = _element("testsuite", name=suite, **numbers)
    parent.extend(_case(suite, decision) for decision in decisions)
    return _written(parent, numbers)


def junit_error(suite: str, requirements: Sequence[str], error: Exception) -> str:
    """The same where the check itself could not be done."""
    numbers = {"tests": len(requirements), "failures": 0, "skipped": 0, "errors": len(requirements)}
    parent = _element("testsuite", name=suite, **numbers)
    for name in requirements:
        case = _element("testcase", classname=suite, name=name)
        case.append(_element("error", str(error), message=str(error).partition("\n")[0], type=type(error).__name__))
        parent.append(case)
    return _written(parent, numbers)


def _case(suite: str, decision: Decision) -> Xml.Element:
    case = _element("testcase", classname=suite, name=str(decision.requirement))
    details = "" if decision.estimate is None else str(decision.estimate)
    if (tag := _TAGS.get(decision.word)) is not None:
        kind = {} if tag == "skipped" else {"type": "requirement"}
        case.append(_element(tag, details, message=decision.sentence(), **kind))
    else:
        case.append(_element("system-out", f"{decision.sentence()}\n{details}"))
    return case


def _element(tag: str, text: str = "", /, **attributes: object) -> Xml.Element:
    made = Xml.Element(tag, {name: clean(str(value)) for name, value in attributes.items()})
    made.text = clean(text) or None
    return made


def _written(suite: Xml.Element, numbers: Mapping[str, int]) -> str:
    root = _element("testsuites", **numbers)
    root.append(suite)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
