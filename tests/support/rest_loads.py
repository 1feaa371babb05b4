"""As much of the Iceberg REST catalog as readers of tables need, over a real SqlCatalog, on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError


@contextmanager
def serving(catalog: Catalog) -> Iterator[tuple[str, int]]:
    """Address of a server that loads tables of the catalog."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path = self.path.split("?")[0].strip("/").split("/")
            if path[-1] == "config":
                self._answer(200, {"defaults": {}, "overrides": {}})
                return
            try:
                table = catalog.load_table((path[-3].replace("\x1f", "."), path[-1]))
            except (NoSuchTableError, IndexError):
                self._answer(404, {"error": {"message": "no", "type": "NoSuchTableException", "code": 404}})
                return
            metadata = json.loads(table.metadata.model_dump_json(by_alias=True, exclude_none=True))
            self._answer(200, {"metadata-location": table.metadata_location, "metadata": metadata, "config": {}})

        def _answer(self, status: int, document: dict) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield "127.0.0.1", server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
