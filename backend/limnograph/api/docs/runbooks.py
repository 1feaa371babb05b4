"""`/docs/runbooks/NAME`: the target of an alert's `runbook_url`. The text of docs/runbooks; contains no data."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from limnograph.api.wire.access import OPEN

_PLACES = (Path(__file__).parents[2] / "_runbooks", Path(__file__).parents[4] / "docs" / "runbooks")
"""Folders of the runbooks: in the wheel, and in a checkout."""


@cache
def runbooks() -> dict[str, str]:
    """All runbooks by name; empty if they were not packaged."""
    place = next((place for place in _PLACES if place.is_dir()), None)
    files = () if place is None else sorted(place.glob("*.md"))
    return {file.stem: file.read_text(encoding="utf-8") for file in files if file.stem != "README"}


@get("/docs/runbooks/{name:str}", include_in_schema=False, sync_to_thread=True, opt=OPEN)
def runbook(name: FromPath[str]) -> Response[str]:
    """One runbook."""
    found = runbooks().get(name)
    if found is None:
        raise NotFoundException(detail=f"no such runbook; choose from {', '.join(runbooks()) or 'none'}")
    return Response(found, media_type="text/plain; charset=utf-8", headers={"cache-control": "no-cache"})
