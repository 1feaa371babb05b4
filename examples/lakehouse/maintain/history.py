"""A table with a past: commits of minutes are dated over hours that have gone by, as if a job had run once in each.

What only age reaches (an expiry keeps each snapshot for a day, a rewrite leaves fresh partitions alone) can be shown
at once. Files, manifests and snapshots are those that the engine wrote; only the instants in the metadata file differ.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from lakehouse.parts.lake import Lake, TableLayout

ASIDE = "lake.aside"
"""A namespace that Limnograph does not observe."""
HOUR_MS = 3_600_000


def create_old(lake: Lake, layout: TableLayout, write: Callable[[str], None], oldest_h: float, newest_h: float) -> None:
    """Create a table aside, let `write` commit to it, date its commits from `oldest_h` to `newest_h` hours ago, and
    register it under its own name.
    """
    aside = layout._replace(name=f"{ASIDE}.{layout.name.rpartition('.')[2]}")
    name = layout.name.removeprefix("lake.")
    lake.create(aside, f"s3://lake/warehouse/{name.replace('.', '/')}")
    write(aside.name)
    loaded = lake.catalog.load_table(aside.name.removeprefix("lake."))
    with loaded.io.new_input(loaded.metadata_location).open() as file:
        metadata = json.loads(file.read())
    now_ms = time.time_ns() // 1_000_000
    dated = date_back(metadata, round(now_ms - oldest_h * HOUR_MS), round(now_ms - newest_h * HOUR_MS))
    location = f"{loaded.location()}/metadata/{len(metadata['snapshots']) + 1:05d}-{uuid4()}.metadata.json"
    with loaded.io.new_output(location).create() as file:
        file.write(json.dumps(dated).encode())
    lake.catalog.drop_table(aside.name.removeprefix("lake."))
    lake.sql(f"create namespace if not exists {layout.name.rpartition('.')[0]}")
    lake.catalog.register_table(name, location)


def date_back(metadata: Mapping[str, Any], first_ms: int, last_ms: int) -> dict[str, Any]:
    """Table metadata with its snapshots spread evenly over a range of instants. It lists no older metadata files: those
    have the instants at which they were written.
    """
    order = sorted(metadata["snapshots"], key=lambda each: each["sequence-number"])
    step = (last_ms - first_ms) / max(1, len(order) - 1)
    instants = {each["snapshot-id"]: round(first_ms + n * step) for n, each in enumerate(order)}
    return {
        **metadata,
        "last-updated-ms": last_ms,
        "snapshots": [{**each, "timestamp-ms": instants[each["snapshot-id"]]} for each in metadata["snapshots"]],
        "snapshot-log": [{**each, "timestamp-ms": instants[each["snapshot-id"]]} for each in metadata["snapshot-log"]],
        "metadata-log": [],
    }
