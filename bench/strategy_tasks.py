"""Tasks of `strategies.py`: a day of batches, once for each way to maintain an index, and the same queries.

The index has one row per table and hour: commits, sums of added numbers, minimum, maximum and last number of files.
Facts have all columns of `snapshots`. Commits are those of `aging.py`, the minimum cost of an Iceberg commit: an engine
adds its own cost to each of them, so the results include the number of commits.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aging import MINUTE, Aged, Warp

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Clock = Callable[[], contextlib.AbstractContextManager[None]]
DAY = 20_000 * 1_440 * MINUTE
START = DAY + 30 * MINUTE
"""The day of batches begins at half past midnight, so that it ends in the middle of an hour."""
TABLES, PER_TABLE = 100, 5
HOUR = 60 * MINUTE
TIMER = 10
"""Minutes between two roll-ups of the strategy that is decoupled from commits (`ROLLUP_SECONDS`)."""
MERGE_AT = 1_000
"""Probability of a merge after a batch = pending files / this."""
ASKED = 15
FACT_COLUMNS = ("table_uuid", "committed_at", "added_data_files", "added_bytes", "total_data_files")


class Store:
    """Facts and index tables of one run in a separate lake."""

    def __init__(self, folder: Path) -> None:
        import pyarrow as pa

        from lakes import Lake
        from limnograph.adapters.meta.tables import ensure_meta_tables
        from limnograph.domain.facts.meta_tables import MetaTable

        folder.mkdir(parents=True, exist_ok=True)
        self.lake, self.warp = Lake(folder), Warp(START)
        ensure_meta_tables(self.lake.catalog, "meta")
        numbers = ("commits", "added_data_files", "added_bytes", "files_min", "files_max", "files_last")
        self.index_schema = pa.schema([
            pa.field("table_uuid", pa.large_string()),
            pa.field("hour", pa.int64()),
            *(pa.field(name, pa.int64()) for name in numbers),
        ])  # fmt: skip
        bare = MetaTable("", (), (), None, ())
        self.facts = Aged(self.lake, "meta.snapshots", keep=100)
        self.indexes: dict[str, Aged] = {}
        for name in ("micro", "hourly"):
            self.lake.catalog.create_table(f"meta.{name}", self.index_schema)
            self.indexes[name] = Aged(self.lake, f"meta.{name}", bare, keep=100)
        self.commits = 0
        self._template = self._facts_of_a_batch()

    def batch(self, number: int) -> pa.Table:
        """Facts of one minute."""
        import pyarrow as pa

        count = self._template.num_rows
        at = pa.array([START + number * MINUTE] * count, pa.timestamp("us", tz="UTC"))
        files = pa.array([number + row % 7 for row in range(count)], pa.int64())
        found = self._template
        for name, values in (("committed_at", at), ("total_data_files", files)):
            found = found.set_column(found.column_names.index(name), found.schema.field(name), values)
        return found

    def append(self, rows: pa.Table) -> None:
        """One commit of facts."""
        self.facts.commit([rows])
        self.commits += 1

    def put(self, name: str, rows: pl.DataFrame, *, whole: bool) -> None:
        """One commit to an index table: add rows, or replace all."""
        self.indexes[name].commit([rows.to_arrow().cast(self.index_schema)], whole=whole)
        self.commits += 1

    def read(self, name: str, since: int = 0) -> pl.DataFrame:
        """Rows of an index table, or `facts`, from files added after a sequence number."""
        import polars as pl

        table = self.facts if name == "facts" else self.indexes[name]
        files = table.files(since)
        columns = FACT_COLUMNS if name == "facts" else self.index_schema.names
        if not files and name == "facts":
            return fold_input(self.batch(0)).clear()
        if not files:
            return pl.DataFrame(self.index_schema.empty_table())
        found = pl.read_parquet(files, columns=list(columns))
        return found.with_columns(pl.col("committed_at").dt.epoch("us")) if name == "facts" else found

    def _facts_of_a_batch(self) -> pa.Table:
        from limnograph.adapters.meta.schema import arrow_table
        from limnograph.domain.facts.meta_tables import SNAPSHOTS, SnapshotFact

        rows = [
            SnapshotFact(
                table_uuid=f"{number % TABLES:032x}",
                snapshot_id=number,
                committed_at=START,
                operation="append",
                summary={"added-data-files": "1", "spark.app.id": "application_1"},
                total_data_files=number,
                added_data_files=number % 3,
                added_bytes=number * 1_000,
                status="ok",
            )
            for number in range(TABLES * PER_TABLE)
        ]
        return arrow_table(SNAPSHOTS, rows)


def fold_input(rows: pa.Table) -> pl.DataFrame:
    """The columns of facts that the index needs."""
    import polars as pl

    return pl.DataFrame(rows.select(list(FACT_COLUMNS))).with_columns(pl.col("committed_at").dt.epoch("us"))


def index_of(facts: pl.DataFrame) -> pl.DataFrame:
    """Index rows of facts."""
    import polars as pl

    hour = (pl.col("committed_at") // HOUR * HOUR).alias("hour")
    grouped = facts.sort("committed_at", maintain_order=True).with_columns(hour).group_by("table_uuid", "hour")
    files = pl.col("total_data_files")
    return grouped.agg(
        pl.len().cast(pl.Int64).alias("commits"),
        pl.col("added_data_files").sum(),
        pl.col("added_bytes").sum(),
        files.min().alias("files_min"),
        files.max().alias("files_max"),
        files.last().alias("files_last"),
    )


def folded(*parts: pl.DataFrame) -> pl.DataFrame:
    """Index rows merged by table and hour; later parts are newer."""
    import polars as pl

    grouped = pl.concat([part.select(parts[0].columns) for part in parts]).group_by(
        "table_uuid", "hour", maintain_order=True
    )
    sums = (pl.col(name).sum() for name in ("commits", "added_data_files", "added_bytes"))
    return grouped.agg(*sums, pl.col("files_min").min(), pl.col("files_max").max(), pl.col("files_last").last()).sort(
        "table_uuid", "hour"
    )


class Strategy:
    """Facts alone. `done`: a batch was appended; `index`: rows of all hours since one."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def done(self, number: int, rows: pa.Table) -> None:
        """After the append of a batch."""

    def index(self, since: int) -> pl.DataFrame:
        """Index rows of the hours since `since`, as a query reads them."""
        import polars as pl

        return index_of(self.store.read("facts")).filter(pl.col("hour") >= since)

    def held_bytes(self) -> int:
        """Bytes held in memory."""
        return 0


