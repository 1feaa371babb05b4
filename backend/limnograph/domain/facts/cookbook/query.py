"""A question and its SQL. One text serves all engines where their dialects agree."""

from __future__ import annotations

from typing import NamedTuple

SPARK, TRINO, DUCKDB = "Spark", "Trino", "DuckDB"
_SECONDS = {
    SPARK: "timestampdiff(SECOND, {0}, {1})",
    TRINO: "date_diff('second', {0}, {1})",
    DUCKDB: "date_diff('second', {0}, {1})",
}

_UNNESTED = {
    SPARK: "SELECT {others}, explode({column}) AS {alias} FROM {table}",
    # Trino spreads the fields of a struct over columns: a row around it keeps it whole.
    TRINO: "SELECT {others}, {alias} FROM {table}\n"
    "  CROSS JOIN UNNEST(transform({column}, each -> ROW(each))) AS unnested({alias})",
    DUCKDB: "SELECT {others}, UNNEST({column}) AS {alias} FROM {table}",
}


def spark_text(sql: str) -> str:
    """The SQL with Spark's quotes: backticks instead of double quotes."""
    return sql.replace('"', "`")


class ExampleQuery(NamedTuple):
    """A question and its SQL: one text for all engines (`spark_text` adapts the quotes), or one per engine."""

    question: str
    sql: str | dict[str, str]

    def on(self, engine: str) -> str:
        """The SQL for an engine."""
        text = self.sql if isinstance(self.sql, str) else self.sql[engine]
        return spark_text(text) if engine == SPARK else text


def per_engine(sql: str, **parts: dict[str, str]) -> dict[str, str]:
    """`sql` with the text of each engine for every `{part}`."""
    return {engine: sql.format(**{name: texts[engine] for name, texts in parts.items()}) for engine in _SECONDS}


def seconds_between(start: str, end: str) -> dict[str, str]:
    """Whole seconds between two timestamps."""
    return {engine: text.format(start, end) for engine, text in _SECONDS.items()}


def unnested(column: str, alias: str, others: str, table: str) -> dict[str, str]:
    """A query with one row per element of a list of structs: `alias` beside the columns `others`."""
    parts = {"column": column, "alias": alias, "others": others, "table": table}
    return {engine: text.format(**parts) for engine, text in _UNNESTED.items()}
