"""One contract over every Inbox: durable, once per key, oldest first, gone an hour after its commit."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.errors import SettingsError, SourceUnavailable
from limnograph.ports.inbox import InboxItem, item_key

ALL = ("run", "alert", "report", "label", "notification")
Open = Callable[[], Any]


@pytest.fixture
def database(emptied: Callable[[Sequence[str]], str]) -> str:
    """URL of an empty PostgreSQL database."""
    return emptied(("inbox",))


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the same inbox again and again, as another process would."""
    if request.param == "memory":
        kept = MemoryInbox()
        return lambda: kept
    url = f"sqlite:///{tmp_path}/state/inbox.db" if request.param == "sqlite" else request.getfixturevalue("database")
    return lambda: SqlInbox(url)


@pytest.fixture
def inbox(opened: Open) -> Any:
    return opened()


def item(key: str, at: int = 1, kind: str = "run", committed_at: int | None = None) -> InboxItem:
    return InboxItem(kind, key, b"{}", at, committed_at)


def keys(items: list[InboxItem]) -> list[str]:
    return [found.key for found in items]


def test_an_empty_inbox_has_no_items(inbox: Any) -> None:
    assert inbox.items("run") == []
    assert inbox.waiting(ALL, 10) == []
    assert inbox.newest("run") is None
    assert inbox.purge(10**18) == 0


def test_a_repeat_of_a_key_is_ignored_within_and_across_calls(inbox: Any, opened: Open) -> None:
    assert inbox.put([item("a"), item("a"), item("b")]) == 2
    assert opened().put([InboxItem("run", "a", b"other", 9)]) == 0
    assert [i.payload for i in opened().items("run")] == [b"{}", b"{}"]


def test_the_same_key_of_another_kind_is_another_item(inbox: Any) -> None:
    assert inbox.put([item("a"), item("a", kind="alert")]) == 2
    assert len(inbox.items("alert")) == 1


def test_items_since_an_instant_are_returned_oldest_first(inbox: Any) -> None:
    inbox.put([item("late", 30), item("early", 10), item("middle", 20)])
    assert keys(inbox.items("run")) == ["early", "middle", "late"]
    assert keys(inbox.items("run", since=20)) == ["middle", "late"]
    assert keys(inbox.waiting(("run",), 2)) == ["early", "middle"]
    assert inbox.newest("run") == 30


def test_a_marked_item_is_no_longer_waiting_and_stays_until_it_is_purged(inbox: Any, opened: Open) -> None:
    inbox.put([item("a"), item("b"), item("c", kind="alert")])
    inbox.mark([item("a"), item("gone")], at=100)
    inbox.mark([item("a")], at=900)
    assert keys(opened().waiting(ALL, 10)) == ["c", "b"]
    assert {i.key: i.committed_at for i in inbox.items("run")} == {"a": 100, "b": None}
    assert inbox.purge(before=100) == 0
    assert opened().purge(before=101) == 1
    assert keys(inbox.items("run")) == ["b"]
    assert inbox.put([item("a", 5)]) == 1


def test_the_backlog_is_the_number_of_items_in_no_table_yet_and_the_oldest_of_them(inbox: Any) -> None:
    assert inbox.backlog(ALL) == (0, None)
    inbox.put([item("b", 7), item("a", 5), item("c", 3, kind="alert"), item("n", 1, "notification", committed_at=1)])
    assert inbox.backlog(ALL) == (3, 3)
    assert inbox.backlog(("run",)) == (2, 5)
    inbox.mark([item("a")], at=100)
    assert inbox.backlog(("run",)) == (1, 7)


def test_items_that_need_no_row_are_never_waiting(inbox: Any) -> None:
    inbox.put([item("n", 7, "notification", committed_at=7)])
    assert inbox.waiting(ALL, 10) == []
    assert inbox.newest("notification") == 7
    assert inbox.purge(before=8) == 1


def test_the_newest_mark_of_a_pass_is_never_purged(inbox: Any, opened: Open) -> None:
    inbox.put(
        [item("1", 1, "pass", committed_at=1), item("2", 2, "pass", committed_at=2), item("n", 3, committed_at=3)]
    )
    assert inbox.purge(before=100) == 2
    assert opened().newest("pass") == 2
    assert inbox.backlog(ALL) == (0, None)


