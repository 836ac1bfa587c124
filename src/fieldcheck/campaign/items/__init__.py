"""What a person sees of an item, wherever it lies: in the pool, in a second table, in a folder, in an array."""

from __future__ import annotations

from fieldcheck.campaign.items.content import Content, blind, content_of, inside
from fieldcheck.campaign.items.copies import copies
from fieldcheck.campaign.items.pictures import shades, upright

__all__ = ["Content", "blind", "content_of", "copies", "inside", "shades", "upright"]
