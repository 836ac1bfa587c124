"""Why a request is not looked at."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse


class RefusedError(Exception):
    """Why a request is not looked at."""

    def __init__(self, status: int, problem: str, *, hint: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem)
        self.status, self.problem, self.hint, self.headers = status, problem, hint, headers


def error_answer(
    status: int, problem: str, *, rule: str = "", hint: str = "", headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error as the page reads it."""
    return JSONResponse({"error": {"problem": problem, "rule": rule, "hint": hint}}, status, headers=headers)
