"""Every handler declares who may call it, in an `opt`. A missing declaration is a start-up error, never open."""

from __future__ import annotations

from typing import Any, cast

from litestar import Litestar
from litestar.connection import ASGIConnection
from litestar.exceptions import NotFoundException
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from limnograph.domain.access import AccessScope, Identity
from limnograph.domain.errors import Forbidden, Unauthenticated

OPEN: dict[str, Any] = {"scope": "open"}
"""Anybody: health, the login, files of the dashboard (which hold no data)."""
READ: dict[str, Any] = {"scope": "read"}
WEBHOOK: dict[str, Any] = {"scope": "webhook"}
ANNOTATE: dict[str, Any] = {"scope": "annotate"}
"""Users' statements about the lake, visible to everyone: labels of suspects."""
METRICS: dict[str, Any] = {"scope": "metrics"}
"""`read`, unless `auth.open_metrics` opens it."""
TABLE_PAGE: dict[str, Any] = {**READ, "page": "table"}
"""A page that `api/front/pages.py` may keep until the table of its path changes."""
LAKE_PAGE: dict[str, Any] = {**READ, "page": "lake"}
"""A page that may be kept until any table changes."""

FAILED = "failed"
"""Key of a request's state: the response lacks data of a failed source, so it is not shared."""

_KNOWN = {"open", "read", "webhook", "annotate", "maintain", "metrics"}


async def authorised(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Guard of the whole application, run after routing; a plain function would cost a thread. Raises Unauthenticated,
    Forbidden, TooManyRequests.
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
    if needs not in identity.scopes:
        raise Forbidden(f"requires the scope {needs}" if needs else "not permitted")
    state["needs"] = cast("AccessScope", needs)


async def one_spelling(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Guard of the whole application: Litestar drops a slash at the end, the keys of kept pages and rules of a proxy do
    not. Only pages of the dashboard, which hold no data, are served with one.
    """
    raw = connection.scope["raw_path"]
    if raw.endswith(b"/") and raw != b"/" and not handler.opt.get("any_slash"):
        raise NotFoundException


def check_declared(app: Litestar) -> None:
    """Raises LookupError when a handler declares no scope."""
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if _automatic(route, handler):
                continue
            if handler.opt.get("scope") not in _KNOWN:
                raise LookupError(f"{route.path}: handler {handler.handler_name} declares no scope")


def _automatic(route: Any, handler: BaseRouteHandler) -> bool:
    """Litestar answers OPTIONS itself if no handler does; the guard rejects it like any route without a scope."""
    return isinstance(route, HTTPRoute) and getattr(handler, "http_methods", set()) == {"OPTIONS"}
