"""Listing and probes of an Iceberg REST catalog, through the session that PyIceberg set up (auth, TLS, signing).

A probe is one conditional request for the table without its history: `snapshots=refs` and `If-None-Match` with the
last ETag. A server that supports neither responds in full; only the pointer is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from pyiceberg.catalog.rest import Endpoints, RestCatalog
from requests import Response, Session
from requests.exceptions import RequestException
from requests.exceptions import Timeout as RequestTimeout

from limnograph.adapters.iceberg.catalogs.errors import answered, of_one, unavailable
from limnograph.adapters.iceberg.catalogs.rest_wire import LoadedTable, NamespacePage, TablePage, is_error, pace, said
from limnograph.domain.errors import SourceError, SourceRejected, SourceTimeout
from limnograph.domain.ids import TableName, escape_level, unescape_level
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer

CONNECT_S, READ_S, TOTAL_S = 5.0, 20.0, 60.0
"""Timeouts of one request: to connect, between two pieces of the response, and for the whole response."""
BODY_BYTES = 256 << 20
PAGES, DEPTH = 100_000, 16
_EXPIRED = {401, 419}
_NO_CHILDREN = {400, 404, 405, 501}
_PIECE = 1 << 20
_HEADERS: dict[str, Any] = {
    # A pointer needs no store credentials: vending them costs a call, and some servers then never return 304.
    "X-Iceberg-Access-Delegation": None,
    # An ETag belongs to one encoding: a compressing proxy creates its own, which the catalog behind it does not know.
    "Accept-Encoding": "identity",
}


class _RefusedRequest(SourceRejected):
    """A refusal of one request. `status`: HTTP status; 0 for a response outside the protocol."""

    def __init__(self, error: SourceError, status: int) -> None:
        super().__init__(error.source, error.detail)
        self.status = status


class _Last(NamedTuple):
    etag: str
    found: ProbeResult
    at: float


class BoundedRest(RestCatalog):
    """PyIceberg's catalog with limits: its own requests limit neither their time nor the size of a response."""

    def _create_session(self) -> Session:
        session = super()._create_session()
        bounded = _BoundedRequests(session.request, str(self.name))
        setattr(session, "request", bounded)  # noqa: B010 - the name is a method of its class
        return session


