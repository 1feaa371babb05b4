"""Wire structs of the search over all tables. Ids are text, instants epoch ms, null = unknown or not applicable."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

MatchKind = Literal["commit", "alert", "finding", "table", "job", "application"]


class Match(View, frozen=True, kw_only=True):
    """What a text names. `id`: the snapshot id, fingerprint, finding id, full table name, job or application. `path`:
    its page in the dashboard. `name`: alert name, code of the finding, or the table's `reason`. The table is that of
    the commit, alert or finding; of a job or an application, one of `tables`. `at`: when it was committed, began to
    fire, or opened; of an application, its newest commit. `commits`: of an application, in memory.
    """

    kind: MatchKind
    id: str
    path: str
    catalog: str | None = None
    namespace: str | None = None
    table: str | None = None
    name: str | None = None
    at: Millis | None = None
    tables: int | None = None
    commits: int | None = None


class Matches(View, frozen=True, kw_only=True):
    """What matches, the most certain first: ids, then tables, jobs and applications. `not_searched`: sources that did
    not respond, so that what they know is missing.
    """

    rows: list[Match]
    not_searched: list[Literal["meta"]]
