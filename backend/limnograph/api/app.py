"""The ASGI application: routes, dashboard, problems, and the layer in front. It receives its services and does not
build them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ASGIApp

from limnograph.api import spa
from limnograph.api.docs import openapi
from limnograph.api.docs import page as docs
from limnograph.api.front.exchange import SecurityHeaders
from limnograph.api.front.gate import Authenticator
from limnograph.api.front.layer import EdgeApp
from limnograph.api.front.page_counts import PageCounts
from limnograph.api.front.page_keys import PageKeys
from limnograph.api.front.pages import Pages
from limnograph.api.routes import sessions
from limnograph.api.wire import access, problems
from limnograph.services.server.backend import Backend

Lifespan = Callable[[], AbstractAsyncContextManager[None]]
MB = 1024 * 1024


class Limits(NamedTuple):
    """`page_cache`: size of the page cache in bytes; 0 disables it. `open_metrics`: serve `/metrics` without
    authentication.
    """

    page_cache: int = 64 * MB
    open_metrics: bool = False


def create_app(
    backend: Backend,
    site: spa.Site,
    exposition: Callable[[], bytes],
    lifespan: Lifespan | None = None,
    *,
    gate: Authenticator | None = None,
    limits: Limits = Limits(),  # noqa: B008
    counts: PageCounts | None = None,
) -> ASGIApp:
    """`exposition` renders `/metrics`. `lifespan` runs around serving, for background tasks. `gate`: None disables
    authentication. `counts` counts the use of cached pages. Raises LookupError if a route declares no scope.
    """

    @asynccontextmanager
    async def around(_: Litestar) -> AsyncGenerator[None]:
        if lifespan is None:
            yield
            return
        async with lifespan():
            yield

    gate = gate or Authenticator()
    state = {
        "site": site,
        "exposition": exposition,
        "gate": gate,
        "live": backend.live,
        "open_metrics": limits.open_metrics,
    }
    app = Litestar(
        route_handlers=[*openapi.routes(), *sessions.ROOT_HANDLERS, *docs.HANDLERS, *spa.HANDLERS],
        dependencies={"backend": Provide(lambda: backend, sync_to_thread=False)},
        exception_handlers=problems.HANDLERS,
        guards=[access.authorised, access.one_spelling],
        openapi_config=None,
        state=State(state),
        lifespan=[around],
        logging_config=None,
    )
    access.check_declared(app)
    headers = SecurityHeaders(site.headers)
    keys, kept = PageKeys(app), limits.page_cache
    pages = Pages(app, keys, backend.versions, kept, complete=headers.complete, counts=counts)
    return EdgeApp(app, headers, gate, pages)
