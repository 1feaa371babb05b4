"""Errors on the wire: RFC 9457 problem details with a closed set of types. The only file that maps them to status
codes.
"""

from __future__ import annotations

import logging
import re
import time
from datetime import UTC, datetime
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi.datastructures import ResponseSpec

from limnograph.api.wire.views import Problem, ProblemType
from limnograph.domain.errors import (
    Forbidden,
    InvalidInput,
    LimnographError,
    NotFound,
    SourceUnavailable,
    TooManyRequests,
    Unauthenticated,
)
from limnograph.domain.secrecy import placeless

MEDIA_TYPE = "application/problem+json"

STATUS: dict[ProblemType, tuple[int, str]] = {
    "bad-request": (400, "Invalid request"),
    "unauthenticated": (401, "Authentication required"),
    "forbidden": (403, "Permission denied"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "conflict": (409, "Conflict"),
    "too-large": (413, "Request body too large"),
    "too-many-requests": (429, "Too many requests"),
    "internal": (500, "Internal error"),
    "source-failed": (503, "Source failed"),
    "source-unavailable": (503, "Source unavailable"),
    "source-timeout": (503, "Source timed out"),
    "source-rejected": (503, "Source rejected the request"),
    "metadata-damaged": (503, "Metadata unreadable"),
}
"""Closed set: problem type -> HTTP status and title."""

_BY_STATUS: dict[int, ProblemType] = {
    400: "bad-request",
    404: "not-found",
    405: "method-not-allowed",
    413: "too-large",
}
LOGGED_S = 10.0
_MOST_LOGGED = 1_000
_logged: dict[str, float] = {}
"""When each message was last logged. A race may log a message twice, which does no harm."""
_log = logging.getLogger("limnograph.api")


def problem(kind: ProblemType, detail: str, *, field: str | None = None, request_id: str | None = None) -> Problem:
    """A problem of the closed set."""
    status, title = STATUS[kind]
    return Problem(type=kind, title=title, status=status, detail=detail, field=field, request_id=request_id)


def encode(value: Problem) -> bytes:
    """The body on the wire."""
    return msgspec.json.encode(value)


def documented(*statuses: int) -> dict[int, ResponseSpec]:
    """Problem responses of a handler for the OpenAPI document. Any request can receive 400, 401, 403 and 429 (too many
    failed attempts) from the front layer, and 500.
    """
    return {
        status: ResponseSpec(Problem, description="Problem details.", media_type=MEDIA_TYPE, generate_examples=False)
        for status in sorted({400, 401, 403, 429, 500, *statuses})
    }


def _send(found: Problem) -> Response[bytes]:
    return Response(encode(found), status_code=found.status, media_type=MEDIA_TYPE)


def _request_id(request: Request[Any, Any, Any]) -> str | None:
    return request.scope["state"].get("request_id")


def of_domain(error: LimnographError, request_id: str | None) -> tuple[Problem, list[tuple[str, str]]]:
    """The problem of an expected error, and its headers."""
    if isinstance(error, InvalidInput):
        return problem("bad-request", error.detail, field=error.field, request_id=request_id), []
    kind: ProblemType = error.problem_type if error.problem_type in STATUS else "internal"
    headers = []
    if isinstance(error, Unauthenticated):
        headers = [("www-authenticate", 'Bearer realm="limnograph"')]
    elif isinstance(error, TooManyRequests | SourceUnavailable) and error.retry_after_s is not None:
        headers = [("retry-after", str(error.retry_after_s))]
    return problem(kind, _sayable(error, request_id), request_id=request_id), headers


_OF_CALLERS = (NotFound, Unauthenticated, Forbidden, TooManyRequests)
"""Errors whose message is about the caller or its request."""


def _sayable(error: LimnographError, request_id: str | None) -> str:
    """The error message for the caller, without paths and addresses of this installation. If any were removed, the log
    gets the complete message, at most once per LOGGED_S.
    """
    told = str(error)
    if isinstance(error, _OF_CALLERS) or (said := placeless(told)) == told:
        return told
    now = time.monotonic()
    if now - _logged.get(told, float("-inf")) >= LOGGED_S:
        if len(_logged) >= _MOST_LOGGED:
            _logged.clear()
        _logged[told] = now
        _log.warning("request %s: %s", request_id, told)
    return said


def from_domain(request: Request[Any, Any, Any], error: LimnographError) -> Response[bytes]:
    """The response to an expected error."""
    found, headers = of_domain(error, _request_id(request))
    answer = _send(found)
    answer.headers.update(headers)
    return answer


def now_text() -> str:
    """UTC now, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_framework(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """The response to an error raised by Litestar: routing, parsing, validation."""
    if error.status_code >= 500:
        return from_unknown(request, error)
    kind = _BY_STATUS.get(error.status_code, "bad-request")
    field, detail = _first(error) if isinstance(error, ValidationException) else (None, error.detail)
    if kind == "method-not-allowed":
        detail = f"{request.method} is not supported for this path"
    if kind == "bad-request" and field is None:
        field = "body"
    if kind == "not-found":
        detail = f"no resource at {request.url.path}"
    answer = _send(problem(kind, detail, field=field, request_id=_request_id(request)))
    if "allow" in (given := error.headers or {}):
        answer.headers["allow"] = ", ".join(sorted(given["allow"].split(", ")))  # Litestar prints a set
    return answer


def _first(error: ValidationException) -> tuple[str | None, str]:
    """Name and message of the first parameter or body field that Litestar rejected."""
    items = error.extra if isinstance(error.extra, list) else []
    for item in items:
        if isinstance(item, dict):
            message = str(item.get("message", error.detail))
            return _field(str(item.get("key") or "data"), message), message
    return "body", error.detail


def _field(key: str, message: str) -> str:
    """The rejected field or parameter: msgspec's message names a body field, or its path does; a parameter is named by
    its key.
    """
    if named := re.search(r"field `(.+?)`", message):
        return named[1]
    path = re.search(r"at `\$\.?(.*?)`", message)
    if path and path[1]:
        return path[1]
    return "body" if key == "data" else _ON_THE_WIRE.get(key, key)


_ON_THE_WIRE = {
    "start": "from",
    "end": "to",
    "text": "q",
    "namespace": "ns",
    "direction": "dir",
    "compare": "cmp",
}
"""Parameter name in a handler -> name in the URL, where they differ."""


def from_unknown(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The response to a bug: the stack trace is logged, the caller gets the request id."""
    request_id = _request_id(request)
    _log.error("request %s failed", request_id, exc_info=error)
    return _send(problem("internal", "unexpected error; see the server's log", request_id=request_id))


class ClientDisconnected(Exception):
    """The client disconnected while sending its body, or violated HTTP framing; raised by `api/front/bodies.py`."""

    def __init__(self) -> None:
        super().__init__("the body ended prematurely")


def from_left(request: Request[Any, Any, Any], error: ClientDisconnected) -> Response[bytes]:
    """The response to a client that disconnected, not logged: it rarely reaches the client."""
    return _send(problem("bad-request", str(error), field="body", request_id=_request_id(request)))


class TooSlow(Exception):
    """A body was not received in time; raised by `api/front/bodies.py` while a handler reads it."""


def from_too_slow(request: Request[Any, Any, Any], error: TooSlow) -> Response[bytes]:
    """The response to a body that was not received in time."""
    return _send(problem("bad-request", str(error), field="body", request_id=_request_id(request)))


class TooLarge(Exception):
    """A body exceeds a limit; raised by `api/front/bodies.py` while a handler reads it."""


def from_too_large(request: Request[Any, Any, Any], error: TooLarge) -> Response[bytes]:
    """The response to a body that is too large, the same as for a declared length."""
    return _send(problem("too-large", str(error), request_id=_request_id(request)))


HANDLERS: dict[Any, Any] = {
    ClientDisconnected: from_left,
    TooLarge: from_too_large,
    TooSlow: from_too_slow,
    LimnographError: from_domain,
    HTTPException: from_framework,
    Exception: from_unknown,
}
