"""The past as OpenMetrics text, and what promtool makes of it."""

import json
import subprocess
from pathlib import Path

import pytest

from limnograph.demo.metrics.backfill import job_families, write_blocks
from limnograph.demo.metrics.openmetrics import Family, MetricSeries, text
from limnograph.demo.processes.tools import tool
from limnograph.demo.story.calendar import HOUR, Calendar
from limnograph.demo.story.plan import tables
from limnograph.demo.story.signals import runs
from limnograph.domain.errors import EnvironmentFault

CALENDAR = Calendar.at(1_795_270_000_000)


def test_a_counter_is_declared_without_its_suffix_and_the_text_ends_with_eof() -> None:
    family = Family("runs_total", "counter", "Runs.", [MetricSeries({"job_name": "a"}, [(1, 2.0)])])
    assert text([family], 0, 9).splitlines() == [
        "# HELP runs Runs.",
        "# TYPE runs counter",
        'runs_total{job_name="a"} 2 1',
        "# EOF",
    ]


def test_label_values_are_escaped() -> None:
    family = Family("x", "gauge", "X.", [MetricSeries({"a": 'q"\\\n'}, [(1, 0.5)])])
    assert 'x{a="q\\"\\\\\\n"} 0.5 1' in text([family], 0, 9)


def test_only_samples_of_the_window_are_written() -> None:
    family = Family("x", "gauge", "X.", [MetricSeries({}, [(1, 1.0), (2, 2.0), (3, 3.0)])])
    lines = text([family], 2, 3).splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["x{} 2 2"]


def test_the_duration_rises_when_the_first_slow_run_has_finished() -> None:
    families = {family.name: family for family in job_families(CALENDAR, runs(CALENDAR, tables(CALENDAR)))}
    series = next(
        one
        for one in families["spark_job_duration_seconds"].series
        if one.labels["job_name"] == "rollup_customer_events"
    )
    values = dict(series.samples)
    assert max(v for at, v in values.items() if at * 1000 < CALENDAR.slow_from) < 65
    assert min(v for at, v in values.items() if CALENDAR.slow_from + 200_000 < at * 1000 < CALENDAR.repair) > 130


def test_no_label_is_one_that_prometheus_overwrites() -> None:
    for family in job_families(CALENDAR, runs(CALENDAR, tables(CALENDAR))):
        assert not {"job", "namespace", "instance"} & {key for series in family.series for key in series.labels}


@pytest.mark.prometheus
def test_promtool_makes_blocks_that_hold_every_sample(tmp_path: Path) -> None:
    short = Calendar(CALENDAR.midnight, CALENDAR.start + 7 * HOUR)
    samples = [(at, float(at % 97)) for at in range(short.start // 1000, short.until // 1000, 300)]
    family = Family("limno_level", "gauge", "Level.", [MetricSeries({"table": "t"}, samples)])
    assert write_blocks(tool("promtool"), tmp_path, tmp_path / "data", short, [family]) == len(samples)
    (tmp_path / "data" / "wal").mkdir()  # promtool opens a whole TSDB
    listed = subprocess.run(
        [tool("promtool"), "tsdb", "dump", str(tmp_path / "data")], capture_output=True, text=True, check=True
    )
    read = [line.split() for line in listed.stdout.splitlines() if "limno_level" in line]
    assert sorted((int(at) // 1000, float(value)) for *_, value, at in read) == samples
    assert not list(tmp_path.glob("*.om"))


@pytest.mark.prometheus
def test_a_past_that_promtool_refuses_is_a_one_line_error(tmp_path: Path) -> None:
    broken = Family("not a name", "gauge", "X.", [MetricSeries({}, [(CALENDAR.start // 1000, 1.0)])])
    with pytest.raises(EnvironmentFault, match="promtool could not write"):
        write_blocks(tool("promtool"), tmp_path, tmp_path / "data", CALENDAR, [broken])


def test_the_story_file_has_text_ids_and_reads_back(tmp_path: Path) -> None:
    from limnograph.demo.lake.commits import Mark
    from limnograph.demo.story.story import read, tell, write

    plans = tables(CALENDAR)
    marks = {p.name: [Mark(s.at, 5_184_430_069_070_270_604 + n, 0, "") for n, s in enumerate(p.steps)] for p in plans}
    told = tell(CALENDAR, plans, marks)
    write(told, tmp_path / "story.json")
    assert read(tmp_path / "story.json") == told
    document = json.loads((tmp_path / "story.json").read_text())
    assert len(document["burst"]["snapshot_id"]) == 19
    assert document["files_after"] - document["files_before"] == 50_000
    (tmp_path / "story.json").write_text("{}")
    with pytest.raises(EnvironmentFault, match="--fresh"):
        read(tmp_path / "story.json")


@pytest.mark.parametrize(("hours", "offered"), [(19, False), (20, False), (21, True)])
def test_a_start_more_than_twenty_hours_later_offers_a_fresh_lake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], hours: int, offered: bool
) -> None:
    from limnograph.demo.building import VERSION, ensure
    from limnograph.demo.folder import Folder
    from limnograph.demo.lake.commits import Mark
    from limnograph.demo.progress import Progress
    from limnograph.demo.story.story import tell, write

    plans = tables(CALENDAR)
    folder = Folder(tmp_path)
    folder.make()
    told = tell(CALENDAR, plans, {p.name: [Mark(s.at, n, 0, "") for n, s in enumerate(p.steps)] for p in plans})
    write(told, folder.story)
    folder.mark_built({"version": VERSION})
    assert ensure(folder, CALENDAR.until + hours * HOUR, Progress()) == told
    assert ("--fresh to rebuild it for today" in capsys.readouterr().err) is offered
