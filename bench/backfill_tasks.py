"""Tasks of `backfill.py`: generates a table with years of commits, and runs the pipeline that first observes it."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MERGED = 100
"""Manifests of single commits that are merged into one: Iceberg's `commit.manifest.min-count-to-merge`."""
FILES = 4
DAY_MS = 86_400_000
Clock = Callable[[], contextlib.AbstractContextManager[None]]


def make_history(clock: Clock, folder: str, snapshots: str, days: str, merged: str = str(MERGED)) -> int:
    """A lake with one table `sales.orders`: `snapshots` commits, spread evenly over the last `days` days."""
    from sqlalchemy import text

    from lakes import Lake

    home, count = Path(folder), int(snapshots)
    (home / "orders").mkdir(parents=True)
    with clock():
        location = aged_history(home / "orders", count, int(days), int(merged))
        catalog = Lake(home)
        with catalog.catalog.engine.begin() as connection:
            connection.execute(
                text("insert into iceberg_tables values ('lake', 'sales', 'orders', :l, null, 'TABLE')"),
                {"l": location},
            )
    return count


def aged_history(folder: Path, snapshots: int, days: int, merged: int = MERGED, end_ms: int | None = None) -> str:
    """Fast appends of FILES files each. After every `merged` of them (0: never) one manifest with their entries
    replaces theirs. Returns the metadata file.
    """
    from lake import LIST_SCHEMA, Files, line, metadata, snapshot, snapshot_id, write

    from avro_writer import container, encoder

    made, encode = Files(), encoder(LIST_SCHEMA)
    old: list[bytes] = []
    fresh: list[bytes] = []
    history: list[dict[str, Any]] = []
    end = int(time.time() * 1000) - 60_000 if end_ms is None else end_ms
    step = days * 86_400_000 // snapshots
    for number in range(snapshots):
        own = snapshot_id(number)
        if merged and len(fresh) == merged:
            first = number - merged
            body = b"", [made.entry(n, snapshot_id(n // FILES), status=0) for n in range(first * FILES, number * FILES)]
            content = _manifest(made, body[1])
            path = write(folder / "metadata" / f"{number:05d}-m1.avro", content)
            told = line(path, len(content), own, 0, number + 1)
            told |= {"existing_files_count": merged * FILES, "existing_rows_count": merged * FILES * 125_000}
            old.append(encode(told))
            fresh.clear()
        content = made.manifest(range(number * FILES, (number + 1) * FILES), own)
        path = write(folder / "metadata" / f"{number:05d}-m0.avro", content)
        fresh.append(encode(line(path, len(content), own, FILES, number + 1)))
        packed = container(
            LIST_SCHEMA, itertools.chain(reversed(fresh), reversed(old)), header={"format-version": "2"}, pack=_deflate
        )
        listed = write(folder / "metadata" / f"snap-{own}.avro", packed)
        found = snapshot(number, listed, snapshot_id(number - 1) if number else None)
        found["timestamp-ms"] = end - (snapshots - 1 - number) * step
        history.append(found)
    document = json.dumps(metadata(f"file://{folder}", history)).encode()
    return write(folder / "metadata" / f"{snapshots:05d}-aged.metadata.json", document)


def _manifest(made: Any, entries: list[bytes]) -> bytes:
    from lake import SCHEMA, SPEC

    from avro_writer import JAVA_BLOCK_BYTES, container

    header = {"schema": json.dumps(SCHEMA), "partition-spec": json.dumps(SPEC), "partition-spec-id": "0"}
    header |= {"format-version": "2", "content": "data"}
    return container(made.schema, iter(entries), header=header, block_bytes=JAVA_BLOCK_BYTES, pack=_deflate)


def _deflate(_codec: str, body: bytes) -> bytes:
    from isal import isal_zlib

    packer = isal_zlib.compressobj(2, isal_zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


class Watch(threading.Thread):
    """Polls the meta table as a reader does, until all rows of some span are visible."""

    def __init__(self, home: Path, wanted: dict[str, int]) -> None:
        super().__init__(daemon=True)
        self._home, self._wanted = home, wanted
        self.begun = time.monotonic()
        self.seconds: dict[str, float] = {}
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.5):
            self.look()

    def look(self) -> None:
        """Check now."""
        from pyiceberg.exceptions import NoSuchTableError

        from lakes import Lake

        with contextlib.suppress(NoSuchTableError):
            table = Lake(self._home).catalog.load_table("limnograph.snapshots")
            head = table.current_snapshot()
            total = int(head.summary["total-records"] or 0) if head and head.summary else 0
            for name, count in self._wanted.items():
                if total >= count:
                    self.seconds.setdefault(name, time.monotonic() - self.begun)


def first_sight(clock: Clock, folder: str, days: str) -> dict[str, float]:
    """Runs `pipeline --once` on a lake that it has never observed, with 1 GB for the driver. Seconds until a reader can
    see the newest rows, and all of them.
    """
    from lakes import Lake
    from limnograph.jobs import pipeline

    home = Path(folder)
    settings = Lake(home).settings(spark={"master": "local[2]", "conf": {"spark.driver.memory": "1g"}})
    document = json.loads(next((home / "orders" / "metadata").glob("*.metadata.json")).read_text())
    # Full days back from the latest commit; a portion consists of calendar days, so it spans one day more.
    times = [snapshot["timestamp-ms"] for snapshot in document["snapshots"]]
    newest = sum(time > max(times) - int(days) * DAY_MS for time in times)
    watch = Watch(home, {"newest": newest, "all": len(times)})
    watch.start()
    with clock():
        total = pipeline.run_once(
            settings, lambda line: print(f"{time.monotonic() - watch.begun:7.2f} {line}", flush=True)
        )
    watch.ended.set()
    watch.look()
    return {**watch.seconds, "appended": total.snapshots_appended, "whole": time.monotonic() - watch.begun}


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (make_history, first_sight)}
