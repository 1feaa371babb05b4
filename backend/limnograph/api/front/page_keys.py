"""Decides which requests are for cacheable pages, and computes the key that all spellings of a request share."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from litestar import Litestar
from litestar.routes import HTTPRoute

from limnograph.api.wire.remembering import LONGEST
from limnograph.api.wire.values import table_name
from limnograph.domain.ids import TableName

Parameters = tuple[tuple[bytes, bytes | None], ...]
_REMEMBERED = 8_192
_LONGEST_QUERY = 2_048


class PageKey(NamedTuple):
    """Cache key of a page: decoded path and sorted parameters. `table`: the table whose changes invalidate it; None =
    any.
    """

    path: str
    parameters: Parameters
    table: TableName | None


class PageKeys:
    """Computes keys for routes that declare `page` (`api/wire/access.py`). A key grants no access. Thread-safe: `known`
    is one look-up; `_known` is changed on the event loop only.
    """

    def __init__(self, app: Litestar) -> None:
        self._routes: dict[int, list[tuple[tuple[str | None, ...], str]]] = {}
        for route in app.routes:
            for handler in route.route_handlers if isinstance(route, HTTPRoute) else ():
                if "GET" in handler.http_methods and "page" in handler.opt:
                    self._add(route.path_components, handler.opt["page"])
        self._known: OrderedDict[tuple[bytes, bytes], PageKey | None] = OrderedDict()

    def _add(self, components: Any, page: str) -> None:
        template = tuple(part if isinstance(part, str) else None for part in components)
        self._routes.setdefault(len(template), []).append((template, page))

    def known(self, raw_path: bytes, query: bytes) -> PageKey | None:
        """The result of an earlier call of `of` for the same bytes; None: call `of`."""
        return self._known.get((raw_path, query))

    def of(self, raw_path: bytes, query: bytes, path: str) -> PageKey | None:
        """The key of a request; None if its response is not cacheable."""
        asked = (raw_path, query)
        if asked in self._known:
            return self._known[asked]
        found = self._found(path, query)
        if len(raw_path) + len(query) > LONGEST:
            return found
        self._known[asked] = found
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _found(self, path: str, query: bytes) -> PageKey | None:
        segments = path.split("/")[1:]
        if not segments[-1]:
            return None
        for template, page in self._routes.get(len(segments), ()):
            if all(part is None or part == segment for part, segment in zip(template, segments, strict=True)):
                if len(query) > _LONGEST_QUERY:
                    return None
                given = [segment for part, segment in zip(template, segments, strict=True) if part is None]
                table = table_name(*given[:3]) if page == "table" else None
                return PageKey(path, parameters(query), table)
        return None


def parameters(query: bytes) -> Parameters:
    """Decoded parameters, sorted by name; repeated ones keep their order, because only the first or last may count.

    Injective: `a` and `a=` differ, and so do different bytes that are not UTF-8.
    """
    found = []
    for part in query.split(b"&"):
        name, sign, value = part.replace(b"+", b" ").partition(b"=")
        found.append((unquote_to_bytes(name), unquote_to_bytes(value) if sign else None))
    return tuple(sorted(found, key=lambda pair: pair[0]))
