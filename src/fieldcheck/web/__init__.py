"""The labelling page: a server for one campaign, and the files of the page."""

from __future__ import annotations

from fieldcheck.web.app import create_app
from fieldcheck.web.serve import serve

__all__ = ["create_app", "serve"]
