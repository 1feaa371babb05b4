"""Details of the OpenAPI document that Litestar does not generate: scopes, plain parameters, responses of the layer in
front.
"""

from __future__ import annotations

from typing import Any

from limnograph.api.front.gate import PLAIN_COOKIE

SECURITY_SCHEMES: dict[str, Any] = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API token (`limnograph token`), or a JWT of the OpenID Connect provider.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": PLAIN_COOKIE,
        "description": "Session cookie of a browser; over https its name begins with `__Host-`.",
    },
}
"""Ways to authenticate; with `auth.mode = "none"` a request needs none of them."""
_HEADERS = {
    "401": {"WWW-Authenticate": "How to authenticate."},
    "429": {"Retry-After": "Seconds."},
}
_NOT_MODIFIED = "The response with the `ETag` of `If-None-Match` is still current."


def complete(operation: dict[str, Any], declared: dict[str, Any]) -> None:
    """`declared`: the handler's declaration (`api/wire/access.py`)."""
    for parameter in operation.get("parameters", []):
        _plain(parameter)
    scope = {"metrics": "read"}.get(declared["scope"], declared["scope"])
    operation["security"] = [] if scope == "open" else [{"token": [scope]}, {"session": [scope]}]
    responses = operation["responses"]
    if "page" in declared:
        responses["304"] = {"description": _NOT_MODIFIED}
    for status, headers in _HEADERS.items():
        told = {name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()}
        responses[status] = {**responses[status], "headers": told}


def _plain(parameter: dict[str, Any]) -> None:
    """Remove null from the types of a parameter: text in a URL is never null."""
    for name in ("deprecated", "allowEmptyValue", "allowReserved"):
        parameter.pop(name, None)
    schema = parameter["schema"]
    schema.pop("description", None)
    if kinds := schema.pop("oneOf", None):
        (kind,) = (kind for kind in kinds if kind != {"type": "null"})
        parameter["schema"] = {**schema, **kind}
