"""Opaque cursors: where the next page begins, and the query that it belongs to.

A cursor contains every parameter of its list as resolved for the first page, including `from` and `to`, so that a
client may send it alone. The server stores nothing and does not trust a cursor: it validates the parameters as if the
caller had sent them (docs/adr/0031).
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any, Literal

import msgspec

from limnograph.domain.answers.effect_ledger import LedgerVerdict, Measure
from limnograph.domain.answers.findings import AcknowledgedFilter
from limnograph.domain.answers.notes import NoteKind, NoteScope
from limnograph.domain.errors import InvalidInput
from limnograph.domain.finding_codes import FindingCode, FindingSeverity
from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.forecasts.pages import RiskState
from limnograph.domain.queries import (
    CommitSort,
    CommitsQuery,
    Direction,
    EffectsQuery,
    FindingsQuery,
    FleetQuery,
    FleetSort,
    ForecastsQuery,
    MaintenanceQuery,
    NotesQuery,
    TableFormat,
)
from limnograph.domain.time import Millis

Kind = Literal["tables", "commits", "alerts", "effects", "findings", "notes", "maintenance", "forecasts"]
Position = list[int | float | str]
UNKNOWN = "is not a valid cursor; omit it to start at the first page"
_LEAST, _MOST = -(2**63), 2**63 - 1


class CursorQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Parameters that stay the same from page to page, by their wire names; None if not set.

    `of`: the kind of list. `table`: the table, if the list is of one. Times are epoch ms.
    """

    of: Kind
    table: str | None = None
    start: Millis | None = msgspec.field(name="from", default=None)
    end: Millis | None = msgspec.field(name="to", default=None)
    q: str | None = None
    ns: str | None = None
    sort: FleetSort | CommitSort | None = None
    dir: Direction | None = None
    grew: float | None = None
    within: int | None = None
    cmp: int | None = None
    operation: str | None = None
    min_added_data_files: int | None = None
    schema_changed: bool | None = None
    state: Literal["firing", "resolved", "unknown", "open", "closed"] | RiskState | None = None
    plan_states: str | None = None
    only_table: str | None = None
    owner: str | None = None
    action: str | None = None
    rule: str | None = None
    writer: str | None = None
    user: str | None = None
    job: str | None = None
    measure: Measure | None = None
    metric: ForecastMetric | None = None
    verdict: LedgerVerdict | None = None
    severity: FindingSeverity | None = None
    code: FindingCode | None = None
    acknowledged: AcknowledgedFilter | None = None
    scope: NoteScope | None = None
    target_id: str | None = None
    planning: float | None = None
    missed: float | None = None
    kind: NoteKind | None = None
    format: TableFormat | None = None
    has_job: bool | None = None

    def value(self, parameter: str) -> Any:
        """The value of a parameter, by its wire name."""
        if (self.of, parameter) == ("maintenance", "state"):
            return self.plan_states
        return getattr(self, _ATTRIBUTES.get(parameter, parameter))


_ATTRIBUTES = {"from": "start", "to": "end", "table": "only_table"}


class _Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    question: CursorQuery
    position: Position


_decoder = msgspec.json.Decoder(_Cursor)


def of_tables(query: FleetQuery) -> CursorQuery:
    """The query of a page of tables."""
    return CursorQuery(
        of="tables",
        start=query.start,
        end=query.end,
        q=query.text or None,
        ns=query.namespace or None,
        sort=query.sort,
        dir=query.direction,
        grew=query.grew,
        within=query.growth_within_s,
        cmp=query.compare_s,
        severity=query.severity,
        code=query.code,
        acknowledged=query.acknowledged,
        owner=query.owner or None,
        format=query.format,
        has_job=query.has_job,
        planning=query.planning_s,
        missed=query.missed,
    )


def of_commits(query: CommitsQuery) -> CursorQuery:
    """The query of a page of commits."""
    return CursorQuery(
        of="commits",
        table=None if query.table is None else str(query.table),
        start=query.start,
        end=query.end,
        operation=query.operation,
        min_added_data_files=query.min_added_data_files,
        schema_changed=query.schema_changed,
        writer=query.writer or None,
        user=query.user or None,
        sort=None if query.sort == "newest" else query.sort,
    )


def of_effects(query: EffectsQuery) -> CursorQuery:
    """The query of a page of the effect ledger."""
    return CursorQuery(
        of="effects",
        start=query.start,
        end=query.end,
        only_table=query.table or None,
        owner=query.owner or None,
        action=query.action or None,
        writer=query.writer or None,
        job=query.job or None,
        measure=query.measure,
        verdict=query.verdict,
    )


def of_maintenance(query: MaintenanceQuery) -> CursorQuery:
    """The query of a page of recommended plans."""
    return CursorQuery(
        of="maintenance",
        plan_states=",".join(sorted(query.states)) or None,
        rule=query.rule or None,
        action=query.action or None,
        owner=query.owner or None,
        q=query.text or None,
    )


def of_forecasts(query: ForecastsQuery) -> CursorQuery:
    """The query of a page of forecasts."""
    return CursorQuery(
        of="forecasts",
        state=query.state,
        metric=query.metric,
        only_table=query.table or None,
        owner=query.owner or None,
    )


def of_findings(query: FindingsQuery) -> CursorQuery:
    """The query of a page of findings."""
    return CursorQuery(
        of="findings",
        start=query.start,
        end=query.end,
        state=query.state,
        severity=query.severity,
        code=query.code,
        only_table=query.table or None,
        owner=query.owner or None,
        acknowledged=query.acknowledged,
    )


def of_notes(query: NotesQuery) -> CursorQuery:
    """The query of a page of notes."""
    return CursorQuery(
        of="notes",
        start=query.start,
        end=query.end,
        scope=query.scope,
        target_id=query.target_id or None,
        kind=query.kind,
        only_table=query.table or None,
    )


def encode(question: CursorQuery, position: Position) -> str:
    """A cursor that points after `position`: the sort key of a row, and a tie-breaker."""
    return base64.urlsafe_b64encode(msgspec.json.encode(_Cursor(question, position))).decode().rstrip("=")


def question_of(cursor: str) -> CursorQuery:
    """The query that a cursor contains. Raises InvalidInput, which names `cursor`."""
    return _decoded(cursor).question


def decode(question: CursorQuery, cursor: str, kinds: tuple[type, ...]) -> Position:
    """The position that a cursor points after. Checks that its items have the types `kinds` (an integer is accepted as
    a float) and that numbers fit 64 bits. Raises InvalidInput, which names `cursor`.
    """
    found = _decoded(cursor)
    if found.question != question:
        raise InvalidInput("cursor", "belongs to another query; omit it to start at the first page")
    if len(found.position) != len(kinds):
        raise InvalidInput("cursor", UNKNOWN)
    return [_checked(item, kind) for item, kind in zip(found.position, kinds, strict=True)]


def _decoded(cursor: str) -> _Cursor:
    try:
        body = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), b"-_", validate=True)
        return _decoder.decode(body)
    except (binascii.Error, UnicodeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidInput("cursor", UNKNOWN) from error


def _checked(item: float | str, kind: type) -> int | float | str:
    fits = isinstance(item, int | float) if kind is float else type(item) is kind
    if fits and (isinstance(item, str) or (_LEAST <= item <= _MOST and math.isfinite(item))):
        return item
    raise InvalidInput("cursor", UNKNOWN)
