"""`limnograph pipeline` and `failpoints`: options are checked before anything heavy starts."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from limnograph.adapters.system_clock import SystemClock
from limnograph.cli import failpoints, pipeline
from limnograph.domain.errors import EnvironmentFault, InvalidInput, SettingsError
from limnograph.domain.failpoints import (
    FAILPOINTS,
    MAINTAIN_FAILPOINTS,
    MAINTAIN_WHEN,
    STEPS,
    WHEN,
    FailpointReached,
    Failpoints,
)


def test_failpoints_are_printed_one_per_line() -> None:
    result = CliRunner().invoke(failpoints.command)
    assert result.stdout.splitlines() == [*FAILPOINTS, *MAINTAIN_FAILPOINTS]
    assert {"before_append_snapshots", "after_append_snapshots"} <= set(FAILPOINTS)


def test_the_list_explains_when_each_failpoint_is_passed() -> None:
    lines = CliRunner().invoke(failpoints.command, ["--when"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*STEPS, *MAINTAIN_FAILPOINTS]
    assert set(WHEN) == set(STEPS)
    assert set(MAINTAIN_WHEN) == set(MAINTAIN_FAILPOINTS)


def test_a_failpoint_acts_only_when_it_is_passed_the_nth_time() -> None:
    points = Failpoints("before_append_changes:2:raise")
    points.reach("before_append_changes")
    points.reach("after_append_changes")
    with pytest.raises(FailpointReached):
        points.reach("before_append_changes")
    points.reach("before_append_changes")


@pytest.mark.parametrize(
    "setting", ["x:1:raise", "after_append_changes:1", "after_append_changes:a:kill", "after_append_changes:1:no"]
)
def test_a_wrong_failpoint_is_a_one_line_error(setting: str) -> None:
    with pytest.raises(SettingsError, match="limnograph failpoints"):
        Failpoints(setting)


@pytest.mark.parametrize("trigger", ["0s", "1h", "soon", "-5s"])
def test_a_wrong_trigger_names_the_option(trigger: str, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('[catalogs.lake]\ntype = "sql"\nuri = "sqlite:////nowhere/c.db"\n')
    with pytest.raises(InvalidInput, match="--trigger"):
        CliRunner().invoke(pipeline.command, ["--config", str(config), "--trigger", trigger], catch_exceptions=False)


def test_a_missing_settings_file_names_the_option() -> None:
    with pytest.raises(SettingsError, match="--config"):
        CliRunner().invoke(pipeline.command, ["--once", "--config", "/no/such.toml"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--once", "--retry-damaged"], "--once, --retry-damaged, --reextract, --rebuild"),
        (["--reextract", "a.b.c", "--once"], "--once, --retry-damaged, --reextract, --rebuild"),
        (["--rebuild", "--once"], "--once, --retry-damaged, --reextract, --rebuild"),
        (["--once", "--trigger", "5s"], "--trigger"),
        (["snapshots"], "TABLES"),
        (["--once", "snapshots"], "TABLES"),
        (["--rebuild", "--yes"], "--yes"),
        (["--rebuild", "orders", "--yes"], "--rebuild"),
        (["--rebuild", "runs"], "--rebuild"),
        (["--since", "48h"], "--since"),
        (["--reextract", "orders"], "--reextract"),
        (["--reextract", "lake.sales.orders", "--since", "yesterday"], "--since"),
        (["--reextract", "lake.sales.orders", "--since", "2026-13-01"], "--since"),
    ],
)
def test_a_wrong_option_of_repair_is_named(options: list[str], named: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        CliRunner().invoke(pipeline.command, options, catch_exceptions=False)
    assert raised.value.field == named


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("2026-11-20", 1_795_132_800_000_000),
        ("2026-11-20T03:05Z", 1_795_143_900_000_000),
        ("2026-11-20T03:05", 1_795_143_900_000_000),
        ("2026-11-20T03:05+02:00", 1_795_136_700_000_000),
    ],
)
def test_since_is_a_date_or_a_time_in_utc_where_it_names_no_zone(text: str, micros: int) -> None:
    assert pipeline.instant(text) == micros


@pytest.mark.parametrize(("text", "seconds"), [("48h", 172_800), ("30m", 1_800), ("7d", 604_800)])
def test_since_may_be_a_duration_before_now(text: str, seconds: int) -> None:
    before = SystemClock().now()
    assert before <= pipeline.instant(text) + seconds * 1_000_000 <= SystemClock().now()


def test_a_metrics_port_in_use_ends_the_stream_before_spark_starts(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        config.write_text(
            '[catalogs.lake]\ntype = "sql"\nuri = "sqlite:////nowhere/c.db"\n'
            f'[pipeline]\nmetrics = "127.0.0.1:{port}"\n[spark]\njars = "/no/jars"\n'
        )
        # Without the jars Spark could not start: the port is what is told.
        with pytest.raises(EnvironmentFault, match=rf"127\.0\.0\.1:{port} for pipeline\.metrics"):
            CliRunner().invoke(pipeline.command, ["--config", str(config)], catch_exceptions=False)


WITHOUT_SPARK = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyspark":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from limnograph.cli import main
main()
"""


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('type = "nonsense"', "catalogs.lake.type: "),
        ('type = "sql"\nuri = "sqlite:////no/c.db"\n[inbox]\nurl = "redis://x"', "inbox.url: "),
        ('type = "sql"\nuri = "sqlite:////no/c.db"', "pyspark is not installed"),
    ],
)
def test_an_error_of_the_settings_is_reported_before_missing_programs(settings, said, tmp_path) -> None:
    (tmp_path / "c.toml").write_text(f"[catalogs.lake]\n{settings}\n")
    command = [sys.executable, "-c", WITHOUT_SPARK, "pipeline", "--once", "--config", str(tmp_path / "c.toml")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"limnograph: {said}")
    assert found.stderr.count("\n") == 1
