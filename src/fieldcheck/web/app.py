"""The server: the page for people who label, and the desk of the lead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from fieldcheck.campaign.campaign import Campaign
from fieldcheck.core.errors import FieldcheckError, StoreError
from fieldcheck.web import requests
from fieldcheck.web.assets import asset, page
from fieldcheck.web.desk import Desk
from fieldcheck.web.guard import LOOPBACK, Guard
from fieldcheck.web.labelling import ElsewhereError, Labelling, OtherPersonError, answers_for
from fieldcheck.web.refusal import RefusedError, error_answer
from fieldcheck.web.sign_in import Person, SignIn
from fieldcheck.web.turns import Turns
from fieldcheck.web.watch import Watch

Shape = TypeVar("Shape", bound=requests.PageRequest)


Endpoint = Callable[[Request], Awaitable[Response]]


Act = Callable[[Any, Person], Any]
"""Does what a person asks for."""


LOOK = 0.5
"""Seconds between two looks for something to push."""


HEARTBEAT = 15.0
"""Seconds after which a silent connection is kept alive."""


STATUS = {StoreError: 503, ElsewhereError: 421, OtherPersonError: 401}
"""Errors after which the page keeps what it could not deliver. Others are final: what does not fit never will."""


LONGEST_POSITION = 18
"""Digits; of thousands, Python makes no number."""


MONTH = 30 * 24 * 3600


REPORT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-downloads"


def create_app(
    campaign: Campaign,
    *,
    token: str | None = None,
    lead: str = "",
    hosts: Sequence[str] = LOOPBACK,
    answers: str | None = None,
    show_predictions: bool = False,
    root: str = "",
    secure: bool = False,
) -> Starlette:
    """The pages for one campaign and what they talk to.

    token
        The lead's, where others can reach the server; without one, whoever asks without a link leads.
    lead
        The lead's name, under which the lead labels, too. Left out, the page asks for it where nobody signs in.
    hosts
        Names under which it answers.
    answers
        ``classes`` or ``right-wrong``; by default classes where the pool names them.
    show_predictions
        Whether people who label see what the model said; it biases them.
    root
        The path below which a proxy has put it: ``/pool-7``.
    secure
        Whether people reach it by https, through a proxy: then cookies are sent no other way.
    """
    sign_in = SignIn(campaign, token=token, lead=lead)
    labelling = Labelling(
        campaign, answers=answers_for(campaign, answers), name=sign_in.campaign, show_predictions=show_predictions
    )
    desk = Desk(labelling)
    names = frozenset(name.lower().strip("[]") for name in hosts)
    app = Starlette(
        # The most frequent ones first: they are looked through in this order.
        routes=[
            *_acts(labelling),
            *_for_all(labelling, sign_in),
            *_for_the_lead(desk, sign_in),
            *_pages(sign_in, secure),
        ],
        middleware=[Middleware(Guard, hosts=names, sign_in=sign_in, root=root.rstrip("/"))],
        exception_handlers=dict.fromkeys((FieldcheckError, RefusedError, HTTPException), _told),
        lifespan=_watching,
    )
    app.router.redirect_slashes = False
    app.state.watches = (labelling.progress, desk.watch)
    app.state.campaign = sign_in.campaign
    return app


@asynccontextmanager
async def _watching(app: Starlette) -> AsyncIterator[None]:
    for watch in app.state.watches:
        watch.begin()
    yield
    for watch in app.state.watches:
        await asyncio.to_thread(watch.end)


def _person(request: Request) -> Person:
    found: Person = request.scope["person"]
    return found


def _led(endpoint: Endpoint) -> Endpoint:
    """The same, for nobody but the lead."""

    async def checked(request: Request) -> Response:
        if _person(request).role != "lead":
            raise RefusedError(403, "this is for the lead", hint="open the lead's link")
        return await endpoint(request)

    return checked


async def _asked(request: Request, shape: type[Shape]) -> Shape:
    """What was sent, checked in shape."""
    try:
        return shape.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RefusedError(422, f"{where}: {first['msg']}" if where else str(first["msg"])) from None


def _pages(sign_in: SignIn, secure: bool) -> list[BaseRoute]:
    def shown(name: str) -> Endpoint:
        return partial(_page, name=name, sign_in=sign_in, secure=secure)

    def assets(request: Request) -> Response:
        found = asset(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found.data, media_type=found.media)

    return [Route("/", shown("label.html")), Route("/desk", shown("desk.html")), Route("/assets/{name}", assets)]


async def _page(request: Request, *, name: str, sign_in: SignIn, secure: bool) -> Response:
    token = request.query_params.get("token")
    if token is not None:
        return await _signed_in(request, token, sign_in, secure=secure)
    # A browser that followed a link from another site does not send the cookie with this very request, but it
    # does with those of the page: so the page, which holds nothing of the campaign, is sent in any case.
    return Response(page(name), 401 if request.scope["person"] is None else 200, media_type="text/html")


async def _signed_in(request: Request, token: str, sign_in: SignIn, *, secure: bool) -> Response:
    """The token out of the address and into a cookie."""
    answer = RedirectResponse(request.scope["path"].rpartition("/")[2] or "./", 303)
    if await sign_in.holder(request, token) is not None:
        answer.set_cookie(
            sign_in.cookie, token, max_age=MONTH, httponly=True, samesite="strict", secure=secure, path="/"
        )
    return answer


def _acts(labelling: Labelling) -> list[BaseRoute]:
    """What people who label send, and so may the lead: one after the other."""
    # In one thread, so that the large arrays of draws share one heap; pictures are looked at in another one.
    changing, looking = Turns("change", together=labelling.campaign.log.together), Turns("look")
    acts: tuple[tuple[str, Turns, type[requests.PageRequest], Act], ...] = (
        ("next", changing, requests.Next, labelling.ask),
        ("label", changing, requests.Label, labelling.label),
        ("skip", changing, requests.Skip, labelling.skip),
        ("flag", changing, requests.Flag, labelling.flag),
        ("undo", changing, requests.Undo, labelling.undo),
        ("release", changing, requests.Release, labelling.release),
        ("mine", looking, requests.PageRequest, labelling.mine),
        ("reopen", looking, requests.Reopen, labelling.reopen),
    )
    shown = {"next": partial(_shown, looking, labelling)}
    return [
        Route(f"/api/{name}", _in_turn(turns, shape, act, shown.get(name)), methods=["POST"])
        for name, turns, shape, act in acts
    ]


async def _shown(looking: Turns, labelling: Labelling, ids: Sequence[str]) -> dict[str, Any]:
    return await looking.take(partial(labelling.items, ids))


def _in_turn(
    turns: Turns, shape: type[requests.PageRequest], act: Act, then: Callable[[Any], Awaitable[Any]] | None
) -> Endpoint:
    """What is sent, checked in shape, and done in its turn.

    then
        From what was done to the answer.
    """

    async def answer(request: Request) -> Response:
        done = await turns.take(partial(act, await _asked(request, shape), _person(request)))
        return JSONResponse(done if then is None else await then(done))

    return answer


def _for_all(labelling: Labelling, sign_in: SignIn) -> list[BaseRoute]:
    """What people who label may ask for; so may the lead."""

    def about(request: Request) -> Response:
        return JSONResponse(labelling.about(_person(request)))

    def item(request: Request) -> Response:
        said = request.path_params["position"]
        position = int(said) if said.isdecimal() and len(said) <= LONGEST_POSITION else -1
        if not 0 <= position < len(labelling.campaign.pool) or not labelling.is_drawn(position):
            raise HTTPException(404, "no such item")
        content = labelling.content(position)
        if content.kind != "image":
            raise HTTPException(404, "this item has no picture")
        if content.path is not None:
            return FileResponse(content.path, media_type=content.media)
        return Response(content.data, media_type=content.media)

    return [
        Route("/api/campaign", about),
        Route("/items/{position}", item),
        *_news("/api/progress", labelling.progress, sign_in.is_valid),
    ]


def _for_the_lead(desk: Desk, sign_in: SignIn) -> list[BaseRoute]:
    """What only the lead may ask for: a route that is added here is refused to others."""

    def done(shape: type[Shape], act: Callable[[Shape, Person], Any]) -> Endpoint:
        async def answer(request: Request) -> Response:
            return JSONResponse(await run_in_threadpool(act, await _asked(request, shape), _person(request)))

        return answer

    async def decision(request: Request) -> Response:
        try:
            bound = float(request.query_params.get("bound", ""))
        except ValueError:
            raise RefusedError(422, "bound: a number is wanted") from None
        return JSONResponse(await run_in_threadpool(desk.decision, bound))

    async def report(request: Request) -> Response:
        # A page of its own, from which nothing of this server can be reached, whatever the items say.
        text = await run_in_threadpool(desk.report)
        return Response(text, media_type="text/html", headers={"content-security-policy": REPORT})

    return [
        Route("/api/desk/settle", _led(done(requests.Settle, desk.settle)), methods=["POST"]),
        Route("/api/desk/extend", _led(done(requests.Extend, desk.extend)), methods=["POST"]),
        Route("/api/desk/close", _led(done(requests.Close, desk.close)), methods=["POST"]),
        Route("/api/desk/decision", _led(decision)),
        Route("/desk/report", _led(report)),
        *_news("/api/desk/state", desk.watch, sign_in.is_valid, of=_led),
    ]


def _news(
    path: str, watch: Watch, is_valid: Callable[[Person], bool], *, of: Callable[[Endpoint], Endpoint] = lambda one: one
) -> list[BaseRoute]:
    """A snapshot, to be asked for at ``path``, and pushed at ``path/events``; ``of`` says to whom."""

    async def latest(request: Request) -> Response:
        return Response((await run_in_threadpool(watch.latest)).text, media_type="application/json")

    async def events(request: Request) -> Response:
        return StreamingResponse(_pushed(watch, partial(is_valid, _person(request))), media_type="text/event-stream")

    return [Route(path, of(latest)), Route(f"{path}/events", of(events))]


async def _pushed(watch: Watch, is_valid: Callable[[], bool]) -> AsyncIterator[str]:
    """Every new snapshot as a server-sent event, until the visitor leaves or may not stay, or the server stops."""
    number, silent = -1, 0.0
    while not watch.ended and is_valid():
        snapshot = watch.newer(number)
        if snapshot is not None:
            number, silent = snapshot.number, 0.0
            yield f"event: state\ndata: {snapshot.text}\n\n"
        elif silent >= HEARTBEAT:
            silent = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(LOOK)
        silent += LOOK


def _told(request: Request, error: Exception) -> Response:
    """An error that says why."""
    if isinstance(error, RefusedError):
        return error_answer(error.status, error.problem, hint=error.hint, headers=error.headers)
    if isinstance(error, HTTPException):
        return error_answer(error.status_code, str(error.detail))
    if isinstance(error, FieldcheckError):
        status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 409)
        return error_answer(status, error.problem, rule=error.rule, hint=error.hint)
    raise error
