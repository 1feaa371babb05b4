"""The only table of the inbox, and its in-place upgrade. Columns are only ever added."""

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


def prepare(engine: sa.Engine) -> None:
    """Create the table, or add the columns that an older one lacks. Safe to run concurrently: only the final state
    counts. Raises SQLAlchemyError.
    """
    try:
        _METADATA.create_all(engine)
        for column in _missing(engine):
            kind = column.type.compile(engine.dialect)
            with engine.begin() as connection:
                connection.execute(sa.text(f"alter table inbox add column {column.name} {kind}"))
    except SQLAlchemyError:
        if not sa.inspect(engine).has_table(ITEMS.name) or _missing(engine):
            raise


def _missing(engine: sa.Engine) -> list[sa.Column[object]]:
    present = {column["name"] for column in sa.inspect(engine).get_columns(ITEMS.name)}
    return [column for column in ITEMS.columns if column.name not in present]
