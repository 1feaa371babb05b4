"""A small object store that speaks enough of S3 for reading: objects, ranges, listings, and who asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class Gate:
    """Requests for paths with `text` in them wait until the gate is open; `held` says which came to it."""

    def __init__(self) -> None:
        self.text, self.held, self._open = "", list[str](), threading.Event()
        self._open.set()

    def close(self, text: str) -> None:
        self.text, self.held = text, []
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def pass_through(self, path: str) -> None:
        if not self._open.is_set() and self.text in path:
            self.held.append(path)
            self._open.wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects: ClassVar[dict[str, bytes]]
    asked: ClassVar[list[tuple[str, str]]]
    gate: ClassVar[Gate]

    def do_HEAD(self) -> None:
        self._object(send=False)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        if "list-type" in query:
            self._listing(parts.path.strip("/"), query)
        else:
            self._object(send=True)

    def _object(self, *, send: bool) -> None:
        self._note()
        self.gate.pass_through(self.path)
        body = self.objects.get(unquote(urlsplit(self.path).path).lstrip("/"))
        if body is None:
            self._reply(404, b"<Error><Code>NoSuchKey</Code></Error>" if send else b"", 0)
            return
        wanted = self.headers.get("Range", "")
        if wanted and send:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            part = body[int(first) : int(last) + 1 if last else None]
            where = f"bytes {first}-{int(first) + len(part) - 1}/{len(body)}"
            self._reply(206, part, len(part), {"Content-Range": where})
        else:
            self._reply(200, body if send else b"", len(body))

    def _listing(self, bucket: str, query: Mapping[str, str]) -> None:
        self._note()
        prefix, delimiter = f"{bucket}/{query.get('prefix', '')}", query.get("delimiter", "")
        keys = sorted(key for key in self.objects if key.startswith(prefix))
        folders = {key[: key.index(delimiter, len(prefix)) + 1] for key in keys if delimiter in key[len(prefix) :]}
        folders = folders if delimiter else set()
        files = [key for key in keys if not any(key.startswith(folder) for folder in folders)]
        contents = "".join(
            f"<Contents><Key>{escape(key.removeprefix(bucket + '/'))}</Key><Size>{len(self.objects[key])}</Size>"
            "<LastModified>2026-11-20T03:04:05.000Z</LastModified></Contents>"
            for key in files
        )
        commons = "".join(
            f"<CommonPrefixes><Prefix>{escape(folder.removeprefix(bucket + '/'))}</Prefix></CommonPrefixes>"
            for folder in sorted(folders)
        )
        body = (
            '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{bucket}</Name><IsTruncated>false</IsTruncated><KeyCount>{len(files)}</KeyCount>"
            f"{contents}{commons}</ListBucketResult>"
        ).encode()
        self._reply(200, body, len(body), {"Content-Type": "application/xml"})

    def _note(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization", "")))

    def _reply(self, status: int, body: bytes, length: int, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        stamp = {"Content-Length": str(length), "Last-Modified": "Fri, 20 Nov 2026 03:04:05 GMT", "ETag": '"e"'}
        for name, value in {**stamp, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Silent."""


class ObjectStore:
    """`objects`: `bucket/key` -> content; `asked`: `(path, authorization)` of every request."""

    def __init__(
        self, address: tuple[str, int], objects: dict[str, bytes], asked: list[tuple[str, str]], gate: Gate
    ) -> None:
        self.objects, self.asked, self.gate = objects, asked, gate
        self.properties = {
            "s3.endpoint": f"http://{address[0]}:{address[1]}",
            "s3.access-key-id": "READER",
            "s3.secret-access-key": "secret",
            "s3.region": "nowhere-1",
        }


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """A running store on a free port."""
    objects: dict[str, bytes] = {}
    asked: list[tuple[str, str]] = []
    gate = Gate()
    handler = type("Handler", (_Handler,), {"objects": objects, "asked": asked, "gate": gate})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield ObjectStore(("127.0.0.1", server.server_port), objects, asked, gate)
        gate.open()
        server.shutdown()
        thread.join()
