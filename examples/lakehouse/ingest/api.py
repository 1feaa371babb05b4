"""Reads a paged HTTP API: waits after 429, and maps names of an older or newer schema to the lake's own."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

ATTEMPTS = 5
LONGEST_WAIT_S = 2.0
RENAMED = {"value": "rate"}
"""Columns that the API has renamed: the lake keeps one name."""


class ApiRefused(Exception):
    """The API refused a page more often than we ask again."""


def rates(url: str) -> list[dict[str, Any]]:
    """All rows of all pages. Raises ApiRefused."""
    return [row for page in _pages(url) for row in map(adapt, page)]


def adapt(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row by the lake's names."""
    return {RENAMED.get(key, key): value for key, value in row.items()}


def _pages(url: str) -> Iterator[list[dict[str, Any]]]:
    page: int | None = 0
    while page is not None:
        answer = _page(f"{url}/rates?page={page}")
        yield answer["rows"]
        page = answer["next"]


def _page(url: str) -> Any:
    for attempt in range(ATTEMPTS):
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own loopback address
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise
            asked = float(error.headers.get("Retry-After", "1"))
            time.sleep(min(LONGEST_WAIT_S, asked + 0.05 * 2**attempt))
    raise ApiRefused(f"{url} answered 429 {ATTEMPTS} times")
