"""`/docs/runbooks/NAME`: the target of an alert's `runbook_url`. The text of docs/runbooks; contains no data. A browser
is redirected to the page of the dashboard that shows it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
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
def runbook(name: FromPath[str], request: Request[Any, Any, Any]) -> Response[str]:
    """One runbook: its page for a client that accepts HTML, otherwise its text."""
    found = runbooks().get(name)
    if found is None:
        raise NotFoundException(detail=f"no such runbook; choose from {', '.join(runbooks()) or 'none'}")
    headers = {"cache-control": "no-cache", "vary": "accept"}
    if "text/html" in request.headers.get("accept", ""):
        to = {"location": f"/runbooks/{name}", **headers}
        return Response("", status_code=303, media_type="text/plain; charset=utf-8", headers=to)
    return Response(found, media_type="text/plain; charset=utf-8", headers=headers)
