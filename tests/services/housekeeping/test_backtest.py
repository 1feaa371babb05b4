"""The backtest on meta tables: which tables and cut-offs, readers, and what `limnograph forecast --backtest` prints."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from click.testing import CliRunner

from forecast_world import hours_of, roll
from golden_tables import data_file
from lakes import Lake
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.adapters.system_clock import SystemClock
from limnograph.analysis.forecast import load_model
from limnograph.cli.backtest_view import backtest_lines
from limnograph.cli.forecast import command
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.meta_tables import DAILY, HOURLY
from limnograph.domain.forecasts.backtest import BacktestReport
from limnograph.services.housekeeping.backtest import ForecastBacktest
from limnograph.services.rollups.fold import DAY
from upkeep_world import NOW, World


@pytest.fixture(scope="module")
def world() -> World:
    """One table grows, one is compacted daily, one had its last commit long ago."""
    world = World()
    roll(world, hours_of("growing", NOW, 24, 5) + hours_of("compacted", NOW, 24, 50, lambda ago: ago % 24 == 0))
    roll(world, hours_of("retired", NOW - 15 * DAY, 9, 5))
    return world


def backtest(world: World, **options: int) -> ForecastBacktest:
    return ForecastBacktest(world.upkeep, world.clock, load_model(), **options)


def test_forecasts_of_active_tables_are_scored_at_a_cut_off_a_day(world: World) -> None:
    report = backtest(world).run(NOW - 10 * DAY)
    assert (report.tables, report.tables_known, report.origins) == (2, 2, 10)
    assert [each.hours for each in report.horizons] == [24, 168]
    day, week = report.horizons
    assert day.forecasts > week.forecasts > 0  # of the last six days no week has passed
    assert day.methods[0].method == "Limnograph"
    assert all(each.level_error is not None for each in day.methods)
    shown = "\n".join(backtest_lines(report))
    assert "2 of 2 tables, 10 cut-offs, 2024-09-24 to 2024-10-04, model shipped-" in shown
    assert "last week repeated" in shown
    assert backtest(world).run(NOW - 10 * DAY) == report  # thresholds are drawn from a fixed seed


def test_the_number_of_tables_is_bounded_and_said(world: World) -> None:
    report = backtest(world, most_tables=1).run(NOW - 3 * DAY)
    assert (report.tables, report.tables_known, report.origins) == (1, 2, 3)


def test_no_outcome_and_no_rollups_are_errors_with_the_option_named(world: World) -> None:
    with pytest.raises(InvalidInput, match="--since: must be at least a day ago"):
        backtest(world).run(NOW)
    with pytest.raises(InvalidInput, match="--backtest: the meta tables have no roll-ups yet"):
        backtest(World()).run()


def test_the_command_reads_the_meta_tables_without_spark(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lines = "".join(f'{key} = "{value}"\n' for key, value in lake.properties.items())
    config = tmp_path / "limnograph.toml"
    config.write_text(f"[catalogs.{lake.name}]\n{lines}")
    arguments = ["--config", str(config), "--backtest", "--json"]
    ensure_meta_tables(lake.catalog, "limnograph")
    with pytest.raises(InvalidInput, match="no roll-ups yet"):
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    fill(lake)
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    report = json.loads(done.stdout)
    assert (done.exit_code, report["tables"], report["origins"]) == (0, 1, 14)
    assert report["horizons"][0]["methods"][0]["precision_recall"] is not None


def fill(lake: Lake) -> None:
    """Roll-ups of a table that grows until now, as the pipeline writes them."""
    world = World(SystemClock().now())
    roll(world, hours_of("growing", world.clock.micros, 20, 5))
    for table in (HOURLY, DAILY):
        there, unit = lake.catalog.load_table(("limnograph", table.name)), table.key[1]
        rows = world.store.rows(table)
        months = [at.strftime("%Y-%m") for at in rows.column(unit).to_pylist()]
        with there.transaction() as transaction, transaction.update_snapshot().fast_append() as update:
            for month in sorted(set(months)):
                part = rows.filter(pa.array([each == month for each in months]))
                update.append_data_file(data_file(there, table, part, f"{there.location()}/data/{month}.parquet"))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--backtest", "--once"], "--backtest"),
        (["--cases", "-", "--backtest"], "--cases"),
        (["--since", "2026-01-01"], "--since"),
        (["--json"], "--json"),
    ],
)
def test_options_that_need_the_backtest_are_named(arguments: list[str], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert refused.value.field == field


def test_an_empty_report_is_said() -> None:
    report = msgspec.convert(
        {
            "model": "m",
            "since": 0,
            "until": 86_400_000,
            "origins": 0,
            "tables": 0,
            "tables_known": 0,
            "horizons": [],
            "abstained": None,
            "waits": 0,
            "wait_error": None,
            "trend_wait_error": None,
        },
        BacktestReport,
    )
    assert list(backtest_lines(report))[-1] == "No forecast has an outcome yet."
