"""Rows `forecast.*`: `limnograph forecast --cases` on 5,000 tables, in two processes."""

from __future__ import annotations

from rows import Bench, Measure, Row, taken

TABLES = 5_000
SECONDS, MEMORY = 60.0, 1_000.0


def forecast_cases(bench: Bench) -> list[Row]:
    """In CI a tenth of the tables, in a tenth of the time."""
    tables = TABLES if bench.full else TABLES // 10
    taken("forecast_files", bench.scratch, tables)
    answered, cpu_s, peak = taken("forecast_cases", bench.scratch).value
    if answered != tables:
        raise SystemExit(f"{answered} of {tables} tables are answered")
    note = f"{tables:,} generated tables of 12 to 60 days, two processes; limit of the goal"
    return [
        Row("forecast.tables_seconds", cpu_s, SECONDS * tables / TABLES, "s", 1, f"{note}, CPU of each process"),
        Row("forecast.tables_memory", peak, MEMORY, "MB", 1, f"{note}, peak of both"),
    ]


MEASURES: dict[str, Measure] = {"forecast_cases": forecast_cases}
