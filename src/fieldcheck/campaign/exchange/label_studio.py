"""Label Studio's files: tasks and labelling configuration out, annotations in.

Formats: https://labelstud.io/guide/task_format and https://labelstud.io/guide/export (JSON and JSON-MIN).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TextIO
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from fieldcheck.campaign.exchange.base import LONGEST, Fault, LabelLine, ToLabel, readable
from fieldcheck.core.errors import LabelError

CONTROL = "label"
"""Name of the control that holds the answer."""

OUR_ID = "fieldcheck_id"
"""Our id once more: the flat exports of Label Studio overwrite ``id`` by their own."""

CHUNK = 1 << 16

DELIMITERS = frozenset(",] \t\r\n")

SKIPPED = "skipped in Label Studio"

Shown = Literal["image", "text", "row"]


class LabelStudioLabels:
    """Label Studio's tasks, and its exports."""

    name: ClassVar[str] = "label_studio"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    @staticmethod
    def recognises(start: str) -> bool:
        return start.startswith("[")

    @staticmethod
    def read(stream: TextIO, path: Path) -> Iterator[LabelLine | Fault]:
        return read_tasks(stream, path)

    @staticmethod
    def write(items: Sequence[ToLabel], *, by: str, base: str) -> str:
        """Tasks, with our id in their data."""
        return json.dumps([task(one.item, _shown(one, base)) for one in items], ensure_ascii=False, indent=1)


def interface(items: Sequence[ToLabel], classes: Sequence[str], *, regression: bool) -> str:
    """The labelling interface for these tasks: what most of them show, and the classes; none: right and wrong."""
    kinds = [one.content.kind for one in items]
    return config(
        max(dict.fromkeys(kinds), key=kinds.count, default="row"),
        classes,
        regression=regression,
        prediction=any(one.prediction is not None for one in items),
    )


def _shown(one: ToLabel, base: str) -> dict[str, Any]:
    said = {} if one.prediction is None else {"prediction": one.prediction}
    row = {"row": dict(one.content.pairs)} if one.content.pairs or one.content.kind == "row" else {}
    if one.content.kind == "image":
        return {"image": _address(one, base), **row, **said}
    return ({"text": one.content.text} if one.content.kind == "text" else {}) | row | said


def _address(one: ToLabel, base: str) -> str:
    """Where Label Studio finds a picture; one that comes from an array is carried in the task itself."""
    if one.content.path is None:
        return "data:image/png;base64," + base64.b64encode(one.content.data).decode()
    return base + quote(one.file)


def task(item: str, shown: Mapping[str, Any]) -> dict[str, Any]:
    """One task; ``shown`` is what the annotator is to see: image, text, row, prediction."""
    return {"data": {"id": item, OUR_ID: item, **shown}}


def config(shown: Shown, classes: Sequence[str], *, regression: bool = False, prediction: bool = False) -> str:
    """The labelling interface that fits the tasks, to be pasted into a project's settings.

    classes
        The choices; none: right and wrong.
    prediction
        Whether the tasks carry the prediction.
    """
    objects = {
        "image": '  <Image name="item" value="$image" zoom="true"/>',
        "text": '  <Text name="item" value="$text"/>',
        "row": '  <Table name="item" value="$row"/>',
    }
    header = ['  <Header value="The model says: $prediction"/>'] if prediction else []
    answer = [f'  <Number name="{CONTROL}" toName="item"/>'] if regression else _choices(classes)
    return "\n".join(["<View>", *header, objects[shown], *answer, "</View>", ""])


def _choices(classes: Sequence[str]) -> list[str]:
    names = classes or ("right", "wrong")
    choices = [f"    <Choice value={quoteattr(name)}/>" for name in names]
    return [f'  <Choices name="{CONTROL}" toName="item" choice="single" showInLine="true">', *choices, "  </Choices>"]


def read_tasks(stream: TextIO, path: Path) -> Iterator[LabelLine | Fault]:
    """What an export says, task by task."""
    for place, found in enumerate(_elements(stream, path), start=1):
        yield from _lines_of(found, f"task {place:,}")


def _lines_of(found: Any, where: str) -> Iterator[LabelLine | Fault]:
    if not isinstance(found, Mapping):
        yield Fault(where, "is not an object")
        return
    data = found.get("data")
    flat = not isinstance(data, Mapping)
    held: Mapping[str, Any] = found if flat else data  # type: ignore[assignment]
    # In flat exports `id` is Label Studio's own.
    item = held.get(OUR_ID) if flat else held.get(OUR_ID, held.get("id"))
    if not isinstance(item, str | int) or isinstance(item, bool):
        yield Fault(where, f"has no '{OUR_ID}'" if flat else "has no 'id' in its data")
    elif flat:
        yield _flat(found, str(item), where)
    else:
        for annotation in _list(found.get("annotations")):
            yield _annotation(annotation, str(item), where)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _flat(found: Mapping[str, Any], item: str, where: str) -> LabelLine | Fault:
    """A task of JSON-MIN: the answer stands beside the data, under the name of the control."""
    return _answer(found.get(CONTROL), item, where, by=annotator(found.get("annotator")))


