"""One contract over every Inbox: durable, once per key, oldest first."""

import sqlite3

import pytest

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.errors import SettingsError, SourceUnavailable
from limnograph.ports.inbox import InboxItem


@pytest.fixture(params=["memory", "sqlite"])
def inbox(request, tmp_path):
    return MemoryInbox() if request.param == "memory" else SqlInbox(f"sqlite:///{tmp_path}/state/inbox.db")


def item(key: str, at: int = 1, kind: str = "run") -> InboxItem:
    return InboxItem(kind, key, b"{}", at)


def test_an_empty_inbox_has_no_items(inbox) -> None:
    assert inbox.items("run") == []


def test_a_repeat_of_a_key_is_ignored_within_and_across_calls(inbox) -> None:
    assert inbox.put([item("a"), item("a"), item("b")]) == 2
    assert inbox.put([InboxItem("run", "a", b"other", 9)]) == 0
    assert [i.payload for i in inbox.items("run")] == [b"{}", b"{}"]


def test_the_same_key_of_another_kind_is_another_item(inbox) -> None:
    assert inbox.put([item("a"), item("a", kind="alert")]) == 2
    assert len(inbox.items("alert")) == 1


def test_items_come_oldest_first_from_an_instant_on(inbox) -> None:
    inbox.put([item("late", 30), item("early", 10), item("middle", 20)])
    assert [i.key for i in inbox.items("run")] == ["early", "middle", "late"]
    assert [i.key for i in inbox.items("run", since=20)] == ["middle", "late"]


def test_what_was_accepted_is_there_for_the_next_process(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/inbox.db"
    first = SqlInbox(url)
    first.put([item("a")])
    assert [i.key for i in SqlInbox(url).items("run")] == ["a"]


def test_an_inbox_that_cannot_store_says_so(tmp_path) -> None:
    (tmp_path / "inbox.db").write_bytes(b"this is no database, and long enough to be taken for one" * 20)
    with pytest.raises(SourceUnavailable, match="inbox"):
        SqlInbox(f"sqlite:///{tmp_path}/inbox.db").put([item("a")])
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(tmp_path / "inbox.db").execute("select * from inbox")


@pytest.mark.parametrize("url", ["nonsense", "nosuchdb://host/inbox", "postgresql://host:port/inbox"])
def test_a_url_of_no_database_names_its_key(url) -> None:
    with pytest.raises(SettingsError, match=r"^inbox\.url: is not a database URL"):
        SqlInbox(url)
