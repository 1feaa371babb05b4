"""Rows `forecast.*`: `limnograph forecast --cases` on 5,000 tables, and the work of the pipeline's step on 100,000,
each in two processes.
"""

from __future__ import annotations

import os

from rows import Bench, Measure, Row, taken

TABLES = 5_000
SECONDS, MEMORY = 60.0, 1_000.0
SITE_TABLES = int(os.environ.get("FORECAST_SITE_TABLES", "100000"))
SITE_SECONDS, SITE_MEMORY = 900.0, 1_000.0


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


def forecast_site(bench: Bench) -> list[Row]:
    """What Spark's workers do for the tables of a large site, between reading rows and handing back forecasts."""
    taken("forecast_histories", bench.scratch)
    done, rows, cpu_s, wall_s, peak = taken("forecast_site", bench.scratch, SITE_TABLES).value
    if done != SITE_TABLES:
        raise SystemExit(f"{done} of {SITE_TABLES} tables are forecast")
    note = (
        f"roll-ups of {SITE_TABLES:,} generated tables, {rows:,} rows of forecasts, two processes; {wall_s:.0f} s of "
        "wall time; limit of the goal for as many"
    )
    limit = SITE_SECONDS * SITE_TABLES / 100_000
    return [
        Row("forecast.site_seconds", cpu_s, limit, "s", 1, f"{note}, CPU of the slower process"),
        Row("forecast.site_memory", peak, SITE_MEMORY, "MB", 1, f"{note}, peak of the larger process"),
    ]


MEASURES: dict[str, Measure] = {"forecast_cases": forecast_cases, "forecast_site": forecast_site}
