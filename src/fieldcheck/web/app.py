"""The server: the page for people who label, and the desk of the lead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, StreamingResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException

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

Act = Callable[[Any, Person], Any]
"""Does what a person asks for."""


LOOK = 0.25
"""Seconds between two looks for something to push."""


HEARTBEAT = 15.0
"""Seconds after which a silent connection is kept alive."""


STATUS = {StoreError: 503, ElsewhereError: 421, OtherPersonError: 401}
"""Errors after which the page keeps what it could not deliver. Others are final: what does not fit never will."""


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
) -> FastAPI:
    """The pages for one campaign and what they talk to.

    token
        The lead's, where others can reach the server; without one, a person without a link leads.
    lead
        The lead's name, under which the lead labels, too. Left out, the page asks for it where there is no sign-in.
    hosts
        Names under which it answers.
    answers
        ``classes`` or ``right-wrong``; by default classes where the pool names them.
    show_predictions
        Whether people who label see what the model said; it biases them.
    root
        The path below which a proxy has put it: ``/pool-7``.
    """
    sign_in = SignIn(campaign, token=token, lead=lead)
    labelling = Labelling(
        campaign, answers=answers_for(campaign, answers), name=sign_in.campaign, show_predictions=show_predictions
    )
    desk = Desk(labelling)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, lifespan=_watching)
    app.state.watches = (labelling.progress, desk.watch)
    app.state.campaign = sign_in.campaign
    names = frozenset(name.lower().strip("[]") for name in hosts)
    app.add_middleware(Guard, hosts=names, sign_in=sign_in, root=root.rstrip("/"))
    _add_pages(app, sign_in)
    _add_acts(app, labelling)
    app.include_router(_for_all(labelling, sign_in))
    app.include_router(_for_the_lead(desk, sign_in))
    _add_errors(app)
    return app


@asynccontextmanager
async def _watching(app: FastAPI) -> AsyncIterator[None]:
    for watch in app.state.watches:
        watch.begin()
    yield
    for watch in app.state.watches:
        await asyncio.to_thread(watch.end)


async def _person(request: Request) -> Person:  # async: else each request would go through a thread for it
    found: Person = request.scope["person"]
    return found


async def _check_lead(person: Annotated[Person, Depends(_person)]) -> None:
    if person.role != "lead":
        raise RefusedError(403, "this is for the lead", hint="open the lead's link")


Asker = Annotated[Person, Depends(_person)]


def _add_pages(app: FastAPI, sign_in: SignIn) -> None:
    @app.get("/")
    async def labelling(request: Request) -> Response:
        return await _page(request, "label.html", sign_in)

    @app.get("/desk")
    async def desk(request: Request) -> Response:
        return await _page(request, "desk.html", sign_in)

    @app.get("/assets/{name}")
    def assets(name: str) -> Response:
        found = asset(name)
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found.data, media_type=found.media)


async def _page(request: Request, name: str, sign_in: SignIn) -> Response:
    token = request.query_params.get("token")
    if token is not None:
        return await _signed_in(request, token, sign_in)
    # A browser that followed a link from another site does not send the cookie with this very request, but it
    # does with those of the page: so the page, which holds nothing of the campaign, is sent in any case.
    return Response(page(name), 401 if request.scope["person"] is None else 200, media_type="text/html")


async def _signed_in(request: Request, token: str, sign_in: SignIn) -> Response:
    """The token out of the address and into a cookie."""
    answer = RedirectResponse(request.scope["path"].rpartition("/")[2] or "./", 303)
    if await sign_in.holder(request, token) is not None:
        answer.set_cookie(
            sign_in.cookie,
            token,
            max_age=MONTH,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
    return answer


def _add_acts(app: FastAPI, labelling: Labelling) -> None:
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
    for name, turns, shape, act in acts:
        then = partial(_shown, looking, labelling) if name == "next" else None
        app.add_route(f"/api/{name}", _in_turn(turns, shape, act, then), methods=["POST"])


async def _shown(looking: Turns, labelling: Labelling, ids: Sequence[str]) -> dict[str, Any]:
    return await looking.take(partial(labelling.items, ids))


def _in_turn(
    turns: Turns, shape: type[requests.PageRequest], act: Act, then: Callable[[Any], Awaitable[Any]] | None
) -> Callable[[Request], Awaitable[Response]]:
    """What is sent, checked in shape, and done in its turn; without what FastAPI adds, which takes longer than both.

    then
        From what was done to the answer.
    """

    async def answer(request: Request) -> Response:
        try:
            asked = shape.model_validate_json(await request.body())
        except ValidationError as error:
            raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from None
        done = await turns.take(partial(act, asked, request.scope["person"]))
        return JSONResponse(done if then is None else await then(done))

    return answer


def _for_all(labelling: Labelling, sign_in: SignIn) -> APIRouter:
    """What people who label may ask for; so may the lead."""
    router = APIRouter()

    @router.get("/api/campaign")
    def about(person: Asker) -> dict[str, Any]:
        return labelling.about(person)

    @router.get("/items/{position}")
    def item(position: int) -> Response:
        if not 0 <= position < len(labelling.campaign.pool) or not labelling.is_drawn(position):
            raise HTTPException(404, "no such item")
        content = labelling.content(position)
        if content.kind != "image":
            raise HTTPException(404, "this item has no picture")
        if content.path is not None:
            return FileResponse(content.path, media_type=content.media)
        return Response(content.data, media_type=content.media)

    _add_news(router, "/api/progress", labelling.progress, sign_in.is_valid)
    return router


def _for_the_lead(desk: Desk, sign_in: SignIn) -> APIRouter:
    """What only the lead may ask for: a route that is added here is refused to others."""
    router = APIRouter(dependencies=[Depends(_check_lead)])

    @router.post("/api/desk/settle")
    def settle(asked: requests.Settle, person: Asker) -> dict[str, Any]:
        return desk.settle(asked, person)

    @router.post("/api/desk/extend")
    def extend(asked: requests.Extend, person: Asker) -> dict[str, Any]:
        return desk.extend(asked, person)

    @router.post("/api/desk/close")
    def close(asked: requests.Close, person: Asker) -> dict[str, Any]:
        return desk.close(asked, person)

    @router.get("/api/desk/decision")
    def decision(bound: float) -> dict[str, Any]:
        return desk.decision(bound)

    @router.get("/desk/report")
    def report() -> Response:
        # A page of its own, from which nothing of this server can be reached, whatever the items say.
        return Response(desk.report(), media_type="text/html", headers={"content-security-policy": REPORT})

    _add_news(router, "/api/desk/state", desk.watch, sign_in.is_valid)
    return router


def _add_news(router: APIRouter, path: str, watch: Watch, is_valid: Callable[[Person], bool]) -> None:
    """A snapshot, to be asked for at ``path``, and pushed at ``path/events``."""

    @router.get(path)
    def latest() -> Response:
        return Response(watch.latest().text, media_type="application/json")

    @router.get(f"{path}/events")
    async def events(person: Asker) -> StreamingResponse:
        return StreamingResponse(_pushed(watch, lambda: is_valid(person)), media_type="text/event-stream")


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


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(FieldcheckError)
    def ours(request: Request, error: FieldcheckError) -> Response:
        status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 409)
        return error_answer(status, error.problem, rule=error.rule, hint=error.hint)

    @app.exception_handler(RefusedError)
    def refused(request: Request, error: RefusedError) -> Response:
        return error_answer(error.status, error.problem, hint=error.hint, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    def misshapen(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        return error_answer(422, f"{where}: {first['msg']}" if where else str(first["msg"]))

    @app.exception_handler(StarletteHTTPException)
    def plain(request: Request, error: StarletteHTTPException) -> Response:
        return error_answer(error.status_code, str(error.detail))
