"""A catalog's failure as one sentence that names the catalog, its response and what to do."""

from __future__ import annotations

from http import HTTPStatus

from limnograph.domain.errors import SourceError, SourceRejected, SourceTimeout, SourceUnavailable

CHARACTERS = 300
"""Maximum length of a server's message in a sentence."""
_REMEDIES = {
    401: "the token or password was rejected or has expired; renew the credentials of catalogs.{name}",
    403: "the credentials of catalogs.{name} are valid but lack permission; grant them read access",
    404: "not found; check uri, prefix and warehouse of catalogs.{name}",
    419: "the token has expired; renew the credentials of catalogs.{name}",
    429: "too many requests; lower observe.probes_per_second",
}

_CODES = {"Expired": 401, "UnrecognizedClient": 401, "InvalidClientToken": 401, "AccessDenied": 403, "Throttl": 429}
"""Parts of AWS error codes, and the equivalent HTTP status."""


def unavailable(name: str, error: BaseException) -> SourceError:
    """Any error of PyIceberg, a driver or a transport, as an error about the whole catalog."""
    if isinstance(error, SourceError):
        return error
    status = _status_of(error)
    if status is not None:
        return answered(name, status, first_line(error))
    kind, text = type(error).__name__, first_line(error)
    refused = next((status for part, status in _CODES.items() if part in _code_of(error)), None)
    if refused is not None:
        return SourceUnavailable(f"catalog {name}", f"{_REMEDIES[refused].format(name=name)} ({text[:CHARACTERS]})")
    if "timeout" in kind.lower() or "timed out" in text.lower():
        return SourceTimeout(f"catalog {name}", f"timed out ({text[:CHARACTERS]}); retrying")
    if kind == "OAuthError":
        return SourceUnavailable(f"catalog {name}", f"{_REMEDIES[401].format(name=name)}: {text[:CHARACTERS]}")
    return SourceUnavailable(f"catalog {name}", text[:CHARACTERS])


def _code_of(error: BaseException) -> str:
    """Code of an AWS error, whose clients keep it in a response that is a dict."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""


def answered(name: str, status: int, said: str = "") -> SourceError:
    """An HTTP status as an error about the whole catalog."""
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = f"status {status}"
    fallback = "server error; retrying" if status >= 500 else "the server rejected the request"
    remedy = _REMEDIES.get(status, fallback).format(name=name)
    told = f" ({said[:CHARACTERS]})" if said else ""
    return SourceUnavailable(f"catalog {name}", f"{phrase}: {remedy}{told}")


def of_one(error: SourceError, what: str) -> SourceRejected:
    """The same failure, limited to one table or namespace."""
    return SourceRejected(what, error.detail)


def first_line(error: BaseException) -> str:
    """First line of an exception's message; its type if the message is empty."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _status_of(error: BaseException | None) -> int | None:
    """HTTP status of a PyIceberg exception, which keeps the response in its cause."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
        error = error.__cause__
    return None
