"""Write, audit, publish: a job writes to a branch, checks run there, and main moves only if all of them pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lakehouse.parts.lake import Lake


class QualityCheck(NamedTuple):
    """`bad_rows`: a condition that no row may meet, more than `limit` times."""

    name: str
    bad_rows: str
    limit: int = 0


class GateRefused(Exception):
    """A branch did not pass; main is as it was. `failed`: number of bad rows by check; `snapshot_id`: what the branch
    pointed at.
    """

    def __init__(self, table: str, failed: dict[str, int], snapshot_id: int | None) -> None:
        self.table, self.failed, self.snapshot_id = table, failed, snapshot_id
        super().__init__(f"{table}: {', '.join(f'{name}: {rows} rows' for name, rows in failed.items())}")


def publish(lake: Lake, table: str, checks: Sequence[QualityCheck], write: Callable[[str], None]) -> None:
    """Let `write` write to the branch that it is given, and move main to it. Raises GateRefused; the branch is gone
    then.
    """
    branch = "audit"
    lake.sql(f"alter table {table} create or replace branch {branch}")
    write(f"{table}.branch_{branch}")
    found = {check.name: _bad_rows(lake, table, branch, check) for check in checks}
    failed = {check.name: found[check.name] for check in checks if found[check.name] > check.limit}
    written = lake.snapshot(table, branch)
    if not failed:
        name = table.removeprefix("lake.")
        lake.sql(f"call lake.system.fast_forward('{name}', 'main', '{branch}')")
    lake.sql(f"alter table {table} drop branch {branch}")
    if failed:
        raise GateRefused(table, failed, written)


def _bad_rows(lake: Lake, table: str, branch: str, check: QualityCheck) -> int:
    return int(lake.one(f"select count(*) from {table} version as of '{branch}' where {check.bad_rows}"))
