"""The plan of the demo's tables and their commits. Pure values; `demo/lake` executes them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from limnograph.demo.story.calendar import DAY, HOUR, MINUTE, SECOND, Calendar
from limnograph.demo.story.steps import MB, Append, Compaction, Files, RowAppend, SqlStep, Step, TablePlan, Writer

BURST_FILES = 50_000
FILES_BEFORE = 1_202
FILES_AFTER_REPAIR = 352
BURST_SIZES = (780_000, 1_020_000)

STORY_TABLE = "sales.customer_events"
READER = "rollup_customer_events"
CULPRIT = "backfill_customer_events"
COMPACTOR = "demo_compact"
"""The application of `demo compact`, whose commits slow or speed up jobs as the user asked."""
ON_REQUEST = (COMPACTOR, "limnograph-maintain")
"""Writers of compactions that a user asked for: of `demo compact`, and of the maintainer."""
NIGHTLY = "small-"
"""How the names of the files begin that a nightly compaction merges; the day follows."""
COMPACTED_SIZES = (110 * MB, 130 * MB)
"""Of the files that it leaves, bytes."""
LOG_DAYS = 17
LOG_FILES = 9_000
"""Large files of a log, more than its small ones."""
BUSY_SHARE = 0.08
"""Share of the commits of a log that add twice as many files."""
LIVE_APPEND_TABLE = "sales.orders"
LIVE_DELETE_TABLE = "sales.carts"
LIVE_JOB = "churn"
QUIET_TABLE = "ops.deployments"
AT_RISK_TABLE = "ops.access_logs"
"""Its nightly compaction stopped, and its small files will reach the threshold of the forecast within days."""
LOOK_ALIKE_TABLE = "ops.error_logs"
"""As many small files, and more each day, but its compaction comes every night."""
BURST_TABLES = (STORY_TABLE, "marketing.leads")
"""Tables whose bursts the maintainer merges. They have one partition spec: a plan names the partition of a burst."""


def writer_of(job: str, calendar: Calendar, number: int) -> Writer:
    """The application that runs `job` during the history."""
    stamp = calendar.day.replace("-", "")
    return Writer(f"app-{stamp}000{number % 10}12-{number:04d}", job, f"svc-{job.split('_', maxsplit=1)[0]}")


def tables(calendar: Calendar) -> tuple[TablePlan, ...]:
    """All tables of the demo lake, in three namespaces."""
    return (
        _customer_events(calendar),
        _live(calendar, LIVE_APPEND_TABLE, ORDER_COLUMNS, 15, 21),
        _carts(calendar),
        _web_sessions(calendar),
        _steady(calendar, "sales.refunds", 15, (1, 2), 24),
        _touchpoints(calendar),
        _campaigns(calendar),
        _leads(calendar),
        _steady(calendar, "marketing.email_events", 11, (1, 4), 28),
        _steady(calendar, "ops.sensor_readings", 9, (2, 6), 29),
        _steady(calendar, "ops.inventory", 16, (1, 2), 30),
        _quiet(calendar),
        _logs(calendar, AT_RISK_TABLE, 34, resting=4_000, files=200, last_night=-3),
        _logs(calendar, LOOK_ALIKE_TABLE, 35, resting=6_500, files=260, last_night=1),
    )


EVENT_COLUMNS = "id bigint, event_time timestamp, kind string, payload string"
ORDER_COLUMNS = "id bigint, event_time timestamp, customer bigint, amount double"
BY_DAY = "days(event_time)"
PLAIN = {
    "format-version": "2",
    "commit.manifest-merge.enabled": "false",
    "write.metadata.previous-versions-max": "30",
    "write.target-file-size-bytes": str(128 * MB),
    "commit.retry.num-retries": "20",
    "commit.retry.max-wait-ms": "300",
}
MERGE_ON_READ = {
    **PLAIN,
    "commit.manifest-merge.enabled": "true",
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "write.target-file-size-bytes": str(2 * MB),
}
LIVE = {
    **MERGE_ON_READ,
    # Readers that are one pass behind still find the metadata file of their pointer.
    "write.metadata.previous-versions-max": "100",
}


def _customer_events(calendar: Calendar) -> TablePlan:
    """The table of the story: 1,202 files, 51,202 after 03:04:12, and after 05:30 1,554 plus those added since."""
    rng = random.Random(STORY_TABLE)  # noqa: S311 - the same lake every time, no secret
    ingest = writer_of("ingest_customer_events", calendar, 11)
    # The reader's run at 03:05 must see no other change than the burst; the same applies to the repair.
    quiet = (
        (calendar.burst - 2 * MINUTE, calendar.burst + 3 * MINUTE),
        (calendar.repair - MINUTE, calendar.repair + MINUTE),
    )
    usual = [
        Append(at, Files(rng.randint(1, 4)), ingest)
        for at in _moments(calendar, 11, rng)
        if not any(low <= at <= high for low, high in quiet)
    ]
    grown = sum(step.files.count for step in usual if step.at < calendar.burst)
    opening = Append(calendar.start, Files(FILES_BEFORE - grown), ingest, late_days=1)
    burst = Append(
        calendar.burst,
        Files(BURST_FILES, BURST_SIZES, 6_100, "backfill"),
        writer_of(CULPRIT, calendar, 42),
        late_days=3,
    )
    repair = Compaction(calendar.repair, "backfill", Files(FILES_AFTER_REPAIR, (124 * MB, 131 * MB), 0, "compacted"))
    return _table(STORY_TABLE, EVENT_COLUMNS, BY_DAY, PLAIN, [opening, *usual, burst, repair])


def _web_sessions(calendar: Calendar) -> TablePlan:
    """Small files all day, compacted every night at 00:30; no job slows down."""
    name = "sales.web_sessions"
    rng = random.Random(name)  # noqa: S311
    writer = writer_of("ingest_web_sessions", calendar, 12)
    steps: list[Step] = [Append(calendar.start, Files(180, stem="base"), writer, late_days=1)]
    for at in _moments(calendar, 12, rng):
        small = Files(rng.randint(2, 5), (9 * MB, 24 * MB), 90_000, f"{NIGHTLY}{at // DAY}")
        steps.append(Append(at, small, writer))
    for days in (0, 1):
        if (night := calendar.clock("00:30", days)) < calendar.until:
            into = Files(40, COMPACTED_SIZES, 0, "compacted")
            steps.append(Compaction(night, f"{NIGHTLY}{night // DAY - 1}", into))
    return _table(name, EVENT_COLUMNS, "", PLAIN, steps)


def _touchpoints(calendar: Calendar) -> TablePlan:
    """Decoy: 2,400 files in one append at 18:32; its reader does not slow down."""
    plan = _steady(calendar, "marketing.touchpoints", 13, (1, 3), 25)
    big = Append(
        calendar.decoy_append,
        Files(2_400, (60 * MB, 90 * MB), 500_000, "import"),
        writer_of("import_partners", calendar, 26),
    )
    return _table(plan.name, plan.columns, plan.partitioned_by, plan.properties, [*plan.steps, big])


def _campaigns(calendar: Calendar) -> TablePlan:
    """A new column at 01:42 and a new partition field at 02:20."""
    plan = _steady(calendar, "marketing.campaigns", 20, (1, 1), 27)
    changes = [
        SqlStep(calendar.schema_change, "alter table {table} add column channel string after kind"),
        SqlStep(calendar.clock("02:20"), "alter table {table} add partition field bucket(4, id) as id_bucket"),
    ]
    return _table(plan.name, plan.columns, plan.partitioned_by, plan.properties, [*plan.steps, *changes])


def _leads(calendar: Calendar) -> TablePlan:
    """A tag in the evening, and a branch with two commits that are not on main."""
    plan = _steady(calendar, "marketing.leads", 24, (1, 2), 31)
    audit = writer_of("audit_leads", calendar, 32)
    extra: list[Step] = [
        SqlStep(calendar.clock("17:00:30", -1), "alter table {table} create tag `evening`"),
        SqlStep(calendar.clock("22:10:30", -1), "alter table {table} create branch `audit`"),
        Append(calendar.clock("22:20:30", -1), Files(3, stem="audit"), audit, branch="audit"),
        Append(calendar.clock("23:20:30", -1), Files(2, stem="audit"), audit, branch="audit"),
    ]
    return _table(plan.name, plan.columns, plan.partitioned_by, plan.properties, [*plan.steps, *extra])


def _quiet(calendar: Calendar) -> TablePlan:
    """Busy for the first four hours and then silent, at 06:00 for twenty hours."""
    plan = _steady(calendar, QUIET_TABLE, 10, (1, 2), 33)
    steps = [step for step in plan.steps if step.at < calendar.start + 4 * HOUR]
    return _table(plan.name, plan.columns, plan.partitioned_by, plan.properties, steps)


def _logs(calendar: Calendar, name: str, number: int, *, resting: int, files: int, last_night: int) -> TablePlan:
    """Days of history, which a forecast needs: about `files` small files every four hours, and at 00:30 a compaction of
    the day before, until `last_night` (days after the demo day). `resting`: small files that no compaction merges.
    """
    rng = random.Random(name)  # noqa: S311
    writer = writer_of(f"ingest_{name.split('.')[1]}", calendar, number)
    first = calendar.clock("00:00", -LOG_DAYS)
    steps: list[Step] = [
        Append(first, Files(LOG_FILES, stem="base"), writer, late_days=1),
        Append(first + HOUR, Files(resting, (40 * MB, 90 * MB), 300_000, "resting"), writer, late_days=1),
    ]
    for at in range(first + 2 * HOUR, calendar.until - 2 * MINUTE, 4 * HOUR):
        count = round(files * rng.uniform(0.8, 1.2) * (2 if rng.random() < BUSY_SHARE else 1))
        small = Files(count, (9 * MB, 24 * MB), 60_000, f"{NIGHTLY}{at // DAY}")
        steps.append(Append(at + rng.randint(1, 50) * SECOND + rng.randint(0, 999), small, writer))
    for days in range(1 - LOG_DAYS, last_night + 1):
        if (night := calendar.clock("00:30", days)) < calendar.until:
            into = Files(12, COMPACTED_SIZES, 0, "compacted")
            steps.append(Compaction(night, f"{NIGHTLY}{night // DAY - 1}", into))
    return _table(name, EVENT_COLUMNS, "", PLAIN, steps)


def _carts(calendar: Calendar) -> TablePlan:
    """Merge-on-read with real files: row deletes every two hours, eleven around 01:10; delete files accumulate."""
    plan = _live(calendar, LIVE_DELETE_TABLE, ORDER_COLUMNS, 30, 22)
    erase = "delete from {table} where customer = "
    hourly = range(calendar.start + 20 * MINUTE, min(calendar.until, calendar.start + 26 * HOUR) - MINUTE, 2 * HOUR)
    deletes = [SqlStep(at, f"{erase}{number}") for number, at in enumerate(hourly)]
    night = [SqlStep(calendar.clock("01:10") + n * 20 * SECOND, f"{erase}{100 + n}") for n in range(11)]
    return _table(plan.name, plan.columns, plan.partitioned_by, plan.properties, [*plan.steps, *deletes, *night])


def _live(calendar: Calendar, name: str, columns: str, minutes: int, number: int) -> TablePlan:
    """A table of real files, to which the live job commits."""
    rng = random.Random(name)  # noqa: S311
    writer = writer_of(f"ingest_{name.split('.')[1]}", calendar, number)
    steps: list[Step] = [RowAppend(calendar.start, 4_000, writer)]
    steps += [RowAppend(at, rng.randint(300, 700), writer) for at in _moments(calendar, minutes, rng)]
    # From then on a job commits every few seconds. Before, every metadata file is kept for the replay.
    tidy = "alter table {table} set tblproperties ('write.metadata.delete-after-commit.enabled'='true')"
    steps.append(SqlStep(calendar.until - MINUTE, tidy))
    return _table(name, columns, "", LIVE, steps)


def _steady(calendar: Calendar, name: str, minutes: int, files: tuple[int, int], number: int) -> TablePlan:
    """Ordinary growth: a few files every `minutes` minutes."""
    rng = random.Random(name)  # noqa: S311
    writer = writer_of(f"ingest_{name.split('.')[1]}", calendar, number)
    steps: list[Step] = [Append(calendar.start, Files(rng.randint(60, 400)), writer, late_days=1)]
    steps += [Append(at, Files(rng.randint(*files)), writer) for at in _moments(calendar, minutes, rng)]
    return _table(name, EVENT_COLUMNS, BY_DAY, PLAIN, steps)


def _table(
    name: str, columns: str, partitioned_by: str, properties: dict[str, str], steps: list[Step] | tuple[Step, ...]
) -> TablePlan:
    return TablePlan(name, columns, partitioned_by, properties, tuple(sorted(steps, key=lambda step: step.at)))


def _moments(calendar: Calendar, minutes: int, rng: random.Random) -> Iterator[int]:
    """Instants of a job that runs every `minutes` minutes, a little late each time; after 06:00 a third as often."""
    at = calendar.start + minutes * MINUTE
    while at < calendar.until - 2 * MINUTE:
        # A random delay within the minute, so that no two commits of a table have the same instant.
        yield at + rng.randint(1, 50) * SECOND + rng.randint(0, 999)
        at += minutes * MINUTE * (1 if at < calendar.morning else 3)
