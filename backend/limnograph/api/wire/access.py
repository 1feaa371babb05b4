"""Every handler says who may call it: an `opt` of its own. One that says nothing is a start-up error, never open."""

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
"""What a person says about the lake, for everyone to see: labels of suspects."""
METRICS: dict[str, Any] = {"scope": "metrics"}
"""`read`, unless `auth.open_metrics` opens it."""
TABLE_PAGE: dict[str, Any] = {**READ, "page": "table"}
"""A page that `api/front/pages.py` may keep until the table of its path changes."""
LAKE_PAGE: dict[str, Any] = {**READ, "page": "lake"}
"""A page that may be kept until any table changes."""

FAILED = "failed"
"""Key of a request's state: the answer lacks what a source did not give, so nobody else is given it."""

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
        raise Forbidden(f"this needs the scope {needs}" if needs else "nobody may do this")
    state["needs"] = cast("AccessScope", needs)


async def one_spelling(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Guard of the whole application: Litestar drops a slash at the end, the keys of kept pages and rules of a proxy do
    not. Only pages of the dashboard, which hold no data, are served with one.
    """
    raw = connection.scope["raw_path"]
    if raw.endswith(b"/") and raw != b"/" and not handler.opt.get("any_slash"):
        raise NotFoundException


def check_declared(app: Litestar) -> None:
    """Raises LookupError when a handler does not say who may call it."""
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if _automatic(route, handler):
                continue
            if handler.opt.get("scope") not in _KNOWN:
                raise LookupError(f"{route.path}: handler {handler.handler_name} declares no scope")


def _automatic(route: Any, handler: BaseRouteHandler) -> bool:
    """Litestar answers OPTIONS itself where nobody does; the guard refuses that one like any other without scope."""
    return isinstance(route, HTTPRoute) and getattr(handler, "http_methods", set()) == {"OPTIONS"}
