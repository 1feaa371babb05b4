"""Statistics of a table's columns as the API returns them. Wire structs, as `domain/answers/tables.py`.

Ids are text, instants epoch ms, shares 0 to 1; null = unknown, never 0. Numbers describe the data files that commits
added, not the whole table.
"""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.partitions import SpanMs
from limnograph.domain.answers.structure import PageHead
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis


class ColumnPoint(View, frozen=True, kw_only=True):
    """A column in the files that a commit added, or those of all commits of a span that begins at `t`. `snapshot_id`
    null: of several commits. `lower`, `upper`: numbers; of dates and timestamps, seconds since the epoch.
    """

    t: Millis
    snapshot_id: str | None
    values: int | None
    nulls: int | None
    null_share: float | None
    nan_share: float | None
    lower: float | None
    upper: float | None


class ColumnSeries(View, frozen=True, kw_only=True):
    """A column in the range. `lower` and `upper` are the outermost bounds, as text. `bounds`: `shown`, `private` (the
    column has counts only), `text` (its bounds are values of the data, and no setting names it), `none` (its type has
    none, or no file states them). `distinct`: values of the whole table, estimated by its newest statistics file.
    """

    id: int
    name: str
    type: str | None
    values: int | None
    nulls: int | None
    null_share: float | None
    nans: int | None
    nan_share: float | None
    lower: str | None
    upper: str | None
    bounds: Literal["shown", "private", "text", "none"]
    distinct: int | None
    points: list[ColumnPoint]


class ColumnsPage(PageHead, frozen=True, kw_only=True):
    """Columns of a table in a range. `commits`: those with statistics, at most one a minute. `step_s`: seconds that a
    point stands for; null: each is a commit. `not_known`: why there are none.
    """

    range: SpanMs
    commits: int
    step_s: int | None
    columns: list[ColumnSeries]
    not_known: str | None
