"""Builds the demo's data once per folder: the lake with its history, the history in Prometheus, story and alerts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from limnograph.demo.folder import Folder
from limnograph.demo.lake import build as lake
from limnograph.demo.lake.meta import recorded_rows
from limnograph.demo.lake.placeholders import put_placeholders
from limnograph.demo.lake.replay import EVERY, replay
from limnograph.demo.lake.session import start, stop
from limnograph.demo.lake.timeshift import CatalogFile, local, shift
from limnograph.demo.metrics import backfill
from limnograph.demo.metrics.rule_history import evaluate
from limnograph.demo.metrics.tables import COLUMNS, main_moves, table_families
from limnograph.demo.processes import alerting, past_alerts
from limnograph.demo.processes.configuration import limnograph_toml
from limnograph.demo.processes.tools import free_port, tool
from limnograph.demo.progress import Progress
from limnograph.demo.story import signals, story
from limnograph.demo.story.calendar import HOUR, STALE_AFTER, Calendar
from limnograph.demo.story.plan import BURST_TABLES, READER, tables, writer_of
from limnograph.demo.story.steps import TablePlan
from limnograph.settings import load

VERSION = 4
"""Increased when lakes of older versions can no longer be used."""


def ensure(folder: Folder, now_ms: int, progress: Progress) -> story.Story:
    """The story of the lake in the folder. Builds the lake if it is missing, incomplete or of another version."""
    built = folder.built
    if built is None or built.get("version") != VERSION:
        if folder.database.exists():
            progress.say("rebuilding an unfinished lake")
        folder.clear()
        folder.make()
        build(folder, Calendar.at(now_ms), progress)
        return story.read(folder.story)
    folder.make()
    told = story.read(folder.story)
    if now_ms - told.generated_at > STALE_AFTER:
        hours = (now_ms - told.generated_at) // HOUR
        progress.say(
            f"this lake was built {hours} hours ago (story of {told.demo_day}); use --fresh to rebuild it for today"
        )
    return told


def build(folder: Folder, calendar: Calendar, progress: Progress) -> None:
    """Build everything in an empty folder; the marker is written last."""
    promtool = tool("promtool")
    # Ports do not matter yet, except the replay's: it listens, and two demos may build at once.
    # No forecast either: one of a part of the history would be the only one of the day.
    folder.config.write_text(
        limnograph_toml(folder.place, 9090, 8787, signals.schedules(), pipeline_port=free_port(), forecast=False)
    )
    plans = tables(calendar)
    progress.say(f"building the lake of {calendar.day}: {sum(len(plan.steps) for plan in plans):,} steps")
    conf = {"spark.driver.memory": "1g"}
    spark = start(load(folder.config), app_name="nightly_maintenance", master="local[2]", conf=conf)
    try:
        marks = lake.build(spark, folder.database, folder.place, plans, progress=progress)
    finally:
        stop(spark)
    catalog = CatalogFile(folder.database)
    stages = {name: shift(catalog, name, made, EVERY) for name, made in marks.items()}
    progress.say("timestamps shifted to the demo day")
    told = story.tell(calendar, plans, marks)
    story.write(told, folder.story)
    heads = {name: local(of_table[-1].location) for name, of_table in stages.items()}
    replay(folder, stages, progress)
    put_placeholders(folder.place, BURST_TABLES)
    samples = fill_prometheus(folder, promtool, calendar, plans, heads)
    progress.say(f"Prometheus history written: {samples:,} samples")
    folder.mark_built(
        {
            "version": VERSION,
            "demo_day": calendar.day,
            "tables": len(plans),
            "snapshots": told.snapshots,
            "samples": samples,
            "seconds": round(progress.seconds, 1),
        }
    )


def fill_prometheus(
    folder: Folder, promtool: Path, calendar: Calendar, plans: tuple[TablePlan, ...], heads: Mapping[str, Path]
) -> int:
    """Write the history into the TSDB, and the alerts that the rules raise on it into their file. Returns the number of
    samples. `heads`: newest metadata file of each table.
    """
    reader = writer_of(READER, calendar, 71)
    rows = recorded_rows(folder, COLUMNS)
    of_tables = table_families(calendar, {name: main_moves(head, rows[name]) for name, head in heads.items()})
    folder.thresholds.write_text(alerting.thresholds_yml([f"lake.{plan.name}" for plan in plans]))
    rules = [*sorted(alerting.rules().glob("*.yml")), folder.thresholds]
    past = evaluate(promtool, folder.scratch, rules, calendar, of_tables)
    past_alerts.write(past.alerts, folder.alerts)
    families = [
        *backfill.job_families(calendar, signals.runs(calendar, plans)),
        *of_tables,
        *past.families,
        *backfill.executor_families(calendar, reader.app_id, reader.app_name),
    ]
    return backfill.write_blocks(promtool, folder.scratch, folder.tsdb, calendar, families)
