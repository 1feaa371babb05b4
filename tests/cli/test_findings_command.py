"""`limnograph findings` on meta tables in files: what is wrong, and what a team wrote on it, now and at an instant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog

from golden_tables import append
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.cli.findings import command
from limnograph.domain.facts.meta_tables import CHANGES, NOTES, SNAPSHOTS
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem
from limnograph.settings import load
from serving_kit import HOUR, MINUTE, NOW, UUID, change, moved, row, schema

AT = NOW + HOUR


def lake(folder: Path) -> tuple[Path, SqlCatalog]:
    """Meta tables of a table that lost a column at NOW, and settings that name its owner."""
    uri = f"sqlite:///{folder / 'catalog.db'}"
    made = SqlCatalog("lake", uri=uri, warehouse=f"file://{folder / 'warehouse'}")
    ensure_meta_tables(made, "limnograph")
    columns = (1, "id", "long"), (2, "day", "date")
    rows = [
        (SNAPSHOTS, row(1, NOW - HOUR, 10, observed_at=NOW)),
        (CHANGES, moved(1, NOW - HOUR)),
        (CHANGES, change("named", NOW - HOUR, "lake.sales.orders", subject="lake.sales.orders")),
        (CHANGES, schema(0, NOW - HOUR, *columns)),
        (CHANGES, schema(1, NOW, columns[0], before=0)),
    ]
    for number, (table, fact) in enumerate(rows):
        append(made, None, table, fact, number)
    settings = folder / "limnograph.toml"
    settings.write_text(
        f'[catalogs.lake]\ntype = "sql"\nuri = "{uri}"\nwarehouse = "file://{folder / "warehouse"}"\n'
        '[[owners]]\ntables = "lake.sales.*"\nowner = "team-sales"\n'
    )
    return settings, made


def printed(settings: Path, *more: str) -> str:
    found = CliRunner().invoke(command, ["--config", str(settings), *more], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def found(settings: Path, at: int) -> dict[str, Any]:
    (line,) = printed(settings, "--json", "--at", str(at // 1000)).splitlines()
    finding: dict[str, Any] = json.loads(line)
    return finding


def test_findings_are_printed_with_owner_acknowledgement_and_notes(tmp_path: Path) -> None:
    settings, meta = lake(tmp_path)
    before = found(settings, AT)
    assert (before["code"], before["owner"], before["notes"], before["acknowledged_until"]) == (
        "schema_breaking",
        "team-sales",
        0,
        None,
    )
    on_it = {"scope": "finding", "target": before["finding_id"], "table_uuid": UUID, "author": "ada\x1b"}
    note = NoteFact(event_id="n", at=Micros(NOW + MINUTE), kind="note", text="planned", **on_it)
    append(meta, None, NOTES, note, 9)
    until = Micros(NOW + 3 * HOUR)
    ack = NoteFact(event_id="a", at=Micros(NOW + 2 * MINUTE), kind="ack", until=until, severity="warning", **on_it)
    inbox = SqlInbox(load(str(settings)).inbox_url)
    inbox.put([InboxItem("note", "a", msgspec.json.encode(ack), Micros(NOW))])
    append(meta, None, CHANGES, change("property", NOW + MINUTE, "team-property", subject="owner"), 10)

    line = printed(settings, "--at", str(AT // 1000))
    assert line.endswith(
        " [acknowledged until 2026-11-21 13:00 UTC by ada\N{REPLACEMENT CHARACTER}; owner team-property; 1 note]\n"
    ), line
    earlier = found(settings, NOW + MINUTE // 2)
    assert (earlier["owner"], earlier["notes"], earlier["acknowledged_by"]) == ("team-sales", 0, None)
    assert found(settings, NOW + 4 * HOUR)["acknowledged_until"] is None, "it has expired"
