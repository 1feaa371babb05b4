"""What the state folder holds is for its owner alone: new files whatever the umask, older ones from the next start."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from limnograph.adapters.access.audit import AuditFile
from limnograph.adapters.access.files import replace, session_key
from limnograph.adapters.access.tokens import EndedFile, TokenFile
from limnograph.adapters.counters.file import CounterFile
from limnograph.adapters.iceberg.sums.cache_file import CacheFile
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.private_files import tighten_below
from limnograph.adapters.spark.checkpoint import fresh_checkpoint
from limnograph.demo.folder import Folder
from limnograph.domain.access import AuditEvent
from limnograph.ports.inbox import InboxItem
from limnograph.services.access.tokens import Tokens
from limnograph.settings import parse
from limnograph.wiring.state import private_state
from serving_kit import FixedClock


@pytest.fixture(params=[0o000, 0o022, 0o277], ids=oct)
def umask(request) -> Iterator[int]:
    before = os.umask(request.param)
    try:
        yield request.param
    finally:
        os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Of all below a folder and of itself, without what Spark or SQLite may have left behind meanwhile."""
    found = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode) for path in found}


def everything(state: Path) -> SqlInbox:
    """All that programs keep; the inbox is left open, with its files beside it."""
    inbox = SqlInbox(f"sqlite:///{state}/inbox.db")
    inbox.put([InboxItem("run", "k", b"{}", 1)])
    Tokens(TokenFile(state / "tokens.json"), FixedClock()).create("a", ["read"])
    EndedFile(state / "sessions-ended.json").end("s", 2, 1)
    session_key(state / "session.key")
    AuditFile(state / "audit.log").write(AuditEvent(at="", who="", what="", outcome=""))
    CounterFile(state / "counters.json").save({})
    replace(state / "other", b"x")
    CacheFile(state / "cache" / "iceberg" / "t.db").put({"manifest": {b"k": b"v"}})
    return inbox


def test_all_stored_files_are_readable_by_their_owner_only_whatever_the_umask(tmp_path, umask) -> None:
    state = tmp_path / "above" / ".limnograph"
    inbox = everything(state)
    fresh_checkpoint(state / "checkpoint", print)
    found = modes(state.parent)
    inbox.close()
    assert {"inbox.db", "inbox.db-wal", "inbox.db-shm", "tokens.json", "session.key", "audit.log", "counters.json"} <= {
        path.removeprefix(".limnograph/") for path in found
    }
    assert {path: oct(mode) for path, mode in found.items() if mode & 0o077} == {}
    assert all(mode & 0o600 == 0o600 for mode in found.values())


def test_permissions_of_an_older_state_folder_are_tightened_with_one_line_but_not_through_links(
    tmp_path, caplog
) -> None:
    state, outside = tmp_path / ".limnograph", tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    everything(state).close()
    (state / "link").symlink_to(outside)
    for path in (state, *(path for path in state.rglob("*") if not path.is_symlink())):
        path.chmod(0o755 if path.is_dir() else 0o644)
    settings = parse({"catalogs": {"x": {"type": "sql", "uri": "sqlite://", "warehouse": "file:///w"}}}, tmp_path, {})
    with caplog.at_level(logging.WARNING):
        private_state(settings)
        private_state(settings)
    assert {path: oct(mode) for path, mode in modes(state).items() if mode & 0o077 and path != "link"} == {}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
    assert len(caplog.records) == 1
    assert str(state) in caplog.text


def test_permissions_of_a_file_in_a_foreign_folder_are_tightened_and_the_folder_is_not_changed(
    tmp_path, caplog
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    for name in ("inbox.db", "inbox.db-wal", "tokens.json.lock"):
        (shared / name).touch()
        (shared / name).chmod(0o666)
    SqlInbox(f"sqlite:///{shared}/inbox.db").put([InboxItem("run", "k", b"{}", 1)])
    Tokens(TokenFile(shared / "tokens.json"), FixedClock()).create("a", ["read"])
    found = modes(shared)
    assert found.pop(".") == 0o777
    assert {path: oct(mode) for path, mode in found.items() if mode & 0o077} == {}
    assert "inbox.db was readable by other users" in caplog.text


def test_the_folder_of_the_demo_is_private_if_the_demo_creates_it(tmp_path) -> None:
    with Folder(tmp_path / "demo").held():
        assert modes(tmp_path / "demo")["."] == 0o700
    assert tighten_below(tmp_path / "none") == 0
