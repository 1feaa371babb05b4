"""An HTTP API of exchange rates: pages, 429 when asked too fast, and on demand another schema."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = 20


class RatesApi:
    """Guarded by the server's one lock: `refusals` requests are refused first; with `renamed`, `rate` is `value`."""

    def __init__(self, first: date, days: int) -> None:
        self.first, self.days = first, days
        self.refusals, self.requests = 0, 0
        self.renamed = False
        self.url = ""

    @property
    def rows(self) -> list[dict[str, object]]:
        """What the API has, as its newest schema says it."""
        key = "value" if self.renamed else "rate"
        return [
            {"day": str(self.first + timedelta(days=n)), "currency": currency, key: 1 + n / 100}
            for n in range(self.days)
            for currency in ("BRL", "VND")
        ]


@contextmanager
def serving(api: RatesApi) -> Iterator[RatesApi]:
    """The API on a free port of loopback."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                api.requests += 1
                refused = api.refusals > 0
                api.refusals -= int(refused)
            if refused:
                self._answer(429, {"error": "too many requests"}, {"Retry-After": "0"})
                return
            page = int(parse_qs(urlsplit(self.path).query).get("page", ["0"])[0])
            rows = api.rows[page * PAGE : (page + 1) * PAGE]
            following = page + 1 if (page + 1) * PAGE < len(api.rows) else None
            self._answer(200, {"rows": rows, "next": following}, {})

        def _answer(self, status: int, body: dict[str, object], headers: dict[str, str]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        api.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()
