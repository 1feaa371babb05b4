"""Search over the whole fleet."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from limnograph.api.wire.access import LAKE_PAGE
from limnograph.api.wire.problems import documented
from limnograph.domain.answers.matches import Matches
from limnograph.domain.errors import InvalidInput
from limnograph.services.find.finder import MOST_CHARS
from limnograph.services.server.backend import Backend

MOST = 20
Wanted = Annotated[
    str,
    QueryParameter(
        name="q",
        description="A snapshot id; the beginning of an alert fingerprint or a finding id, at least 6 characters; or a "
        "part of the name of a table, job or application, case-insensitive. Applications are found by their id or "
        "name, from 3 characters on.",
        schema_extra={"maxLength": MOST_CHARS},
    ),
]
PerKind = Annotated[
    int,
    QueryParameter(name="limit", description="Results of each kind.", schema_extra={"minimum": 1, "maximum": MOST}),
]


@get("/find", operation_id="find", summary="Find by id or name", responses=documented(503), opt=LAKE_PAGE)
async def find(backend: NamedDependency[Backend], *, text: Wanted = "", limit: PerKind = 8) -> Matches:
    """What a text names: commits, alerts, findings, tables, jobs and applications of all tables. Answered from memory;
    for a snapshot id that is not there, the meta tables are searched.
    """
    if not 1 <= limit <= MOST:
        raise InvalidInput("limit", f"must be between 1 and {MOST}")
    if len(text) > MOST_CHARS:
        raise InvalidInput("q", f"must have at most {MOST_CHARS} characters")
    return await backend.finder.find(text, limit)


HANDLERS: list[Any] = [find]
