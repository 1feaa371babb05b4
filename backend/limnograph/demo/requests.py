"""Requests of the demo's commands to its own server, with the demo's token, and to its Prometheus."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple

from limnograph.domain.errors import SourceUnavailable

TIMEOUT_S = 30


class DemoServer(NamedTuple):
    """The server of a running demo: its base URL, and the token that it accepts."""

    url: str
    token: str

    def get(self, path: str) -> Any:
        """The JSON response to a GET. Raises SourceUnavailable with the error."""
        return get_json(f"{self.url}{path}", self.token)

    def post(self, path: str, body: Any) -> Any:
        """The JSON response to a POST; None if it has no body. Raises SourceUnavailable with the error."""
        headers = {"content-type": "application/json", **_authorized(self.token)}
        return _sent(urllib.request.Request(f"{self.url}{path}", json.dumps(body).encode(), headers))  # noqa: S310


def server_of(addresses: Mapping[str, Any]) -> DemoServer:
    """The server among the addresses of a running demo (`Folder.running`)."""
    return DemoServer(addresses["server"], addresses.get("token", ""))


def get_json(url: str, token: str = "") -> Any:
    """The JSON response to a GET. Raises SourceUnavailable with the error."""
    return _sent(urllib.request.Request(url, headers=_authorized(token)))  # noqa: S310 - our own loopback address


def _authorized(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


def _sent(request: urllib.request.Request) -> Any:
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own loopback address
            body = answer.read()
        return json.loads(body) if body else None
    except urllib.error.HTTPError as error:
        said = error.read(300).decode(errors="replace")
        raise SourceUnavailable(request.full_url, f"answered {error.code}: {said}") from error
    except (OSError, ValueError) as error:
        raise SourceUnavailable(request.full_url, str(error)) from error