def _annotation(found: Any, item: str, where: str) -> LabelLine | Fault:
    if not isinstance(found, Mapping):
        return Fault(where, f"item '{item}': an annotation is not an object")
    by = annotator(found.get("completed_by"))
    if found.get("was_cancelled"):
        return LabelLine(where, item, "", by, skipped=True, reason=SKIPPED)
    results = [result for result in _list(found.get("result")) if isinstance(result, Mapping)]
    named = [result for result in results if result.get("from_name") == CONTROL] or results
    if len(named) > 1:
        return Fault(where, f"item '{item}': {len(named)} answers in one annotation, none of them named '{CONTROL}'")
    return _answer(named[0].get("value") if named else None, item, where, by=by)


def _answer(value: Any, item: str, where: str, *, by: str) -> LabelLine | Fault:
    """The answer behind a value; none: not answered yet."""
    try:
        found = plain_answer(value)
    except ValueError as error:
        return Fault(where, f"item '{item}': {error}")
    return readable(LabelLine(where, item, found, by))


def plain_answer(value: Any) -> str:
    """A choice, a number or a text, however Label Studio wraps it up; what is none of these raises ``ValueError``."""
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        if len(value) > 1:
            raise ValueError(f"{len(value)} answers at once, {shortened(value)}; one label per item")
        return plain_answer(value[0])
    if isinstance(value, Mapping):
        kinds = [kind for kind in ("choices", "number", "text") if kind in value]
        if not kinds:
            raise ValueError(f"no choice, number or text in {shortened(value)}")
        return plain_answer(value[kinds[0]])
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{shortened(value)} is neither a choice, a number nor a text")
    return str(value).strip()


def shortened(value: Any) -> str:
    """The beginning of a value, for messages."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def annotator(value: Any) -> str:
    """Who annotated: an e-mail address where it is told, else a number."""
    if isinstance(value, Mapping):
        value = value.get("email") or value.get("id")
    if value is None or value == "":
        return ""
    return f"annotator {value}" if str(value).isdecimal() else str(value)


def from_table(line: LabelLine) -> LabelLine:
    """A line of Label Studio's CSV export, in which numbers are wrapped up as JSON."""
    text = line.text
    try:
        found = plain_answer(json.loads(text)) if text.startswith(("[", "{")) else text
    except (ValueError, RecursionError):
        found = text  # a class may be called like this
    return replace(line, text=found, by=annotator(line.by))


def _elements(stream: TextIO, path: Path) -> Iterator[Any]:
    """The elements of the list that a JSON file holds, one at a time."""
    window = _Window(stream, path)
    if window.skip() != "[":
        raise LabelError(
            f"{path}: not a list of tasks",
            rule="Label Studio exports a list: [{...}, ...]",
            hint="in Label Studio: Export, JSON",
        )
    window.step()
    if window.skip() == "]":
        return
    while True:
        yield window.value()
        after = window.skip()
        window.step()
        if after == "]":
            return
        if after != ",":
            raise window.broken("a comma or the end of the list is missing")
        window.skip()


class _Window:
    """A JSON text of which only the current element is in memory."""

    def __init__(self, stream: TextIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self._decoder = json.JSONDecoder()
        self._text, self._at, self._line, self._ended = "", 0, 1, False

    def skip(self) -> str:
        """The next character that is not blank; "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text) or not self._grow():
                return self._text[self._at : self._at + 1]

    def step(self) -> None:
        self._at += 1

    def value(self) -> Any:
        """The element that begins here."""
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._grow():
                    raise self.broken(error.msg) from None
            except (ValueError, RecursionError) as error:
                raise self.broken(str(error)) from None
            else:
                # A number at the edge of the window may go on behind it.
                if self._text[end : end + 1] in DELIMITERS or not self._grow():
                    self._at = end
                    return found

    def _grow(self) -> bool:
        """Forget what was read, and read as much again as is left; False at the end of the file."""
        if self._ended:
            return False
        self._line += self._text.count("\n", 0, self._at)
        self._text, self._at = self._text[self._at :], 0
        if len(self._text) > LONGEST:
            raise self.broken(f"a task of more than {LONGEST:,} characters, or one that never ends")
        more = self._stream.read(max(CHUNK, len(self._text)))
        self._text, self._ended = self._text + more, not more
        return not self._ended

    def broken(self, problem: str) -> LabelError:
        line = self._line + self._text.count("\n", 0, self._at)
        return LabelError(
            f"{self._path}, after line {line:,}: not JSON ({problem})",
            rule="labels come as CSV, or as the JSON that Label Studio exports",
            hint="export it again; the file may have been cut off",
        )