class Master(Strategy):
    """The only index is rewritten with every batch."""

    def done(self, _number: int, rows: pa.Table) -> None:
        new = folded(self.store.read("hourly"), index_of(fold_input(rows)))
        self.store.put("hourly", new, whole=True)

    def index(self, since: int) -> pl.DataFrame:
        import polars as pl

        return self.store.read("hourly").filter(pl.col("hour") >= since)


class Hierarchical(Strategy):
    """A micro index per batch; those of an hour are merged into the hourly one when it ends."""

    def done(self, number: int, rows: pa.Table) -> None:
        ended = (START + (number + 1) * MINUTE) % HOUR == 0
        self.store.put("micro", index_of(fold_input(rows)), whole=False)
        if ended:
            both = folded(self.store.read("hourly"), self.store.read("micro"))
            self.store.put("hourly", both, whole=True)
            self.store.put("micro", both.clear(), whole=True)

    def index(self, since: int) -> pl.DataFrame:
        import polars as pl

        return folded(self.store.read("hourly"), self.store.read("micro")).filter(pl.col("hour") >= since)


class Rolled(Strategy):
    """Facts are rolled up from the store when `due` is true; newer ones are read raw."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._mark, self._waiting = 0, 0

    def due(self, number: int) -> bool:
        """Whether to roll up after this batch."""
        return (number + 1) % TIMER == 0

    def done(self, number: int, _rows: pa.Table) -> None:
        self._waiting += 1
        if self.due(number):
            fresh, self._mark = self.store.read("facts", self._mark), self.store.facts.sequence
            self.store.put("hourly", folded(self.store.read("hourly"), index_of(fresh)), whole=True)
            self._waiting = 0

    def index(self, since: int) -> pl.DataFrame:
        import polars as pl

        fresh = index_of(self.store.read("facts", self._mark))
        return folded(self.store.read("hourly"), fresh).filter(pl.col("hour") >= since)


class Probabilistic(Rolled):
    """Rolled up with a probability that increases with the number of pending files, and when an hour ends."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._rng = random.Random(7)  # noqa: S311 - the same day every time

    def due(self, number: int) -> bool:
        boundary = (START + (number + 1) * MINUTE) % HOUR == 0
        return boundary or self._rng.random() < self._waiting / MERGE_AT


