"""The events of the story, for checks and users: `.demo/story.json`. Ids are text, instants epoch ms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from limnograph.demo.lake.commits import Mark
from limnograph.demo.story.calendar import HOUR, MINUTE, Calendar
from limnograph.demo.story.plan import BURST_FILES, FILES_AFTER_REPAIR, FILES_BEFORE, READER, STORY_TABLE
from limnograph.demo.story.steps import Append, TablePlan
from limnograph.domain.errors import EnvironmentFault


class StoryEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A commit of the story or a decoy; `snapshot_id` is null if it made no snapshot."""

    what: str
    table: str | None
    at: int
    snapshot_id: str | None = None
    added_data_files: int | None = None
    removed_data_files: int | None = None
    app_id: str | None = None
    app_name: str | None = None


class Slowdown(msgspec.Struct, frozen=True, kw_only=True):
    """The slowdown of the reader, from the first slow run to the repair; usual and slow duration in seconds."""

    job_name: str
    start: int
    end: int
    usual_seconds: float
    slow_seconds: float


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """The whole story."""

    demo_day: str
    generated_at: int
    history_from: int
    history_to: int
    table: str
    tables: list[str]
    snapshots: int
    files_before: int
    files_after: int
    burst: StoryEvent
    slowdown: Slowdown
    repair: StoryEvent
    decoys: list[StoryEvent]
    view_from: int
    view_to: int


def tell(calendar: Calendar, plans: Sequence[TablePlan], marks: Mapping[str, Sequence[Mark]]) -> Story:
    """The story of the commits that were really made. Raises KeyError if a commit of the plan has no mark."""
    ids = {(name, one.planned): one.snapshot_id for name, made in marks.items() for one in made}
    writer = next(
        step.writer
        for plan in plans
        if plan.name == STORY_TABLE
        for step in plan.steps
        if isinstance(step, Append) and step.at == calendar.burst
    )

    def event(what: str, table: str, at: int, **more: Any) -> StoryEvent:
        snapshot_id = ids[table, at]
        known = None if snapshot_id is None else str(snapshot_id)
        return StoryEvent(what=what, table=f"lake.{table}", at=at, snapshot_id=known, **more)

    return Story(
        demo_day=calendar.day,
        generated_at=calendar.until,
        history_from=calendar.start,
        history_to=calendar.until,
        table=f"lake.{STORY_TABLE}",
        tables=[f"lake.{plan.name}" for plan in plans],
        snapshots=sum(one.snapshot_id is not None for made in marks.values() for one in made),
        files_before=FILES_BEFORE,
        files_after=FILES_BEFORE + BURST_FILES,
        burst=event(
            "append of many small files",
            STORY_TABLE,
            calendar.burst,
            added_data_files=BURST_FILES,
            app_id=writer.app_id,
            app_name=writer.app_name,
        ),
        slowdown=Slowdown(
            job_name=READER, start=calendar.slow_from, end=calendar.repair, usual_seconds=52, slow_seconds=160
        ),
        repair=event(
            "compaction",
            STORY_TABLE,
            calendar.repair,
            added_data_files=FILES_AFTER_REPAIR,
            removed_data_files=BURST_FILES,
        ),
        decoys=[
            event("schema change", "marketing.campaigns", calendar.schema_change),
            event("big append", "marketing.touchpoints", calendar.decoy_append, added_data_files=2_400),
            event("daily compaction", "sales.web_sessions", calendar.clock("00:30")),
            event("row deletes", "sales.carts", calendar.clock("01:10")),
            StoryEvent(what="processor spike", table=None, at=calendar.cpu_spike),
        ],
        view_from=calendar.burst - 2 * HOUR - 4 * MINUTE,
        view_to=calendar.morning + 30 * MINUTE if calendar.until > calendar.morning + HOUR else calendar.morning,
    )


def write(story: Story, file: Path) -> None:
    """Write the story as indented JSON."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(story), indent=1) + b"\n")


def read(file: Path) -> Story:
    """The story of a built lake. Raises EnvironmentFault if the file is missing or of another version."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Story)
    except (OSError, msgspec.DecodeError, json.JSONDecodeError) as error:
        raise EnvironmentFault(f"{file} cannot be read ({error}); rebuild the lake with --fresh") from error
