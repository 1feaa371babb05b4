"""Parses query parameters: checks bounds and formats; an error names its parameter."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter

from limnograph.api.wire.parameters import CONDITION, MAX_CONDITIONS_CHARS
from limnograph.domain.answers.lane_specs import DEFAULT_LANES, LANES
from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import TableName, from_path_segment, unescape_level
from limnograph.domain.queries import MAX_GREW, MAX_LIMIT, MAX_PARTITIONS, MAX_PLANNING_S, MAX_WITHIN_S
from limnograph.domain.time import LATEST_MS, Millis
from limnograph.services.server.backend import Backend
from limnograph.services.timeline.timeline import MAX_COMPARE_S

HOUR_MS = 3_600_000


async def only_known(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Guard of every route of the API: an unknown query parameter is an error. A route that takes labels (`opt`)
    accepts any name. Raises InvalidInput.
    """
    if handler.opt.get("labels"):
        return
    known = _query_names(handler.fn)
    if unknown := connection.query_params.keys() - known:
        offered = f"one of {', '.join(sorted(known))}" if known else "without parameters"
        raise InvalidInput(min(unknown), f"is not a parameter of this route; use {offered}")


@cache
def _query_names(function: Callable[..., Any]) -> frozenset[str]:
    hints = get_type_hints(function, include_extras=True).values()
    marks = (mark for hint in hints for mark in getattr(hint, "__metadata__", ()))
    return frozenset(mark.name for mark in marks if isinstance(mark, QueryParameter) and mark.name)


def table_name(catalog: str, namespace: str, table: str) -> TableName:
    """The table name in path segments: `~s` and `~b` are slash and backslash; other escapes stay, as in facts."""
    own = from_path_segment(table).replace(".", "~d")
    return TableName(unescape_level(catalog), from_path_segment(namespace), own)


def known_name(backend: Backend, catalog: str, namespace: str, table: str) -> TableName:
    """The same, but a namespace written without escapes, as in responses, resolves to the known one."""
    return backend.resolved(table_name(catalog, namespace, table))


def table_named(backend: Backend, text: str) -> TableName:
    """The known table that `cmp_table` names. Raises InvalidInput."""
    found = backend.named(text)
    if found is None:
        raise InvalidInput("cmp_table", f"{text!r} is not a known table; use catalog.namespace.table")
    return found


def lane_names(text: str | None) -> tuple[str, ...]:
    """Lane ids in display order, without duplicates. Raises InvalidInput."""
    if not text:
        return DEFAULT_LANES
    asked = {part.strip() for part in text.split(",") if part.strip()}
    if unknown := asked.difference(LANES):
        raise InvalidInput("lanes", f"{min(unknown)!r} is not a lane; choose from {', '.join(LANES)}")
    if not asked:
        raise InvalidInput("lanes", f"names no lane; choose from {', '.join(LANES)}, or omit it")
    return tuple(lane for lane in LANES if lane in asked)


def page_size(limit: int) -> int:
    """Check the size of a page. Raises InvalidInput."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput("limit", f"must be between 1 and {MAX_LIMIT}")
    return limit


def growth(grew: float | None, within: int | None) -> tuple[float | None, int | None]:
    """Share and seconds of growth; None if not given. Raises InvalidInput."""
    if grew is not None and not 0 <= grew <= MAX_GREW:
        raise InvalidInput("grew", f"must be a share between 0 and {MAX_GREW:.0f}, such as 0.2")
    if within is not None and not 1 <= within <= MAX_WITHIN_S:
        raise InvalidInput("within", f"must be between 1 and {MAX_WITHIN_S} seconds")
    return grew, within


def planning(seconds: float | None) -> float | None:
    """Check a limit of planning times. Raises InvalidInput."""
    if seconds is not None and not 0 <= seconds <= MAX_PLANNING_S:
        raise InvalidInput("planning", f"must be between 0 and {MAX_PLANNING_S} seconds")
    return seconds


def missed(share: float | None) -> float | None:
    """Check a share of scans. Raises InvalidInput."""
    if share is not None and not 0 <= share <= 1:
        raise InvalidInput("missed", "must be a share between 0 and 1, such as 0.5")
    return share


def span(start: Millis | None, end: Millis | None, now_ms: Millis, width_ms: int) -> tuple[Millis, Millis]:
    """Both ends in epoch ms; a missing end is now, a missing start is `width_ms` earlier. Raises InvalidInput."""
    last = now_ms if end is None else end
    first = max(Millis(0), last - width_ms) if start is None else start
    for field, value in (("from", first), ("to", last)):
        if not 0 <= value <= LATEST_MS:
            raise InvalidInput(field, "must be epoch milliseconds between 1970 and 3000")
    if last <= first:
        raise InvalidInput("to", "must be later than from")
    return first, last


def instant(at: Millis | None, default: Millis) -> Millis:
    """An instant, or `default` if it is None; epoch ms. Raises InvalidInput."""
    if at is not None and not 0 <= at <= LATEST_MS:
        raise InvalidInput("at", "must be epoch milliseconds between 1970 and 3000")
    return default if at is None else at


def compared(seconds: int | None) -> int | None:
    """Check the distance of a comparison, seconds. Raises InvalidInput."""
    if seconds is not None and not 1 <= seconds <= MAX_COMPARE_S:
        raise InvalidInput("cmp", f"must be between 1 and {MAX_COMPARE_S} seconds")
    return seconds


def conditions(text: str | None) -> tuple[tuple[str, str], ...]:
    """Parse `day=2026-11-20/region=eu` into pairs. Raises InvalidInput."""
    if text is None:
        return ()
    if len(text) > MAX_CONDITIONS_CHARS or not re.fullmatch(f"{CONDITION}(/{CONDITION})*", text, re.DOTALL):
        raise InvalidInput("partition", "must be field=value, several joined with /, such as day=2026-11-20/region=eu")
    return tuple((name, value) for name, _, value in (part.partition("=") for part in text.split("/")))


def partitions(limit: int) -> int:
    """Check the number of partitions. Raises InvalidInput."""
    if not 1 <= limit <= MAX_PARTITIONS:
        raise InvalidInput("limit", f"must be between 1 and {MAX_PARTITIONS}")
    return limit


def snapshot_id(text: str) -> int:
    """Parse a snapshot id. Raises InvalidInput unless it is a decimal number of at most 64 bits."""
    if not re.fullmatch(r"-?\d{1,19}", text) or not -(2**63) <= int(text) < 2**63:
        raise InvalidInput("snapshot_id", "must be a decimal snapshot id")
    return int(text)