class RestNames:
    """Port Catalog over a REST catalog. Keeps the last ETag of every table; losing one costs a full response."""

    at_once = False

    def __init__(self, catalog: RestCatalog) -> None:
        self.name = str(catalog.name)
        self._catalog = catalog
        self._last: dict[TableName, _Last] = {}

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        tables: dict[TableName, TablePointer | None] = {}
        troubles: list[str] = []
        for levels in self._namespaces(troubles, alive):
            url = self._catalog.url(Endpoints.list_tables, namespace=self._path(levels))
            try:
                pages = [page for page in self._pages(url, {}, TablePage, alive) if isinstance(page, TablePage)]
            except _RefusedRequest as error:
                if error.status != 404:  # else the namespace was dropped meanwhile
                    troubles.append(str(of_one(error, ".".join((self.name, *levels)))))
                continue
            for table in (table for page in pages for table in page.identifiers):
                tables[TableName.of(self.name, table.namespace or levels, escape_level(table.name))] = None
        # Probes in other threads add to it meanwhile: copying it is atomic.
        for name in self._last.copy().keys() - tables.keys():
            self._last.pop(name, None)
        return CatalogNames(tables, tuple(troubles))

    def probe(self, name: TableName) -> ProbeResult:
        url = self._catalog.url(Endpoints.load_table, namespace=self._path(name.levels), table=_quoted(name.table))
        last = self._last.get(name)
        headers = {**_HEADERS, "If-None-Match": last.etag} if last else _HEADERS
        response, body = self._answer(url, {"snapshots": "refs"}, headers)
        if response.status_code == 304 and last:
            since = time.monotonic() - last.at
            quiet = last.found.quiet_s
            return last.found._replace(quiet_s=None if quiet is None else quiet + since)
        if response.status_code == 404 and is_error(body):
            self._last.pop(name, None)
            return ProbeResult(None)
        if response.status_code != 200:
            raise of_one(answered(self.name, response.status_code, said(body)), str(name))
        found = self._loaded(name, body)
        if etag := response.headers.get("ETag"):
            self._last[name] = _Last(etag, found, time.monotonic())
        else:
            self._last.pop(name, None)
        return found

    def _loaded(self, name: TableName, body: bytes) -> ProbeResult:
        try:
            loaded = msgspec.json.decode(body, type=LoadedTable)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise SourceRejected(str(name), f"the catalog's response is not a LoadTableResult: {error}") from error
        if not loaded.location:
            raise SourceRejected(str(name), "the catalog returns no metadata-location; its tables cannot be observed")
        quiet, gap = pace(loaded.metadata)
        return ProbeResult(TablePointer(name, "iceberg", loaded.location), quiet, gap)

    def _namespaces(self, troubles: list[str], alive: Callable[[], None]) -> Iterator[tuple[str, ...]]:
        """All namespaces, parents first. Stops when a server that ignores `parent` repeats what was listed."""
        url, seen = self._catalog.url(Endpoints.list_namespaces), set[tuple[str, ...]]()
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            parent = waiting.pop()
            params = {"parent": self._path(parent)} if parent else {}
            try:
                found = self._pages(url, params, NamespacePage, alive)
                pages = [page for page in found if isinstance(page, NamespacePage)]
            except _RefusedRequest as error:
                if not parent:
                    raise
                # Servers without nesting refuse a request for children, and a parent may be dropped meanwhile.
                if error.status not in _NO_CHILDREN:
                    troubles.append(str(of_one(error, ".".join((self.name, *parent)))))
                continue
            listed = (tuple(levels) for page in pages for levels in page.namespaces)
            new = [levels for levels in dict.fromkeys(listed) if levels and levels not in seen]
            seen.update(new)
            yield from new
            waiting += [levels for levels in new if len(levels) < DEPTH and _below(levels, parent)]

    def _pages(
        self, url: str, params: dict[str, str], kind: type[TablePage | NamespacePage], alive: Callable[[], None]
    ) -> Iterator[object]:
        """Pages of a listing. Also raises _RefusedRequest."""
        size = self._catalog.properties.get("rest-page-size")
        asked = {**params, "pageSize": str(size)} if size else dict(params)
        tokens: set[str] = set()
        for _ in range(PAGES):
            response, body = self._answer(url, asked, {})
            if response.status_code != 200:
                raise _RefusedRequest(answered(self.name, response.status_code, said(body)), response.status_code)
            try:
                page = msgspec.json.decode(body, type=kind)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                garbage = SourceRejected(f"catalog {self.name}", f"its listing is not valid Iceberg REST: {error}")
                raise _RefusedRequest(garbage, 0) from error
            alive()
            yield page
            if not page.token or page.token in tokens:
                return
            tokens.add(page.token)
            asked["pageToken"] = page.token

    def _answer(self, url: str, params: dict[str, str], headers: dict[str, Any]) -> tuple[Response, bytes]:
        """Response and body. Renews the token once if the response requires it and PyIceberg can."""
        response, body = self._once(url, params, headers)
        if response.status_code in _EXPIRED:
            try:
                self._catalog._refresh_token()  # noqa: SLF001 - what PyIceberg's own calls do at this point
            except Exception as error:
                raise unavailable(self.name, error) from error
            response, body = self._once(url, params, headers)
        if response.status_code in _EXPIRED or response.status_code == 429 or response.status_code >= 500:
            raise answered(self.name, response.status_code, said(body))
        return response, body

    def _once(self, url: str, params: dict[str, str], headers: dict[str, Any]) -> tuple[Response, bytes]:
        try:
            with self._catalog._session.get(url, params=params, headers=headers, stream=True) as response:  # noqa: SLF001
                return response, _whole(response, self.name)
        except RequestTimeout as error:
            raise SourceTimeout(f"catalog {self.name}", "timed out; retrying") from error
        except RequestException as error:
            raise unavailable(self.name, error) from error

    def _path(self, levels: tuple[str, ...] | list[str]) -> str:
        return self._catalog._encode_namespace_path(tuple(levels))  # noqa: SLF001 - its separator is negotiated


class _BoundedRequests:
    """`Session.request` with default timeouts, and with `_whole` bodies unless the caller streams them."""

    def __init__(self, request: Callable[..., Response], name: str) -> None:
        self._request, self._name = request, name

    def __call__(self, *args: Any, **kwargs: Any) -> Response:
        response = self._request(*args, **{"timeout": (CONNECT_S, READ_S), **kwargs, "stream": True})
        if not kwargs.get("stream"):
            with response:
                response._content = _whole(response, self._name)  # noqa: SLF001 - where `content` looks first
        return response


def _whole(response: Response, name: str) -> bytes:
    """A body in its original encoding. Raises SourceRejected, SourceTimeout, and what requests raises."""
    body, end = bytearray(), time.monotonic() + TOTAL_S
    for piece in response.iter_content(_PIECE):
        body += piece
        if len(body) > BODY_BYTES:
            raise SourceRejected(f"catalog {name}", f"the response exceeds {BODY_BYTES >> 20} MiB")
        if time.monotonic() > end:
            raise SourceTimeout(f"catalog {name}", f"the response took longer than {TOTAL_S:.0f} s")
    return bytes(body)


def _quoted(escaped: str) -> str:
    return quote(unescape_level(escaped), safe="")


def _below(levels: tuple[str, ...], parent: tuple[str, ...]) -> bool:
    return len(levels) > len(parent) and levels[: len(parent)] == parent
