"""The demo's token: one per lake, valid again after a restart, replaced when it is lost or too narrow."""

import stat
from pathlib import Path

import pytest

from limnograph.demo.folder import Folder
from limnograph.demo.login import SCOPES, ensure_token, login_link, read_token
from limnograph.demo.processes.configuration import limnograph_toml
from limnograph.settings import load
from limnograph.wiring.access import access, tokens


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    made.make()
    made.config.write_text(limnograph_toml(made.place, 9090, 8787, [], pipeline_port=9464))
    return made


def test_the_token_stays_the_same_and_is_readable_by_its_owner_only(folder: Folder) -> None:
    token = ensure_token(folder.token, folder.config)
    assert ensure_token(folder.token, folder.config) == token == read_token(folder.token)
    assert stat.S_IMODE(folder.token.stat().st_mode) == 0o600
    identity = tokens(load(folder.config)).verify(token)
    assert identity is not None
    assert identity.scopes == frozenset(SCOPES)
    assert login_link("http://127.0.0.1:8787", token) == f"http://127.0.0.1:8787/login/link#{token}"


def test_a_token_that_is_lost_or_lacks_a_scope_is_replaced_and_the_old_one_is_revoked(folder: Folder) -> None:
    def is_valid(token: str) -> bool:
        return (
            tokens(load(folder.config)).verify(token) is not None
        )  # a new store, because one rereads its file only after a while

    narrow, _ = tokens(load(folder.config)).create("demo", ["read"])
    assert is_valid(narrow)
    folder.token.write_text(narrow)
    wide = ensure_token(folder.token, folder.config)
    assert not is_valid(narrow)
    folder.token.unlink()
    assert ensure_token(folder.token, folder.config) != wide
    assert not is_valid(wide)


@pytest.mark.parametrize("login", [True, False])
def test_the_server_requires_it_unless_the_user_wants_no_login(folder: Folder, *, login: bool) -> None:
    folder.config.write_text(limnograph_toml(folder.place, 9090, 8787, [], pipeline_port=9464, login=login))
    assert (access(load(folder.config)) is not None) == login
