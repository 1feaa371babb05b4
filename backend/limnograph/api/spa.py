"""The built dashboard, loaded into memory at start: a request never reads the disk.

Any path that is not a file of the build returns the application's shell, which routes in the browser. Without a build,
a plain page explains how to make one.
"""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from pathlib import Path
from typing import Any, NamedTuple

from litestar import HttpMethod, Request, Response, get, route
from litestar.datastructures import State
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from limnograph.api.routes.sessions import to_login
from limnograph.api.wire.access import OPEN, READ

BUILD = Path(__file__).parents[1] / "_dashboard"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_MIME = {".js": "text/javascript", ".css": "text/css", ".webmanifest": "application/manifest+json"}
# SvelteKit sets one style attribute from a template (#svelte-announcer); a browser test fails when it changes.
_ANNOUNCER = "'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='"
_NO_BUILD = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Limnograph</title></head>
<body><main><h1>The dashboard is not built</h1>
<p>Run <code>make build</code> and start the server again. The API under <code>/api/v1</code> works without it.</p>
</main></body></html>
"""


class Asset(NamedTuple):
    """A file of the build: its bodies per content coding (`""` is unencoded)."""

    bodies: dict[str, bytes]
    mime: str
    etag: str
    immutable: bool


class Site(NamedTuple):
    """All files by name, the shell, and the headers of every response of the server."""

    assets: dict[str, Asset]
    shell: Asset
    headers: tuple[tuple[str, str], ...]


def load(build: Path = BUILD) -> Site:
    """Read a build; one without a shell is treated as missing."""
    assets = {
        file.relative_to(build).as_posix(): _asset(build, file)
        for file in sorted(path for path in build.rglob("*") if path.is_file())
        if file.suffix not in {".br", ".gz"}
    }
    shell = assets.get("200.html") or assets.get("index.html")
    if shell is None:
        shell = Asset({"": _NO_BUILD}, "text/html", _etag(_NO_BUILD), immutable=False)
    return Site(assets, shell, _headers(shell.bodies[""]))


def _asset(build: Path, file: Path) -> Asset:
    name, plain = file.relative_to(build).as_posix(), file.read_bytes()
    bodies = {"": plain}
    for coding, suffix in _ENCODINGS:
        packed = file.with_name(file.name + suffix)
        if packed.is_file():
            bodies[coding] = packed.read_bytes()
    mime = _MIME.get(file.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Asset(bodies, mime, _etag(plain), name.startswith("_app/immutable/"))


def _etag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'


def _headers(shell: bytes) -> tuple[tuple[str, str], ...]:
    return (
        ("content-security-policy", policy(shell)),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    )


def policy(shell: bytes) -> str:
    """The content security policy; it allows the only inline script, the shell's bootstrap, by hash."""
    hashes = [
        "'sha256-" + base64.b64encode(hashlib.sha256(body).digest()).decode() + "'"
        for body in re.findall(rb"<script>(.*?)</script>", shell, re.DOTALL)
    ]
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *hashes)),
            "style-src 'self'",
            f"style-src-attr 'unsafe-hashes' {_ANNOUNCER}",
            "img-src 'self' data:",
            "font-src 'self'",
            "manifest-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types svelte-trusted-html",
        )
    )


_ANY = [HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH, HttpMethod.DELETE, HttpMethod.OPTIONS]


@route("/api", http_method=_ANY, include_in_schema=False, sync_to_thread=False, opt=READ)
def api_root() -> None:
    """Respond to `/api` like `api_unknown`."""
    raise NotFoundException


@route("/api/{path:path}", http_method=_ANY, include_in_schema=False, sync_to_thread=False, opt=READ)
def api_unknown(path: FromPath[str]) -> None:
    """An unknown path under /api is a problem, never a page."""
    raise NotFoundException(detail=f"no such endpoint: /api{path}")


@get("/", include_in_schema=False, sync_to_thread=False, opt=OPEN)
def front_page(request: Request[Any, Any, Any], state: State) -> Response[bytes]:
    """The shell."""
    return _shell(request, state["site"])


@get("/{path:path}", include_in_schema=False, sync_to_thread=False, opt={**OPEN, "any_slash": True})
def page(request: Request[Any, Any, Any], state: State, path: FromPath[str]) -> Response[bytes]:
    """A file of the build, or the shell."""
    site: Site = state["site"]
    name = path.strip("/")
    asset = site.assets.get(name)
    if asset is None:
        if name.startswith("_app/"):  # a missing chunk of an older build is an error, not the shell
            raise NotFoundException(detail="no such asset")
        return _shell(request, site)
    return _send(request, asset)


def _shell(request: Request[Any, Any, Any], site: Site) -> Response[bytes]:
    """The shell contains no data, so it is open; an unauthenticated browser is redirected to the login first."""
    identity = request.scope["state"].get("identity")
    if identity is None or "read" not in identity.scopes:
        return to_login(request)
    return _send(request, site.shell)


def _send(request: Request[Any, Any, Any], asset: Asset) -> Response[bytes]:
    headers = {
        "etag": asset.etag,
        "vary": "accept-encoding",
        "cache-control": "public, max-age=31536000, immutable" if asset.immutable else "no-cache",
    }
    if asset.etag in request.headers.get("if-none-match", ""):
        return Response(b"", status_code=304, headers=headers, media_type=asset.mime)
    accepted = {part.split(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")}
    coding = next((c for c, _ in _ENCODINGS if c in accepted and c in asset.bodies), "")
    if coding:
        headers["content-encoding"] = coding
    return Response(asset.bodies[coding], headers=headers, media_type=asset.mime)


HANDLERS = [api_root, api_unknown, front_page, page]