def test_odd_bytes_and_keys_are_read_back_unchanged(inbox: Any, opened: Open) -> None:
    odd = item_key("r\x00ün", "ok\ud7ff", "x" * 5000)
    payload = bytes(range(256))
    inbox.put([InboxItem("run", odd, payload, 2**60)])
    assert opened().items("run") == [InboxItem("run", odd, payload, 2**60)]


def test_many_writers_of_the_same_keys_store_each_once(opened: Open) -> None:
    new: list[int] = []

    def write(order: int) -> None:
        names = [f"k{i}" for i in range(40)][::order]
        new.append(opened().put([item(name) for name in names]))

    writers = [threading.Thread(target=write, args=(order,)) for order in (1, -1, 1, -1)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sum(new) == 40
    assert len(opened().items("run")) == 40


def test_accepted_items_are_there_for_the_next_process(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/inbox.db"
    first = SqlInbox(url)
    first.put([item("a")])
    assert keys(SqlInbox(url).items("run")) == ["a"]


OLDER = (
    "create table inbox (kind varchar(32) not null, key varchar(1200) not null, payload {bytes} not null, "
    "accepted_at bigint not null, primary key (kind, key))"
)


def test_an_inbox_of_an_older_version_is_upgraded_in_place(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "inbox.db") as older:
        older.execute(OLDER.format(bytes="blob"))
        older.execute("insert into inbox values ('run', '[\"r\",\"ok\"]', x'7b7d', 5)")
    older.close()
    found: list[list[InboxItem]] = []

    def use() -> None:
        found.append(SqlInbox(f"sqlite:///{tmp_path}/inbox.db").waiting(ALL, 10))

    users = [threading.Thread(target=use) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert found == [[InboxItem("run", '["r","ok"]', b"{}", 5, None)]] * 4
    with sqlite3.connect(tmp_path / "inbox.db") as again:
        # A program of the older version still writes into it.
        again.execute("insert into inbox (kind, key, payload, accepted_at) values ('run', 'x', x'7b7d', 6)")
    again.close()
    inbox = SqlInbox(f"sqlite:///{tmp_path}/inbox.db")
    inbox.mark(inbox.waiting(ALL, 1), at=9)
    assert keys(inbox.waiting(ALL, 10)) == ["x"]


@pytest.mark.slow
def test_an_older_inbox_in_postgresql_is_upgraded_too(database: str) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(database)
    with engine.begin() as connection:
        connection.execute(sa.text(OLDER.format(bytes="bytea")))
        connection.execute(sa.text("insert into inbox values ('run', 'a', '{}', 5)"))
    engine.dispose()
    inbox = SqlInbox(database)
    assert keys(inbox.waiting(ALL, 10)) == ["a"]
    inbox.mark(inbox.waiting(ALL, 10), at=9)
    assert SqlInbox(database).purge(10) == 1


def test_an_inbox_that_cannot_store_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "inbox.db").write_bytes(b"this is no database, and long enough to be taken for one" * 20)
    with pytest.raises(SourceUnavailable, match="inbox"):
        SqlInbox(f"sqlite:///{tmp_path}/inbox.db").put([item("a")])
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(tmp_path / "inbox.db").execute("select * from inbox")


def test_an_inbox_in_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    with pytest.raises(SourceUnavailable, match="inbox"):
        SqlInbox(f"sqlite:///{tmp_path}/state/inbox.db").newest("run")


@pytest.mark.parametrize("url", ["nonsense", "nosuchdb://host/inbox", "postgresql://host:port/inbox"])
def test_a_url_that_is_not_of_a_database_names_its_key(url: str) -> None:
    with pytest.raises(SettingsError, match=r"^inbox\.url: is not a database URL"):
        SqlInbox(url)


def test_keys_stay_readable_while_they_are_short_and_plain() -> None:
    assert item_key("r1", "ok") == '["r1","ok"]'
    assert item_key("ü", "ok").startswith("sha256:")
    assert item_key("x" * 400, "ok") != item_key("x" * 400, "failed")
