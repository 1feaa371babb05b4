"""Tables that notifications name, out of a real inbox."""

from __future__ import annotations

from pathlib import Path

import msgspec

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.notices import notice
from limnograph.ports.inbox import InboxItem
from limnograph.wiring.notified import NotifiedTables


def test_each_notification_causes_one_early_probe_of_its_table(tmp_path: Path) -> None:
    inbox = SqlInbox(f"sqlite:///{tmp_path}/inbox.db")
    notified = NotifiedTables(inbox)
    assert notified() == set()

    def told(table: str | None, at: int) -> None:
        name = TableName("lake", "a.b", table) if table else None
        payload = msgspec.json.encode(notice("s3", (str(at),), name))
        inbox.put([InboxItem("notification", str(at), payload, at, at)])

    told("one", 10)
    assert notified() == {TableName("lake", "a.b", "one")}
    assert notified() == set()
    told(None, 20)
    told("two", 30)
    inbox.put([InboxItem("notification", "odd", b"of another version", 40, 40)])
    assert TableName("lake", "a.b", "two") in notified()
    assert notified() == set()


def test_an_unavailable_inbox_causes_no_early_probe(tmp_path: Path) -> None:
    (tmp_path / "inbox.db").write_bytes(b"this is no database, and long enough to be taken for one" * 20)
    assert NotifiedTables(SqlInbox(f"sqlite:///{tmp_path}/inbox.db"))() == set()
