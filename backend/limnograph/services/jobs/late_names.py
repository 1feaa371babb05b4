"""Names of tables that Limnograph did not know when their run was reported: the first run of a table often creates it.

The row in `runs` keeps what was reported; the server names the tables in memory. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.time import Micros

PATIENCE_US = 3_600_000_000
"""How long after a report its tables are looked up again. A new table is known within minutes; topics and files, which
are never tables, would be looked up for ever."""


class LateNaming(NamedTuple):
    """`name`: a table with the name and selector that it has by now, None while it is not known. `version`: another
    object after the known tables changed.
    """

    name: Callable[[RunTable], RunTable | None]
    version: Callable[[], object]


def is_unnamed(run: RunFact) -> bool:
    """Whether a table of a run has no name."""
    return any(table.catalog is None for table in run.tables or ())


def may_be_named(run: RunFact, now: Micros) -> bool:
    """Whether to look up the tables of a run again."""
    return now - (run.observed_at or 0) < PATIENCE_US


def named(transitions: Mapping[str, RunFact], naming: LateNaming) -> dict[str, RunFact]:
    """Those transitions of a run in which a table has a name now that had none, by status."""
    found = {status: _with_names(fact, naming) for status, fact in transitions.items()}
    return {status: fact for status, fact in found.items() if fact is not transitions[status]}


def _with_names(run: RunFact, naming: LateNaming) -> RunFact:
    """The same object if no table has a new name."""
    tables = [(naming.name(table) if table.catalog is None else None) or table for table in run.tables or ()]
    if all(new is old for new, old in zip(tables, run.tables or (), strict=True)):
        return run
    return msgspec.structs.replace(run, tables=tables)
