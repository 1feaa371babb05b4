"""One small GET of a source's health page, for `limnograph doctor`: status, body, and the server's time."""

from __future__ import annotations

import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from limnograph.domain.errors import SourceRejected, SourceUnavailable

MAX_BYTES = 100_000
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class HttpProbe(NamedTuple):
    """`at`: the server's clock, epoch seconds (whole ones); None if the response has no date."""

    body: bytes
    at: float | None


def get(source: str, url: str, timeout_s: float, headers: dict[str, str] | None = None) -> HttpProbe:
    """One GET request. Raises SourceUnavailable, SourceRejected."""
    request = urllib.request.Request(url, headers=headers or {})  # noqa: S310  # settings allow http and https alone
    try:
        with _direct.open(request, timeout=timeout_s) as answer:
            date = answer.headers.get("date")
            return HttpProbe(answer.read(MAX_BYTES), parsedate_to_datetime(date).timestamp() if date else None)
    except urllib.error.HTTPError as error:
        kind = SourceUnavailable if error.code >= 500 else SourceRejected
        raise kind(source, f"returned {error.code}") from error
    except (OSError, ValueError) as error:
        raise SourceUnavailable(source, f"not reachable: {error}") from error
