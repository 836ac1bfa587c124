"""The server of the labelling page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, StreamingResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import FieldcheckError, StoreError
from fieldcheck.web import requests
from fieldcheck.web.assets import asset, page
from fieldcheck.web.guard import LOOPBACK, Guard, cookie_name, knows, same
from fieldcheck.web.labelling import Desk, ElsewhereError, answers_for
from fieldcheck.web.live_estimate import Watch

LOOK = 0.25
"""Seconds between two looks for something to push."""


HEARTBEAT = 15.0
"""Seconds after which a silent connection is kept alive."""


STATUS = {StoreError: 503, ElsewhereError: 421}
"""Errors after which the page keeps what it could not deliver. Others are final: what does not fit never will."""


MONTH = 30 * 24 * 3600


def create_app(
    campaign: Campaign,
    *,
    token: str | None = None,
    hosts: Sequence[str] = LOOPBACK,
    answers: str | None = None,
    show_prediction: bool = False,
) -> FastAPI:
    """The page for one campaign and what it talks to.

    token
        What a visitor must know, where others can reach the server.
    hosts
        Names under which it answers.
    answers
        ``classes`` or ``right-wrong``; by default classes where the pool names them.
    show_prediction
        Whether the page begins with the model's prediction shown; it biases those who label.
    """
    desk = Desk(campaign, answers=answers_for(campaign, answers), show_prediction=show_prediction)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, lifespan=_watching)
    app.state.desk = desk
    app.add_middleware(Guard, hosts=frozenset(name.lower().strip("[]") for name in hosts), token=token)
    _add_pages(app, token)
    _add_work(app, desk)
    _add_live(app, desk)
    _add_errors(app)
    return app


@asynccontextmanager
async def _watching(app: FastAPI) -> AsyncIterator[None]:
    watch: Watch = app.state.desk.watch
    watch.begin()
    yield
    await asyncio.to_thread(watch.end)


def _add_pages(app: FastAPI, token: str | None) -> None:
    @app.get("/")
    def index(request: Request) -> Response:
        given = request.query_params.get("token")
        if given is not None:
            return _signed_in(request, given, token)
        # A browser that followed a link from another site does not send the cookie with this very request, but it
        # does with those of the page: so the page, which holds nothing of the campaign, is sent in any case.
        return Response(page(), 200 if knows(request, token) else 401, media_type="text/html")

    @app.get("/assets/{name}")
    def assets(name: str) -> Response:
        found = asset(name)
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found.data, media_type=found.media)


def _signed_in(request: Request, given: str, token: str | None) -> Response:
    """The token out of the address and into a cookie."""
    answer = RedirectResponse("/", 303)
    if token is not None and same(given, token):
        answer.set_cookie(
            cookie_name(token),
            token,
            max_age=MONTH,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
    return answer


def _add_work(app: FastAPI, desk: Desk) -> None:
    @app.get("/api/campaign")
    def about() -> dict[str, Any]:
        return desk.about()

    @app.post("/api/next")
    def next_items(asked: requests.Next) -> dict[str, Any]:
        return desk.next(asked)

    @app.post("/api/label")
    def label(asked: requests.Label) -> dict[str, Any]:
        return desk.label(asked)

    @app.post("/api/skip")
    def skip(asked: requests.Skip) -> dict[str, Any]:
        return desk.skip(asked)

    @app.post("/api/flag")
    def flag(asked: requests.Flag) -> dict[str, Any]:
        return desk.flag(asked)

    @app.post("/api/undo")
    def undo(asked: requests.Undo) -> dict[str, Any]:
        return desk.undo(asked)

    @app.post("/api/release")
    def release(asked: requests.Release) -> dict[str, Any]:
        return desk.release(asked)


def _add_live(app: FastAPI, desk: Desk) -> None:
    @app.get("/api/state")
    def state() -> Response:
        return Response(desk.watch.latest().state, media_type="application/json")

    @app.get("/api/failures")
    def failures() -> Response:
        return Response(desk.watch.latest().gallery, media_type="application/json")

    @app.get("/api/events")
    async def events() -> StreamingResponse:
        return StreamingResponse(_pushed(desk), media_type="text/event-stream")

    @app.get("/items/{position}")
    def item(position: int) -> Response:
        if not 0 <= position < len(desk.campaign.pool) or not desk.is_drawn(position):
            raise HTTPException(404, "no such item")
        content = desk.content(position)
        if content.kind != "image":
            raise HTTPException(404, "this item has no picture")
        if content.path is not None:
            return FileResponse(content.path, media_type=content.media)
        return Response(content.data, media_type=content.media)


async def _pushed(desk: Desk) -> AsyncIterator[str]:
    """Every new snapshot as a server-sent event, until the visitor leaves or the server stops."""
    number, silent = -1, 0.0
    while not desk.watch.ended:
        snapshot = desk.watch.newer(number)
        if snapshot is not None:
            number, silent = snapshot.number, 0.0
            yield f"event: state\ndata: {snapshot.state}\n\n"
        elif silent >= HEARTBEAT:
            silent = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(LOOK)
        silent += LOOK


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(FieldcheckError)
    def ours(request: Request, error: FieldcheckError) -> JSONResponse:
        status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 409)
        return _error(status, error.problem, rule=error.rule, hint=error.hint)

    @app.exception_handler(RequestValidationError)
    def misshapen(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return _error(422, f"{where}: {first['msg']}" if where else str(first["msg"]))

    @app.exception_handler(StarletteHTTPException)
    def plain(request: Request, error: StarletteHTTPException) -> JSONResponse:
        return _error(error.status_code, str(error.detail))


def _error(status: int, problem: str, *, rule: str = "", hint: str = "") -> JSONResponse:
    return JSONResponse({"error": {"problem": problem, "rule": rule, "hint": hint}}, status)