class Dual(Strategy):
    """The last hours are read from memory, the rest from the hourly index, to which an hour is added when it ends."""

    def __init__(self, store: Store) -> None:
        import polars as pl

        super().__init__(store)
        self._names = pl.Enum([f"{number:032x}" for number in range(TABLES)])
        self._hot: list[pl.DataFrame] = []
        self._merged = 0

    def done(self, number: int, rows: pa.Table) -> None:
        import polars as pl

        self._hot.append(fold_input(rows).with_columns(pl.col("table_uuid").cast(self._names)))
        at = START + (number + 1) * MINUTE
        if at % HOUR == 0:
            ended = pl.concat(self._hot[self._merged :])
            self._hot[self._merged :] = [ended]
            self._merged = len(self._hot)
            self.store.put("hourly", folded(self.store.read("hourly"), _named(index_of(ended))), whole=True)

    def index(self, since: int) -> pl.DataFrame:
        import polars as pl

        begin = self._hot[self._merged]["committed_at"][0] if self._merged < len(self._hot) else START
        if since >= begin // HOUR * HOUR - HOUR:
            recent = pl.concat(self._hot[max(self._merged - 1, 0) :]).filter(pl.col("committed_at") >= since)
            return _named(index_of(recent))
        rest = _named(index_of(pl.concat(self._hot[self._merged :])))
        return folded(self.store.read("hourly"), rest).filter(pl.col("hour") >= since)

    def held_bytes(self) -> int:
        return sum(part.estimated_size() for part in self._hot)


def _named(index: pl.DataFrame) -> pl.DataFrame:
    """Index rows with names instead of numbers."""
    import polars as pl

    return index.with_columns(pl.col("table_uuid").cast(pl.String))


STRATEGIES: dict[str, type[Strategy]] = {
    "none": Strategy,
    "master": Master,
    "hierarchical": Hierarchical,
    "dual": Dual,
    "decoupled": Rolled,
    "probabilistic": Probabilistic,
}


class Asked(NamedTuple):
    """Milliseconds of a query, and its result."""

    milliseconds: float
    answer: list[tuple[Any, ...]]


def day_of_batches(clock: Clock, folder: str, name: str, batches: str) -> dict[str, Any]:
    """A day of one strategy: CPU seconds of appends and of the index (without housekeeping), and two queries."""
    store = Store(Path(folder))
    strategy, appends, index = STRATEGIES[name](store), 0.0, 0.0
    for number in range(int(batches)):
        rows = store.batch(number)
        store.warp.tick(MINUTE)
        with clock():
            started = time.process_time()
            store.append(rows)
            between = time.process_time()
            strategy.done(number, rows)
            appends += between - started
            index += time.process_time() - between
        if (number + 1) % 60 == 0:
            store.facts.merge_manifests()
    now = START + int(batches) * MINUTE
    this_hour = now // HOUR * HOUR
    hot, cold = _asked(strategy, this_hour - HOUR, now), _asked(strategy, START // HOUR * HOUR, this_hour - 2 * HOUR)
    return {
        "append_seconds": appends,
        "index_seconds": index,
        "commits": store.commits,
        "hot_ms": hot.milliseconds,
        "cold_ms": cold.milliseconds,
        "held_mb": strategy.held_bytes() / 1e6,
        "answers": [hot.answer, cold.answer],
    }


def _asked(strategy: Strategy, start: int, end: int) -> Asked:
    """The total added to every table, and its maximum number of files, in the hours between two instants."""
    import polars as pl

    times, found = [], pl.DataFrame()
    for _ in range(ASKED):
        started = time.perf_counter()
        rows = strategy.index(start).filter(pl.col("hour") < end).group_by("table_uuid")
        found = rows.agg(pl.col("commits").sum(), pl.col("added_bytes").sum(), pl.col("files_max").max())
        times.append((time.perf_counter() - started) * 1e3)
    return Asked(min(times), found.sort("table_uuid").rows())


TASKS: dict[str, Callable[..., Any]] = {"day_of_batches": day_of_batches}
