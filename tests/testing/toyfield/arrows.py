"""A format of labels: an item, an arrow, its label."""

from typing import ClassVar

from fieldcheck.campaign.exchange.base import Fault, LabelLine


class Arrows:
    """One item a line: ``img_7 -> cat``."""

    name: ClassVar[str] = "arrows"
    suffixes: ClassVar[tuple] = (".arrows",)

    @staticmethod
    def recognises(start):
        return " ->" in start.partition("\n")[0]

    @staticmethod
    def read(stream, path):
        for number, line in enumerate(stream, 1):
            item, arrow, label = line.partition(" ->")
            where = f"line {number}"
            yield LabelLine(where, item, label.strip()) if arrow else Fault(where, "has no arrow")

    @staticmethod
    def write(items, *, by, base):
        return "".join(f"{one.item} ->\n" for one in items)
