"""A real HTTP server that speaks as much of the Iceberg REST protocol as reading needs, over a real SqlCatalog behind.

It counts what it is asked, and errs by script: `faults` answers a path's requests in its place.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from pyiceberg.catalog.sql import SqlCatalog

from limnograph.adapters.iceberg.catalogs.sql import SqlNames
from limnograph.domain.ids import TableName, unescape_level

SEPARATOR = "\x1f"


class Request(NamedTuple):
    path: str
    params: dict[str, str]
    headers: dict[str, str]


class Answer(NamedTuple):
    status: int
    body: bytes = b""
    seconds: float = 0.0
    headers: dict[str, str] = {}  # noqa: RUF012


def refusal(status: int, kind: str = "Exception", message: str = "no") -> Answer:
    """An error as the protocol says it."""
    return Answer(status, json.dumps({"error": {"message": message, "type": kind, "code": status}}).encode())


class RestServer:
    """`etags`, `refs_only`, `nested`, `page`: what this server knows. `token`: the one it lets in, None: anybody."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self.catalog = catalog
        self.etags = self.refs_only = self.nested = True
        self.page = 0
        self.token: str | None = None
        self.credential: str | None = None
        self.requests: list[Request] = []
        self.faults: list[Callable[[Request], Answer | None]] = []
        self.names: list[tuple[tuple[str, ...], str]] | None = None
        """Tables that are listed instead of the catalog's; each loads as the first table of the catalog."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._serve(self)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer._serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.uri = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def properties(self) -> dict[str, str]:
        return {"type": "rest", "uri": self.uri}

    def counted(self) -> Counter[str]:
        """How often each kind of request came."""
        return Counter(_kind(request.path) for request in self.requests)

    def loads(self) -> list[Request]:
        return [request for request in self.requests if _kind(request.path) == "load"]

    def fail(self, part: str, answer: Answer) -> Callable[[], None]:
        """From now on that answer for paths that contain `part`; what is returned ends it."""

        def fault(request: Request) -> Answer | None:
            return answer if part in request.path else None

        self.faults.append(fault)
        return lambda: self.faults.remove(fault)

    @contextmanager
    def running(self) -> Iterator[RestServer]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        params = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        headers = {key.lower(): value for key, value in handler.headers.items()}
        request = Request(parts.path, params, headers)
        self.requests.append(request)
        answer = next((a for fault in self.faults if (a := fault(request)) is not None), None) or self._answer(request)
        time.sleep(answer.seconds)
        try:
            handler.send_response(answer.status)
            for key, value in answer.headers.items():
                handler.send_header(key, value)
            handler.send_header("Content-Length", str(len(answer.body)))
            handler.end_headers()
            handler.wfile.write(answer.body)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True

    def _answer(self, request: Request) -> Answer:
        steps = request.path.strip("/").split("/")[1:]
        if steps[-1] == "tokens":
            return _said({"access_token": self.token, "token_type": "bearer", "expires_in": 3600})
        if self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            return refusal(401, "NotAuthorizedException", "token expired")
        if steps == ["config"]:
            return _said({"defaults": {}, "overrides": {}})
        if steps == ["namespaces"]:
            return self._namespaces(request.params)
        if len(steps) not in {3, 4} or steps[0] != "namespaces":
            return Answer(404, b"<html>nothing here</html>")
        levels = tuple(map(unquote, unquote(steps[1]).split(SEPARATOR)))
        if len(steps) == 3:
            return self._tables(levels, request.params)
        return self._load(levels, unquote(steps[3]), request)

    def _all(self) -> list[tuple[tuple[str, ...], str]]:
        if self.names is not None:
            return self.names
        return [(name.levels, unescape_level(name.table)) for name in SqlNames(self.catalog).names().tables]

    def _namespaces(self, params: dict[str, str]) -> Answer:
        parent = tuple(unquote(params["parent"]).split(SEPARATOR)) if params.get("parent") else ()
        if parent and not self.nested:
            return refusal(400, "BadRequestException", "nested namespaces are not supported")
        known = {levels for levels, _ in self._all()} | {tuple(n) for n in self.catalog.list_namespaces()}
        children = {levels[: len(parent) + 1] for levels in known if levels[: len(parent)] == parent}
        return self._paged("namespaces", sorted(map(list, children - {parent})), params)

    def _tables(self, levels: tuple[str, ...], params: dict[str, str]) -> Answer:
        found = [{"namespace": list(at), "name": name} for at, name in self._all() if at == levels]
        return self._paged("identifiers", found, params)

    def _paged(self, key: str, found: list[Any], params: dict[str, str]) -> Answer:
        size = self.page or int(params.get("pageSize", 0))
        if not size:
            return _said({key: found})
        first = int(params.get("pageToken") or 0)
        token = str(first + size) if first + size < len(found) else None
        return _said({key: found[first : first + size], "next-page-token": token})

    def _load(self, levels: tuple[str, ...], table: str, request: Request) -> Answer:
        known = SqlNames(self.catalog)
        name = next(iter(known.names().tables)) if self.names is not None else TableName.of("lake", levels, table)
        name = TableName(known.name, name.namespace, name.table)
        pointer = known.probe(name).pointer
        if pointer is None:
            return refusal(404, "NoSuchTableException", "Table does not exist")
        etag = hashlib.sha256(pointer.location.encode()).hexdigest()[:16]
        if self.etags and request.headers.get("if-none-match") == etag:
            return Answer(304, headers={"ETag": etag})
        loaded = self.catalog.load_table((*name.levels, unescape_level(name.table)))
        metadata = json.loads(loaded.metadata.model_dump_json())
        if self.refs_only and request.params.get("snapshots") == "refs":
            kept = {ref["snapshot-id"] for ref in metadata.get("refs", {}).values()}
            metadata["snapshots"] = [s for s in metadata["snapshots"] if s["snapshot-id"] in kept]
        body = {"metadata-location": pointer.location, "metadata": metadata, "config": {}}
        return _said(body, {"ETag": etag} if self.etags else {})


def _said(body: object, headers: dict[str, str] | None = None) -> Answer:
    return Answer(200, json.dumps(body).encode(), headers={"Content-Type": "application/json", **(headers or {})})


def _kind(path: str) -> str:
    steps = path.strip("/").split("/")[1:]
    kinds = {1: steps[0], 3: "tables", 4: "load"}
    return "tokens" if steps[-1] == "tokens" else kinds.get(len(steps), "other")
