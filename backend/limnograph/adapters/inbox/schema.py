"""Tables of the inbox's database, and their in-place upgrade. Columns are only ever added.

The drain empties `inbox`. The other tables are state: what users and executors decided, and what they hold.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

_METADATA = sa.MetaData()
ITEMS = sa.Table(
    "inbox",
    _METADATA,
    sa.Column("kind", sa.String(32), primary_key=True),
    sa.Column("key", sa.String(1200), primary_key=True),
    sa.Column("payload", sa.LargeBinary, nullable=False),
    sa.Column("accepted_at", sa.BigInteger, nullable=False, index=True),
    sa.Column("committed_at", sa.BigInteger, nullable=True),
)
PLANS = sa.Table(
    "plan_state",
    _METADATA,
    sa.Column("plan_id", sa.String(200), primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("state", sa.String(32), nullable=False, index=True),
    sa.Column("table_uuid", sa.String(200), nullable=False, index=True),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("fact", sa.LargeBinary, nullable=False),
)
"""The last transition of each plan. `fact`: PlanFact as JSON."""
OUTCOMES = sa.Table(
    "plan_outcome",
    _METADATA,
    sa.Column("plan_id", sa.String(200), primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("table_uuid", sa.String(200), nullable=False, index=True),
    sa.Column("at", sa.BigInteger, nullable=False, index=True),
    sa.Column("fact", sa.LargeBinary, nullable=False),
)
"""Transitions of the last month that say what became of an action."""
LEASES = sa.Table(
    "maintenance_lease",
    _METADATA,
    sa.Column("table_uuid", sa.String(200), primary_key=True),
    sa.Column("executor_id", sa.String(200), nullable=False),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("until", sa.BigInteger, nullable=False),
    sa.Column("held", sa.Boolean, nullable=False),
    sa.Column("lease", sa.LargeBinary, nullable=False),
)
"""The last lease of each table. `held`: not released. `lease`: TableLease as JSON, with its first end."""
BUDGETS = sa.Table(
    "maintenance_budget",
    _METADATA,
    sa.Column("day", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Double, nullable=False),
)
BREAKERS = sa.Table(
    "maintenance_breaker",
    _METADATA,
    sa.Column("key", sa.String(200), primary_key=True),
    sa.Column("opened_at", sa.BigInteger, nullable=False),
    sa.Column("breaker", sa.LargeBinary, nullable=False),
)
"""Open breakers. `breaker`: MaintenanceBreaker as JSON."""
_ATTEMPTS = 2 * len(_METADATA.tables)


def prepare(engine: sa.Engine) -> None:
    """Create the tables, or add the columns that older ones lack. Safe to run concurrently: only the final state
    counts. Raises SQLAlchemyError.
    """
    for attempt in range(_ATTEMPTS):
        try:
            _METADATA.create_all(engine)
            for table, column in _missing(engine):
                kind = column.type.compile(engine.dialect)
                with engine.begin() as connection:
                    connection.execute(sa.text(f"alter table {table} add column {column.name} {kind}"))
        except SQLAlchemyError:
            # Another process may have created what this one was about to create.
            if attempt == _ATTEMPTS - 1 or not sa.inspect(engine).has_table(ITEMS.name):
                raise
        else:
            return


def _missing(engine: sa.Engine) -> list[tuple[str, sa.Column[object]]]:
    found = []
    for table in _METADATA.sorted_tables:
        present = {column["name"] for column in sa.inspect(engine).get_columns(table.name)}
        found += [(table.name, column) for column in table.columns if column.name not in present]
    return found
