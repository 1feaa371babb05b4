"""What a team wrote about findings, commits, incidents and tables: rows of the meta table `notes`. The server stores
them in the inbox; the pipeline appends them. A row is an event: it creates a note, replaces the newest event of one,
or, without text and without `until`, deletes it. Rows are never changed.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import STRING, TIMESTAMPTZ, Col
from limnograph.domain.time import Micros


class NoteFact(msgspec.Struct, frozen=True, kw_only=True):
    """One event of a note; key `event_id`. The newest event of a chain of `replaces` is the note's state."""

    event_id: Annotated[
        str,
        Col(
            1,
            STRING,
            "identity: of a first event from the caller and its key, of another one from the event that it replaces, "
            "so that an event is replaced once",
            True,
        ),
    ]
    at: Annotated[Micros | None, Col(2, TIMESTAMPTZ, "when it was written")] = None
    kind: Annotated[str | None, Col(3, STRING, "`note`, `ack` (an acknowledgement) or `owner`")] = None
    scope: Annotated[
        str | None, Col(4, STRING, "what it is about: `finding`, `commit`, `alert`, `range` or `table`")
    ] = None
    target: Annotated[
        str | None, Col(5, STRING, "id of the finding, snapshot id, or fingerprint of the alert; null: the table")
    ] = None
    table_uuid: Annotated[str | None, Col(6, STRING, "identity of the table's history; null: unknown")] = None
    catalog: Annotated[str | None, Col(7, STRING, "catalog of the table")] = None
    namespace: Annotated[str | None, Col(8, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(9, STRING, "table name")] = None
    range_from: Annotated[
        Micros | None, Col(10, TIMESTAMPTZ, "where it is drawn: start of the finding, commit, alert or range")
    ] = None
    range_to: Annotated[Micros | None, Col(11, TIMESTAMPTZ, "end of a range; null for other scopes")] = None
    text: Annotated[
        str | None, Col(12, STRING, "what was written, plain text; of `owner`: the owner; null or empty: none")
    ] = None
    author: Annotated[str | None, Col(13, STRING, "who wrote it")] = None
    until: Annotated[Micros | None, Col(14, TIMESTAMPTZ, "end of an acknowledgement; null for other kinds")] = None
    severity: Annotated[
        str | None, Col(15, STRING, "severity of the finding when it was acknowledged; null for other kinds")
    ] = None
    replaces: Annotated[str | None, Col(16, STRING, "event that this one replaces; null: the first event")] = None
    observed_at: Annotated[Micros | None, Col(17, TIMESTAMPTZ, "when it was accepted")] = None
