"""Who may label: one link a person, of which only a fingerprint is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.campaign.kept_state import as_text, from_text
from fieldcheck.campaign.people import holder
from fieldcheck.core.errors import CampaignError

from .crowd import animals, start


def test_each_person_has_a_token_of_which_only_a_fingerprint_is_kept(tmp_path: Path) -> None:
    with start(tmp_path, animals()) as campaign:
        tokens = campaign.invite(["Ada", " Bob "])
        assert list(tokens) == ["Ada", "Bob"]
        place = campaign.place
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    with Campaign.open(place, pool=animals()) as again:
        for name, token in tokens.items():
            assert holder(token, again.state.invited) == name
            assert token.encode() not in stored
        assert holder("", again.state.invited) is None
        assert holder(tokens["Ada"][:-1], again.state.invited) is None


def test_a_link_ends_when_it_is_revoked_or_replaced(tmp_path: Path) -> None:
    with start(tmp_path, animals()) as campaign:
        first = campaign.invite(["Ada", "Bob"])
        second = campaign.invite(["ada"])  # the same person, as first spelt
        assert list(second) == ["Ada"]
        assert holder(first["Ada"], campaign.state.invited) is None
        assert holder(second["Ada"], campaign.state.invited) == "Ada"
        campaign.revoke("ADA")
        assert holder(second["Ada"], campaign.state.invited) is None
        assert holder(first["Bob"], campaign.state.invited) == "Bob"
        with pytest.raises(CampaignError, match="'Ada' has no link") as refused:
            campaign.revoke("ada")
        assert "Bob" in refused.value.rule


def test_inviting_changes_no_estimate_and_keeps_the_spelling_of_those_who_labelled(tmp_path: Path) -> None:
    with start(tmp_path, animals()) as campaign:
        campaign.tell(campaign.ask("ADA")[0], "right", by="ADA")
        before = campaign.state.changed
        assert list(campaign.invite(["ada"])) == ["ADA"]
        assert campaign.state.changed == before


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 300])
def test_names_that_nobody_has(tmp_path: Path, name: str) -> None:
    with start(tmp_path, animals()) as campaign, pytest.raises(CampaignError):
        campaign.invite([name])


def test_people_are_kept_with_the_state(tmp_path: Path) -> None:
    with start(tmp_path, animals()) as campaign:
        campaign.invite(["Ada", "Bob"])
        campaign.revoke("Bob")
        campaign.show_predictions()
        campaign.show_predictions()
        assert [event.kind for event in campaign.log.events()].count("shown") == 1
        kept = from_text(as_text(campaign.state))
        assert kept is not None
        assert kept.invited == campaign.state.invited
        assert kept.names == campaign.state.names
        assert kept.shown
