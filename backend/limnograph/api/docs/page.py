"""`/docs`: the API reference as one page without scripts, its style sheet, and the OpenAPI document. It loads nothing
from other hosts, and requires no authentication because it contains no data.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from limnograph.api.docs.runbooks import runbook
from limnograph.api.wire.access import OPEN

STYLE = Path(__file__).parent / "_docs" / "docs.css"


class _File(NamedTuple):
    body: bytes
    mime: str
    etag: str


@get("/docs", include_in_schema=False, sync_to_thread=True, opt=OPEN)
def docs_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The page."""
    return _answer(request, _file(""))


@get("/docs/{name:str}", include_in_schema=False, sync_to_thread=True, opt=OPEN)
def docs_file(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    """The style sheet, and the OpenAPI document that the page is generated from."""
    if name not in {"docs.css", "openapi.json"}:
        raise NotFoundException
    return _answer(request, _file(name))


@cache
def _file(name: str) -> _File:
    """A file, generated on first use because that takes a quarter of a second."""
    if name == "docs.css":
        return _made(STYLE.read_bytes(), "text/css")
    if name == "openapi.json":
        from limnograph.api.docs import openapi

        return _made(openapi.render().encode(), "application/json")
    from limnograph.api.docs.reference.blocks import page
    from limnograph.api.docs.reference.routes import TITLE, blocks

    return _made(page(TITLE, "/docs/docs.css", blocks()).encode(), "text/html")


def _made(body: bytes, mime: str) -> _File:
    return _File(body, mime, f'"{hashlib.sha256(body).hexdigest()[:16]}"')


def _answer(request: Request[Any, Any, Any], file: _File) -> Response[bytes]:
    headers = {"etag": file.etag, "cache-control": "no-cache"}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(b"", status_code=304, headers=headers, media_type=file.mime)
    return Response(file.body, headers=headers, media_type=file.mime)


HANDLERS = [docs_page, docs_file, runbook]
