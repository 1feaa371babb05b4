"""Masks credentials in texts: registered secrets, and anything that looks like a credential. The loader of settings
registers the secrets of this process; errors and logs are cleaned with `clean`. Reads no settings itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

HIDDEN = "***"
LEAST_CHARACTERS = 6
"""Shorter secrets are not masked: that would hide ordinary words."""
SECRET_KEY = re.compile(
    r"secret|password|passwd|(^|[._-])pwd|token|credential|authori[sz]ation|access[._-]?key|api[._-]?key"
    r"|^header[.]|account[._-]?key|sas[._-]|private[._-]?key|(^|[._-])auth[._]|cookie|signature|passphrase|session[._-]?key",
    re.IGNORECASE,
)
"""Names of properties and query parameters whose value is a secret."""
_NOT_SECRET = re.compile(
    r"(uri|url|endpoint|type|-expires?-?(in|at)?(-ms)?|enabled|region|scope|access-delegation|user-agent)$",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)[^/@\s'\"]*:[^/\s'\"]*@")
_QUERY = re.compile(
    r"(?i)\b([\w.-]*(?:secret|password|passwd|pwd|token|credential|signature|sig|"
    r"(?:access|api|secret|account|private)[._-]?key))"
    r"(\s*=\s*|[\"']\s*:\s*[\"'])((?!\*\*\*)[^&\s\"',;}\])]{4,})"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+(?=\S*\d)[A-Za-z0-9._~+/=-]{8,}")

_kept: set[str] = set()
_any: list[re.Pattern[str]] = []


def is_secret(key: str) -> bool:
    """Whether a property of this name contains a credential."""
    return bool(SECRET_KEY.search(key)) and not _NOT_SECRET.search(key)


def secrets_of(properties: Mapping[str, str]) -> set[str]:
    """Secret values in the properties of a catalog or store: by key, and inside URLs."""
    found: set[str] = set()
    for key, value in properties.items():
        if is_secret(key):
            found |= {value, *(value.split(":", 1)[1:] if "credential" in key else ())}
        elif "://" in value:
            found |= _of_url(value)
    return {secret for secret in found if secret}


def keep(secrets: Iterable[str]) -> None:
    """Register secrets: from then on, `clean` masks them in every text."""
    new = {secret for secret in secrets if len(secret) >= LEAST_CHARACTERS} - _kept
    if new:
        _kept.update(new)
        spelled = {form for secret in _kept for form in (secret, quote(secret, safe=""), quote_plus(secret))}
        _any[:] = [re.compile("|".join(map(re.escape, sorted(spelled, key=len, reverse=True))))]


def clean(text: str) -> str:
    """The text with registered secrets, user information in URLs, and values of secret-looking parameters masked."""
    text = _USERINFO.sub(f"{HIDDEN}@", text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    text = _QUERY.sub(rf"\1\2{HIDDEN}", text)
    # Last, because a secret that is an ordinary word could hide the names by which the other patterns match.
    for pattern in _any:
        text = pattern.sub(HIDDEN, text)
    return text


_PLACE = re.compile(
    r"(?i)\b(?!(?:s3|s3a|s3n|gs|abfss?|wasbs?|hdfs|oss)://)[a-z][a-z0-9+.-]*:/+[^\s'\")\],;]*"
    r"|(?<![\w~./:>-])(?:~|\.{1,2})?/(?!api/v1|login|docs)[^\s'\")\],:;]+"
    r"|\b[A-Za-z]:\\\\?[^\s'\")\],;]+"
)
"""Addresses with a scheme other than those of object stores, and local paths."""


def placeless(text: str) -> str:
    """The text without local paths and addresses of this installation, for responses. Locations in object stores stay:
    they are facts of the lake, which callers with scope `read` see anyway.
    """
    return _PLACE.sub("…", clean(text))


def _of_url(url: str) -> set[str]:
    try:
        parts = urlsplit(url)
        password, query = parts.password, parse_qsl(parts.query)
    except ValueError:
        return set()
    found = {value for key, value in query if is_secret(key)}
    return found | ({password, unquote(password)} if password else set())
