"""One PostgreSQL for all contract suites of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

import postgres


@pytest.fixture(scope="session")
def emptied() -> Iterator[Callable[[Sequence[str]], str]]:
    """Drops tables of a private PostgreSQL database, and returns its URL."""
    if postgres.program("initdb") is None:
        pytest.skip("PostgreSQL is not installed (make system)")
    import psycopg2

    with postgres.running("limnograph", "secret", "inbox") as address:
        host, port = address.split(":")

        def empty(tables: Sequence[str]) -> str:
            connection = psycopg2.connect(host=host, port=port, user="limnograph", password="secret", dbname="inbox")
            connection.autocommit = True
            with connection.cursor() as cursor:
                for table in tables:
                    cursor.execute(f"drop table if exists {table}")
            connection.close()
            return f"postgresql+psycopg2://limnograph:secret@{address}/inbox"

        yield empty
