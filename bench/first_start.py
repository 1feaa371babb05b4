"""Cost of a first start: processor seconds of server, watcher and parser until the fleet shows tables."""

from __future__ import annotations

import sys

from rows import HERE, Bench, Row

sys.path.insert(0, str(HERE.parent / "tests"))

GOAL_CPU_S = 15.0
TABLES = 4


def first_tables(bench: Bench) -> list[Row]:
    """One processor, nothing compiled, nothing cached."""
    from served_lake import ROWS, small_lake
    from starved import first_start

    catalog = small_lake(bench.scratch)
    for number in range(1, TABLES):
        catalog.create_table(f"sales.t{number}", ROWS.schema).append(ROWS)
    found = first_start(bench.scratch, TABLES, 1.0, 600)
    note = f"limit of the goal; CPU of all processes, one processor, an empty cache; wall {found.seconds:.0f} s"
    return [Row("start.first_tables", found.cpu_s, GOAL_CPU_S, "s", 1, note)]


MEASURES = {"first_start": first_tables}
