"""A catalog that cannot be opened: what the settings did wrong, and what only its server can change."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from fault_proxy import FaultProxy
from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.domain.errors import SettingsError, SourceError, SourceRejected


class Rest:
    """A REST catalog that answers everything with one status."""

    def __init__(self) -> None:
        self.status, self.body = 503, b"{}"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(outer.status)
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.uri = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def rest() -> Iterator[Rest]:
    made = Rest()
    Thread(target=made.server.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("body", [b"{}", b"<html>busy</html>", b""])
def test_a_server_that_refuses_is_not_an_error_of_the_settings(rest: Rest, status: int, body: bytes) -> None:
    rest.status, rest.body = status, body
    with pytest.raises(SourceError):
        open_catalog("x", {"type": "rest", "uri": rest.uri})


def test_an_oversized_compressed_response_is_not_decompressed_in_full() -> None:
    with FaultProxy(None) as proxy:
        proxy.mode = "bomb"
        with pytest.raises(SourceRejected, match="exceeds 256 MiB"):
            open_catalog("x", {"type": "rest", "uri": proxy.url})


def test_an_unreachable_server_is_not_an_error_of_the_settings() -> None:
    with pytest.raises(SourceError):
        open_catalog("x", {"type": "rest", "uri": "http://127.0.0.1:9"})


@pytest.mark.parametrize(
    "properties",
    [
        {"type": "nonsense"},
        {},
        {"type": "sql"},
        {"type": "sql", "uri": "no url"},
        {"type": "sql", "uri": "nonsense://x/y"},
        {"type": "rest"},
        {"type": "rest", "uri": "no url"},
    ],
)
def test_a_wrong_type_or_uri_names_the_key(properties: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"catalogs\.x"):
        open_catalog("x", properties)
