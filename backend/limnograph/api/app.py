"""The ASGI application: routes, dashboard, problems, and the layer in front. Composition of services is not here."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ASGIApp

from limnograph.api import openapi, problems, spa
from limnograph.api.front import Front
from limnograph.services.backend import Backend

Lifespan = Callable[[], AbstractAsyncContextManager[None]]


def create_app(
    backend: Backend, site: spa.Site, exposition: Callable[[], bytes], lifespan: Lifespan | None = None
) -> ASGIApp:
    """`exposition` renders `/metrics`; `lifespan` runs around the serving (background tasks)."""

    @asynccontextmanager
    async def around(_: Litestar) -> AsyncGenerator[None]:
        if lifespan is None:
            yield
            return
        async with lifespan():
            yield

    app = Litestar(
        route_handlers=[*openapi.routes(), *spa.HANDLERS],
        dependencies={"backend": Provide(lambda: backend, sync_to_thread=False)},
        exception_handlers=problems.HANDLERS,
        openapi_config=None,
        state=State({"site": site, "exposition": exposition}),
        lifespan=[around],
        logging_config=None,
    )
    return Front(app, site.headers)
