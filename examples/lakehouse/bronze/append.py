"""Appends to bronze. Each asks the table itself what it has, so that a run after a crash adds what is missing, once."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lakehouse.bronze.tables import CDC, CLICKS, PARTNERS, RATES
from lakehouse.ingest import api, slot
from lakehouse.ingest.pgoutput import Change
from lakehouse.parts.lake import Lake, TableLayout

LANDING = "s3://lake/landing"


def append_changes(lake: Lake, *, crash: bool = False) -> int:
    """The slot's changes. `crash`: end after the append, before the slot is advanced, as a killed job would."""
    peeked = slot.peek(lake.shop)
    done = lake.one(f"select coalesce(max(commit_lsn), 0) from {CDC.name}")
    now = datetime.now(UTC)
    rows = [change_row(change, now) for change in peeked.changes if change.commit_lsn > done]
    _append(lake, CDC, rows)
    if not crash:
        slot.advance(lake.shop, peeked.upto)
    return len(rows)


def change_row(change: Change, now: datetime) -> tuple[Any, ...]:
    """A change by the columns of `bronze.cdc`. `source` is named as Debezium names its topics."""
    image = change.after or change.before or {}
    at = datetime.fromtimestamp(change.ts_us / 1_000_000, UTC)
    key = json.dumps({"id": image.get("id")})
    before, after = (json.dumps(row) if row else None for row in (change.before, change.after))
    source = f"shop.{change.table}"
    return (source, key, change.op, at, change.lsn, change.commit_lsn, change.tx_id, before, after, now)


def append_clicks(lake: Lake, log: Path) -> int:
    """The lines of the log that come after the last offset in the table."""
    first = lake.one(f"select coalesce(max(source_offset) + 1, 0) from {CLICKS.name}")
    now = datetime.now(UTC)
    lines = log.read_text().splitlines()[first:] if log.exists() else []
    rows = [
        (row["event_id"], row["user_id"], row["page"], datetime.fromisoformat(row["event_at"]), now, 0, offset)
        for offset, row in enumerate(map(json.loads, lines), first)
    ]
    _append(lake, CLICKS, rows)
    return len(rows)


def land_files(lake: Lake, files: dict[str, bytes]) -> None:
    """What a partner does: put files into the landing folder."""
    for name, content in files.items():
        with lake.files.new_output(f"{LANDING}/{name}").create(overwrite=True) as output:
            output.write(content)


def append_partners(lake: Lake, names: tuple[str, ...]) -> int:
    """Files of the landing folder that the table does not have yet, by their names."""
    known = {row[0] for row in lake.sql(f"select distinct file from {PARTNERS.name}")}
    now, rows = datetime.now(UTC), list[tuple[Any, ...]]()
    for name in sorted(set(names) - known):
        with lake.files.new_input(f"{LANDING}/{name}").open() as file:
            content = file.read()
        rows += [
            (row["partner"], row["sku"], int(row["price_cents"]), date.fromisoformat(row["day"]), name, now)
            for row in parse_partner_file(name, content)
        ]
    _append(lake, PARTNERS, rows)
    return len(rows)


def parse_partner_file(name: str, content: bytes) -> list[dict[str, Any]]:
    """Rows of a CSV or JSON-lines file. Raises ValueError for any other."""
    text = content.decode()
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(text)))
    if name.endswith(".json"):
        return [json.loads(line) for line in text.splitlines()]
    raise ValueError(f"{name} is neither .csv nor .json")


def append_rates(lake: Lake, url: str) -> int:
    """Days of the API that the table does not have yet. Raises ApiRefused."""
    known = {(str(row[0]), row[1]) for row in lake.sql(f"select day, currency from {RATES.name}")}
    now = datetime.now(UTC)
    rows = [
        (date.fromisoformat(row["day"]), row["currency"], float(row["rate"]), now)
        for row in api.rates(url)
        if (row["day"], row["currency"]) not in known
    ]
    _append(lake, RATES, rows)
    return len(rows)


def _append(lake: Lake, layout: TableLayout, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        lake.spark.createDataFrame(rows, layout.columns).coalesce(1).writeTo(layout.name).append()
