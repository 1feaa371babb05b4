"""`deletes_not_materialized`: rows were deleted by delete files, and the data files still contain them.

It opens once a live delete file is too old, or a tenth of the rows has been deleted for days. It closes when the files
are rewritten. Where the table promises erasure (`limnograph.erasure-days`), the snapshots from before that must be gone
too, because they still reach the old files.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import UNKNOWN, Flags, Floats, Ints, TableFacts, last_known
from limnograph.analysis.findings.level import NEVER
from limnograph.analysis.findings.stretch import Stretch, ended
from limnograph.domain.finding_limits import DAY, ERASURE_DAYS, FindingLimits
from limnograph.domain.time import Micros


class DeletedRows(NamedTuple):
    """Instants in microseconds.

    oldest       commit of the oldest live delete file, or a later instant; None: there is none, or it is unknown
    due          when that file is too old
    since        since when too large a share of the rows is deleted; None while it is not
    files        delete files after the last known move
    records      rows after the last known move
    cleaned      commit that rewrote the files, while snapshots from before it keep an erasure incomplete
    erases       whether the table promises erasure
    """

    oldest: Micros | None = None
    due: Micros = NEVER
    since: Micros | None = None
    files: int = 0
    records: float | None = None
    cleaned: Micros | None = None
    erases: bool = False
    open: Stretch | None = None
    past: tuple[Stretch, ...] = ()

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Every stretch."""
        return (*self.past, *([self.open] if self.open else []))


class _Moves(NamedTuple):
    """Known moves. `oldest`: NaN: none; `over`, `under`: whether the share of deleted rows is above its limit, or below
    the one at which it no longer counts; `ages`: of delete files that are too old; `snapshots`: commit of the oldest
    snapshot that no branch or tag needs, NaN: none.
    """

    times: Ints
    ids: Ints
    oldest: Floats
    over: Flags
    under: Flags
    ages: Floats
    snapshots: Floats
    erases: Flags


def advance(state: DeletedRows, facts: TableFacts, *, until: Micros, limits: FindingLimits) -> DeletedRows:
    """The state after more moves, and at the instant `until`. O(moves); only those at which something turns are looked
    at one by one.
    """
    known = np.flatnonzero(facts.integers("total_delete_files") != UNKNOWN)
    files = facts.integers("total_delete_files")[known]
    if len(known) and (state.files or state.open or (files > 0).any()):
        moves = _moves(state, facts, known, limits)
        for place in _turns(moves).tolist():
            at = Micros(int(moves.times[place]))
            state = _after(_settled(state, Micros(at - 1), limits), moves, place)
    if len(known):
        rows = last_known(state.records, facts.numbers("total_records"))[-1]
        state = state._replace(files=int(files[-1]), records=None if np.isnan(rows) else float(rows))
    return _settled(state, until, limits)


def due(state: DeletedRows, limits: FindingLimits) -> Micros:
    """When it opens although nothing is committed; NEVER if it does not."""
    return NEVER if state.open is not None else _opens(state, limits)


def _opens(state: DeletedRows, limits: FindingLimits) -> Micros:
    return Micros(min(state.due, NEVER if state.since is None else state.since + limits.deleted_for))


def _settled(state: DeletedRows, until: Micros, limits: FindingLimits) -> DeletedRows:
    opens = _opens(state, limits)
    if state.open is not None or opens > until:
        return state
    began = Micros(min(state.due, opens if state.since is None else state.since))
    return state._replace(open=Stretch(began, opens))


def _after(state: DeletedRows, moves: _Moves, place: int) -> DeletedRows:
    """The state after one move."""
    at, oldest = Micros(int(moves.times[place])), moves.oldest[place]
    since = state.since
    if moves.over[place]:
        since = at if since is None else since
    elif moves.under[place]:
        since = None
    due_ = NEVER if np.isnan(oldest) else Micros(int(oldest + moves.ages[place]))
    erases = bool(moves.erases[place])
    state = state._replace(
        oldest=None if np.isnan(oldest) else Micros(int(oldest)), due=due_, since=since, erases=erases
    )
    if state.open is None or due_ <= at or since is not None:
        return state._replace(cleaned=None)
    cleaned = at if state.cleaned is None else state.cleaned
    snapshots = moves.snapshots[place]
    if erases and not np.isnan(snapshots) and snapshots < cleaned:
        return state._replace(cleaned=cleaned)
    closed = state.open._replace(closed=at, closed_by=str(int(moves.ids[place])))
    return state._replace(open=None, past=ended(state.past, closed), cleaned=None)


def _turns(moves: _Moves) -> Ints:
    """Moves at which something changes: all of them where the table promises erasure."""
    oldest = np.nan_to_num(moves.oldest, nan=-1.0)
    turns = moves.erases.copy()
    turns[0] = True
    for column in (oldest, moves.over, moves.under, moves.ages):
        turns[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(turns)


def _moves(state: DeletedRows, facts: TableFacts, known: Ints, limits: FindingLimits) -> _Moves:
    files = facts.integers("total_delete_files")[known]
    rows = last_known(state.records, facts.numbers("total_records"))[known]
    deleted = facts.numbers("total_position_deletes")[known]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(files == 0, 0.0, np.where(rows > 0, deleted / rows, np.nan))
    promised = facts.property_numbers(ERASURE_DAYS, np.nan)
    days = np.broadcast_to(promised, facts.times.shape)[known]
    return _Moves(
        facts.times[known],
        facts.ids[known],
        _oldest(state, facts, known, files),
        share >= limits.deleted_share,
        share < limits.below * limits.deleted_share,
        np.where(np.isnan(days), limits.deletes_days, days) * DAY,
        facts.numbers("oldest_snapshot_at")[known],
        ~np.isnan(days),
    )


def _oldest(state: DeletedRows, facts: TableFacts, known: Ints, files: Ints) -> Floats:
    """Commit of the oldest live delete file, per move. Where it expired, the file is still there if none was removed
    since it was known; otherwise it is at least as old as the oldest snapshot.
    """
    found = facts.numbers("oldest_delete_at")[known]
    fewer = np.diff(np.concatenate([[state.files], files])) < 0
    removed = fewer | (facts.integers("removed_delete_files")[known] > 0)
    started = np.where(removed, np.arange(len(known)), -1)
    segment = np.maximum.accumulate(started)
    at = np.maximum.accumulate(np.where(np.isnan(found), -1, np.arange(len(known))))
    carried = np.where(at >= np.maximum(segment, 0), found[np.maximum(at, 0)], np.nan)
    if state.oldest is not None and state.files > 0:
        carried = np.where((segment < 0) & np.isnan(carried), float(state.oldest), carried)
    expired = np.where(np.isnan(carried), facts.numbers("oldest_snapshot_at")[known], carried)
    oldest: Floats = np.where(files == 0, np.nan, np.where(np.isnan(found), expired, found))
    return oldest
