"""What the lead does on the desk: settle what people disagree on, add labels, end the campaign, read the report."""

from __future__ import annotations

from typing import Any

from fieldcheck import report
from fieldcheck.campaign.stores import base as stores
from fieldcheck.core.requirement import Requirement
from fieldcheck.web import requests
from fieldcheck.web.labelling import Labelling
from fieldcheck.web.sign_in import Person
from fieldcheck.web.snapshot import desk_json, metric_of
from fieldcheck.web.watch import Watch


class Desk:
    """What only the lead may see and do."""

    def __init__(self, labelling: Labelling) -> None:
        self._labelling, self._campaign = labelling, labelling.campaign
        self.watch = Watch(self._campaign, desk_json)

    def settle(self, asked: requests.Settle, person: Person) -> dict[str, Any]:
        """The lead's word about an item: it counts."""
        by = self._labelling.leads(asked, person)
        return self._done(self._campaign.settle(asked.item, asked.label, by=by, key=asked.key))

    def extend(self, asked: requests.Extend, person: Person) -> dict[str, Any]:
        """So many labels more: a further look."""
        by = self._labelling.leads(asked, person)
        return self._done(self._campaign.extend(f"+{asked.more}", by=by, key=asked.key))

    def close(self, asked: requests.Close, person: Person) -> dict[str, Any]:
        """Nothing is taken any more."""
        return self._done(self._campaign.close(by=self._labelling.leads(asked, person), key=asked.key))

    def decision(self, bound: float) -> dict[str, Any]:
        """Whether the estimate meets a requirement, and what it would take to decide."""
        decision = self._campaign.view.check(Requirement(metric_of(self._campaign), bound))
        return {"word": decision.word, "requirement": str(decision.requirement), "reason": decision.reason()}

    def report(self) -> str:
        """The report as it is now."""
        return report.campaign_page(self._campaign)

    def _done(self, event: stores.Event) -> dict[str, Any]:
        self._labelling.progress.changed()
        self.watch.changed()
        return {"saved": True, "number": event.number}
