"""Findings from changes that are not commits: schema, partition spec, unreadable metadata, gaps in the history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from limnograph.analysis.findings.facts import TableChange
from limnograph.analysis.findings.level import NEVER
from limnograph.analysis.findings.stretch import Stretch
from limnograph.analysis.schema.diff import compare
from limnograph.analysis.schema.field_trees import tree_of
from limnograph.domain.finding_codes import FindingCode
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

Detail = str | int | float | None
_BREAKING = frozenset({"dropped", "renamed", "retyped", "reparented", "required"})
_NOTABLE = frozenset({"added", "promoted", "optional"})
_MOST_NAMED = 5


class Happening(NamedTuple):
    """One episode of a code, with what a sentence about it needs. `expires`: when an open one closes by itself."""

    code: FindingCode
    stretch: Stretch
    evidence: dict[str, Detail]
    expires: Micros | None = None


def happenings(changes: Sequence[TableChange], *, until: Micros, limits: FindingLimits) -> list[Happening]:
    """Episodes that began by an instant and had not ended a week before it. O(changes)."""
    return [*_joined(_schema_events(changes, until, limits), until, limits), *_unreadable(changes, until)]


def due(found: Sequence[Happening]) -> Micros:
    """When the next of them expires; NEVER if none does."""
    return min((each.expires for each in found if each.expires is not None), default=NEVER)


class _Event(NamedTuple):
    code: FindingCode
    at: Micros
    evidence: dict[str, Detail]


def _schema_events(changes: Sequence[TableChange], until: Micros, limits: FindingLimits) -> Iterator[_Event]:
    since = until - 4 * limits.expires_after
    before: TableChange | None = None
    for change in changes:
        if change.at > until:
            continue
        if change.kind == "schema":
            known, before = before, change
            if change.from_value is not None and change.at >= since:
                yield from _of_schemas(known, change)
        elif change.kind == "spec" and change.from_value is not None and change.at >= since:
            yield _Event("spec_changed", change.at, {"from": change.from_value, "to": change.to_value})
        elif change.kind == "gap" and change.at >= since:
            yield _Event("history_gap", change.at, {"from": change.from_value, "to": change.to_value})


def _of_schemas(before: TableChange | None, change: TableChange) -> Iterator[_Event]:
    versions: dict[str, Detail] = {"from": change.from_value, "to": change.to_value}
    old = tree_of(before.detail) if before is not None and before.to_value == change.from_value else None
    new = tree_of(change.detail)
    if old is None or new is None:
        yield _Event("schema_changed", change.at, versions)
        return
    found = compare(old, new)
    for code, kinds in (("schema_breaking", _BREAKING), ("schema_changed", _NOTABLE)):
        said = [each.sentence for each in found if each.kind in kinds]
        if said:
            named: dict[str, Detail] = {"what": "; ".join(said[:_MOST_NAMED]), "columns": len(said)}
            yield _Event(code, change.at, {**versions, **named})  # type: ignore[arg-type]


def _joined(events: Iterator[_Event], until: Micros, limits: FindingLimits) -> Iterator[Happening]:
    """Events of one code that overlap are one episode, with the evidence of the newest."""
    open_: dict[FindingCode, list[_Event]] = {}
    for event in events:
        known = open_.get(event.code)
        if known and event.at <= known[-1].at + limits.expires_after:
            known.append(event)
            continue
        if known:
            yield _happening(known, until, limits)
        open_[event.code] = [event]
    for known in open_.values():
        yield _happening(known, until, limits)


def _happening(events: Sequence[_Event], until: Micros, limits: FindingLimits) -> Happening:
    first, last = events[0], events[-1]
    ends = Micros(last.at + limits.expires_after)
    stretch = Stretch(first.at, first.at, peak=float(len(events)))
    evidence = {**last.evidence, "changes": len(events)}
    if ends > until:
        return Happening(first.code, stretch, evidence, expires=ends)
    return Happening(first.code, stretch._replace(closed=ends, closed_by="expired"), evidence)


def _unreadable(changes: Sequence[TableChange], until: Micros) -> Iterator[Happening]:
    began: TableChange | None = None
    for change in changes:
        if change.kind != "unreadable" or change.at > until:
            continue
        if change.to_value is not None:
            began = began or change
        elif began is not None:
            stretch = Stretch(began.at, began.at, closed=change.at, closed_by="retracted")
            yield Happening("unreadable", stretch, _problem(began))
            began = None
    if began is not None:
        yield Happening("unreadable", Stretch(began.at, began.at), _problem(began))


def _problem(change: TableChange) -> dict[str, Detail]:
    return {"problem": change.to_value, "what": change.detail}
