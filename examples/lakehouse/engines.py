"""One question to each engine. An engine that cannot answer refuses with a sentence of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from lakehouse.parts.lake import Lake
from lakehouse.parts.places import KEY, REGION, SECRET, Places

QUESTION = "select count(*), cast(sum(amount) as decimal(18, 2)), sum(id) from {table}"


class EngineAnswer(NamedTuple):
    """`numbers`: count, sum of amounts, sum of ids; None where the engine refused, with its sentence."""

    numbers: tuple[int, Decimal, int] | None
    sentence: str = ""


def ask_all(lake: Lake, table: str) -> dict[str, EngineAnswer]:
    """The answer of each engine about a table with columns `id` and `amount`."""
    engines: dict[str, Callable[[], Any]] = {
        "spark": lambda: lake.sql(QUESTION.format(table=table))[0],
        "trino": partial(_by_trino, lake.places, table),
        "duckdb": lambda: duckdb_connection(lake.places).execute(QUESTION.format(table=table)).fetchone(),
        "pyiceberg": partial(_by_pyiceberg, lake, table),
        "polars": partial(_by_polars, lake, table),
    }
    return {name: _answer(ask) for name, ask in engines.items()}


def _answer(ask: Callable[[], Any]) -> EngineAnswer:
    try:
        count, amount, ids = ask()
    except Exception as error:  # noqa: BLE001 - each engine has exceptions of its own
        return EngineAnswer(None, " ".join(str(error).split())[:200])
    return EngineAnswer((int(count), round(Decimal(str(amount)), 2), int(ids)))


def trino_connection(places: Places, user: str = "lakehouse") -> Any:
    """A connection to the lakehouse's Trino. It trusts the name of the user: nothing here proves it."""
    import trino

    return trino.dbapi.connect(
        host="127.0.0.1",
        port=places.ports.trino,
        user=user,
        source="lakehouse",
        catalog="lake",
        request_timeout=60,
    )


def _by_trino(places: Places, table: str) -> Any:
    with trino_connection(places) as connection:
        cursor = connection.cursor()
        cursor.execute(QUESTION.format(table=table))
        return cursor.fetchone()


@cache
def duckdb_connection(places: Places) -> Any:
    """DuckDB with its extensions loaded by path: nothing is downloaded."""
    import duckdb

    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    for name in ("avro", "httpfs", "iceberg"):
        package = Path(str(importlib.import_module(f"duckdb_extension_{name}").__file__)).parent
        file = next(package.glob("extensions/*/*.duckdb_extension"))
        connection.execute(f"load '{file}'")
    connection.execute(
        f"create secret store (type s3, key_id '{KEY}', secret '{SECRET}', region '{REGION}',"
        f" endpoint '127.0.0.1:{places.ports.store}', url_style 'path', use_ssl false)"
    )
    connection.execute(f"attach '' as lake (type iceberg, endpoint '{places.catalog}', authorization_type 'none')")
    return connection


def _by_pyiceberg(lake: Lake, table: str) -> Any:
    import pyarrow.compute as pc

    found = lake.catalog.load_table(table.removeprefix("lake.")).scan(selected_fields=("id", "amount")).to_arrow()
    return found.num_rows, pc.sum(found["amount"]).as_py(), pc.sum(found["id"]).as_py()


def _by_polars(lake: Lake, table: str) -> Any:
    import polars as pl

    options = {
        "aws_access_key_id": KEY,
        "aws_secret_access_key": SECRET,
        "aws_region": REGION,
        "aws_endpoint_url": lake.places.store,
        "aws_allow_http": "true",
    }
    loaded = lake.catalog.load_table(table.removeprefix("lake."))
    frame = pl.scan_iceberg(loaded, storage_options=options)
    return frame.select(pl.len().alias("n"), pl.col("amount").sum(), pl.col("id").sum()).collect().row(0)
