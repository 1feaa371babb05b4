"""Appends and repairs of the meta tables that survive concurrent writers and lost replies. Does not decide what is
written. After a lost compare-and-set it re-reads, drops rows that exist by now, and writes the rest.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec
import pyarrow as pa

from limnograph import __version__
from limnograph.domain.errors import Conflict, SourceError, SourceUnavailable
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, ChangeFact, MetaTable
from limnograph.domain.time import Micros
from limnograph.ports.meta_store import Candidates, MetaStore, keys_of
from limnograph.services.pipeline.ledger import Ledger, ledger_at

ATTEMPTS = 20
"""Compare-and-set attempts before a pass gives up; the next pass finds the same rows to be new again."""
FAILURES = 8
"""Attempts that may fail in a row without a conflict, about five seconds: what fails for longer is not a lost reply."""


class WriteAttempts:
    """The attempts of one write: it fails or loses, waits, and is repeated. Used by one thread."""

    def __init__(self, what: str, progress: Callable[[str], None], sleep: Callable[[float], None] = time.sleep) -> None:
        self._what, self._progress, self._sleep = what, progress, sleep
        self._last: Conflict | SourceError | None = None
        self._made = self._failures = 0

    def __iter__(self) -> Iterator[int]:
        return iter(range(ATTEMPTS))

    def failed(self, error: Conflict | SourceError) -> None:
        """Wait for the next attempt. Raises SourceUnavailable after `FAILURES` in a row that are no conflict."""
        is_conflict = isinstance(error, Conflict)
        if str(error) != str(self._last):  # log a repeated failure once
            cause = "write conflict" if is_conflict else "write failed"
            self._progress(f"{self._what}: {cause} ({error}); retrying on the current state")
        self._last = error
        self._made += 1
        self._failures = 0 if is_conflict else self._failures + 1
        if self._failures == FAILURES:
            raise self.gave_up() from error
        self._sleep(random.uniform(0.05, 0.3) * min(self._made, 5))  # noqa: S311 - jitter, not a secret

    def gave_up(self) -> SourceUnavailable:
        """The error after the last attempt."""
        detail = self._last.detail if isinstance(self._last, SourceError) else str(self._last)
        message = f"{self._made} attempts to {self._what} failed; last error: {detail}"
        return SourceUnavailable("meta store", message)


class MetaAppender:
    """One writer of one store, for one thread. Every method raises SourceUnavailable if all its attempts lost, or if
    the store failed `FAILURES` times in a row.
    """

    def __init__(
        self,
        store: MetaStore,
        to_arrow: Callable[[Sequence[ChangeFact]], pa.Table],
        progress: Callable[[str], None] = lambda _line: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store, self._to_arrow, self._progress, self._sleep = store, to_arrow, progress, sleep

    def snapshots(self, rows: pa.Table, head: int | None, wanted: Sequence[Candidates], run_id: str) -> int:
        """Append rows and return their number. After a conflict or a lost reply rows that exist by now are dropped."""
        attempts = self._attempts("append to snapshots")
        for _ in attempts:
            if rows.num_rows == 0:
                return 0
            try:
                self._store.append(SNAPSHOTS, rows, head, run_id)
            except (Conflict, SourceError) as error:
                attempts.failed(error)
                head = self._store.head(SNAPSHOTS)
                known = self._store.known(head, wanted) if head is not None else {}
                keys = zip(rows.column("table_uuid").to_pylist(), rows.column("snapshot_id").to_pylist(), strict=True)
                rows = rows.filter(pa.array([key not in known.get(series, {}) for series, key in keys], pa.bool_()))
            else:
                return int(rows.num_rows)
        raise attempts.gave_up()

    def events(self, table: MetaTable, rows: pa.Table, run_id: str) -> int:
        """Append the rows whose keys do not exist and return their number. The caller passes each key once."""
        attempts = self._attempts(f"append to {table.name}")
        for _ in attempts:
            head = self._store.head(table)
            keys = keys_of(table, rows)
            held = self._store.held(table, head, keys) if head is not None else set()
            rows = rows.filter(pa.array([key not in held for key in keys], pa.bool_()))
            if rows.num_rows == 0:
                return 0
            try:
                self._store.append(table, rows, head, run_id)
            except (Conflict, SourceError) as error:
                attempts.failed(error)
            else:
                return int(rows.num_rows)
        raise attempts.gave_up()

    def changes(self, rows: list[ChangeFact], head: int | None, run_id: str, now: Micros) -> None:
        """Append rows. After a conflict or a lost reply the rows that are redundant by now are dropped."""
        attempts = self._attempts("append to changes")
        for _ in attempts:
            if not rows:
                return
            stamped = [
                msgspec.structs.replace(row, observed_at=now, run_id=run_id, extractor_version=__version__)
                for row in rows
            ]
            try:
                self._store.append(CHANGES, self._to_arrow(stamped), head, run_id)
            except (Conflict, SourceError) as error:
                attempts.failed(error)
                head = self._store.head(CHANGES)
                rows = still_new(rows, ledger_at(self._store, head))
            else:
                return
        raise attempts.gave_up()

    def repair(self, rows: pa.Table) -> None:
        """Replace rows by key. A repeated repair changes nothing, so a lost reply is simply retried."""
        attempts = self._attempts("repair snapshots")
        for _ in attempts:
            if rows.num_rows == 0:
                return
            try:
                self._store.replace(rows)
            except (Conflict, SourceError) as error:
                attempts.failed(error)
            else:
                return
        raise attempts.gave_up()

    def _attempts(self, what: str) -> WriteAttempts:
        return WriteAttempts(what, self._progress, self._sleep)


def still_new(rows: Sequence[ChangeFact], ledger: Ledger) -> list[ChangeFact]:
    """Rows that the ledger does not hold: events and main's log by key, states by value and time."""
    kept: list[ChangeFact] = []
    ledger.need(row.table_uuid for row in rows if row.table_uuid)
    for row in rows:
        if ledger.holds(row):
            continue
        ledger.add(row)
        kept.append(row)
    return kept
