"""Access rules of routes. Every handler declares its scope in `opt`; a missing declaration is a start-up error."""

from __future__ import annotations

from typing import Any, cast

from litestar import Litestar
from litestar.connection import ASGIConnection
from litestar.exceptions import NotFoundException
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from limnograph.domain.access import SCOPES, AccessScope, Identity, permits
from limnograph.domain.errors import Forbidden, Unauthenticated

OPEN: dict[str, Any] = {"scope": "open"}
"""No authentication: health, the login, files of the dashboard (which contain no data)."""
READ: dict[str, Any] = {"scope": "read"}
WEBHOOK: dict[str, Any] = {"scope": "webhook"}
ANNOTATE: dict[str, Any] = {"scope": "annotate"}
"""Users' statements about the lake, visible to everyone: labels of suspects and notes."""
PROPOSE: dict[str, Any] = {"scope": "maintain:propose"}
"""Proposals of maintenance. Without authentication no one has it."""
APPROVE: dict[str, Any] = {"scope": "maintain:approve"}
"""Decisions on proposed maintenance. Without authentication no one has it."""
METRICS: dict[str, Any] = {"scope": "metrics"}
"""Requires `read`, unless `auth.open_metrics` is set."""
TABLE_PAGE: dict[str, Any] = {**READ, "page": "table"}
"""A page that `api/front/pages.py` may cache until the table of its path changes."""
LAKE_PAGE: dict[str, Any] = {**READ, "page": "lake"}
"""A page that may be cached until any table changes."""

AUDITED = "audited"
"""Key in a request's state: what it does and details of it, for the audit log; without it, the line names the path."""
FAILED = "failed"
"""Key in a request's state: a source failed and the response lacks its data, so it is not cached."""

_KNOWN = {"open", "metrics", *SCOPES}
_UNAUTHENTICATED = (
    'requires authentication, so that each decision has a name: set mode in [auth], for example mode = "tokens", or '
    "use `limnograph plan approve` and its siblings on the server's machine"
)


async def authorised(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Guard of all routes: checks the caller's scopes. A coroutine, because Litestar runs plain functions in a thread.
    Raises Unauthenticated, Forbidden, TooManyRequests.
    """
    needs = handler.opt.get("scope")
    if needs == "open":
        return
    if needs == "metrics":
        if connection.app.state.get("open_metrics"):
            return
        needs = "read"
    state = connection.scope["state"]
    identity: Identity | None = state.get("identity")
    if identity is None:
        raise state.get("refusal") or Unauthenticated("log in, or send an API token as `Authorization: Bearer …`")
    if needs is None or not permits(identity.scopes, needs):
        if needs is not None and needs.startswith("maintain") and identity.method == "none":
            raise Forbidden(_UNAUTHENTICATED)
        raise Forbidden(f"requires the scope {needs}" if needs else "not permitted")
    state["needs"] = cast("AccessScope", needs)


async def one_spelling(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Guard of all routes: rejects a trailing slash, which Litestar ignores but cache keys and proxy rules do not. Only
    the dashboard's pages, which contain no data, accept one.
    """
    raw = connection.scope["raw_path"]
    if raw.endswith(b"/") and raw != b"/" and not handler.opt.get("any_slash"):
        raise NotFoundException


def check_declared(app: Litestar) -> None:
    """Raises LookupError if a handler declares no scope."""
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if _automatic(route, handler):
                continue
            if handler.opt.get("scope") not in _KNOWN:
                raise LookupError(f"{route.path}: handler {handler.handler_name} declares no scope")


def _automatic(route: Any, handler: BaseRouteHandler) -> bool:
    """Whether Litestar generated the handler, as it does for OPTIONS; the guard rejects requests to it, since it has no
    scope.
    """
    return isinstance(route, HTTPRoute) and getattr(handler, "http_methods", set()) == {"OPTIONS"}
