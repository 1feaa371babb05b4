"""How the jars of the pipeline come: whole and right or not at all, once though two ask, from a mirror or a folder."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from limnograph.adapters.spark.ivy import resolver
from limnograph.adapters.spark.jars import (
    USUAL,
    Jars,
    cache_folder,
    ensure_jars,
    find_jars,
    in_folder,
    install,
    missing,
    sha256,
)
from limnograph.cli.setup import command
from limnograph.domain.errors import EnvironmentFault
from maven_mirror import maven_mirror

CONTENT = {"a-1.jar": b"first", "b-2.jar": b"second"}


@pytest.fixture
def jars(tmp_path: Path) -> Jars:
    lock = tmp_path / "lock"
    lock.write_text("".join(f"{hashlib.sha256(body).hexdigest()}  {name}\n" for name, body in CONTENT.items()))
    return Jars(("g:a:1", "g:b:2"), 1, lock)


def giving(content: dict[str, bytes]) -> Callable[[Path], dict[str, Path]]:
    def resolve(work: Path) -> dict[str, Path]:
        for name, body in content.items():
            (work / name).write_bytes(body)
        return {name: work / name for name in content}

    return resolve


def ignore(_line: str) -> None:
    """Nothing to do."""


def test_two_concurrent_setups_fetch_once_and_both_end_with_all_jars(tmp_path: Path, jars: Jars) -> None:
    folder, fetched, said, both = tmp_path / "jars", list[int](), list[str](), threading.Barrier(2)

    def slow(work: Path) -> dict[str, Path]:
        fetched.append(1)
        time.sleep(0.5)
        return giving(CONTENT)(work)

    def setup(_: int) -> list[str]:
        both.wait()
        install(jars, folder, slow, said.append)
        return missing(folder, jars)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(setup, range(2))) == [[], []]
    assert len(fetched) == 1
    assert any("waiting for it" in line for line in said)
    assert sorted(file.name for file in folder.iterdir()) == [".lock", "a-1.jar", "b-2.jar"]


def test_a_truncated_or_wrong_file_is_never_used(tmp_path: Path, jars: Jars) -> None:
    folder = tmp_path / "jars"
    for wrong in (b"seco", b"another"):
        with pytest.raises(EnvironmentFault, match=r"b-2\.jar does not match this version"):
            install(jars, folder, giving({**CONTENT, "b-2.jar": wrong}), ignore)
        assert missing(folder, jars) == ["b-2.jar"]
        assert sorted(file.name for file in folder.glob("*")) == [".lock", "a-1.jar"]
    with pytest.raises(EnvironmentFault, match=r"b-2\.jar was not found"):
        install(jars, folder, giving({"a-1.jar": b"first"}), ignore)
    install(jars, folder, giving(CONTENT), ignore)
    assert missing(folder, jars) == []


def test_a_damaged_jar_and_the_remains_of_a_killed_setup_are_replaced(tmp_path: Path, jars: Jars) -> None:
    folder = tmp_path / "jars"
    (folder / ".setup-killed").mkdir(parents=True)
    (folder / "a-1.jar").write_bytes(b"fir")
    install(jars, folder, giving(CONTENT), ignore)
    assert sha256(folder / "a-1.jar") == jars.checksums["a-1.jar"]
    assert not (folder / ".setup-killed").exists()


def test_without_a_network_jars_come_from_a_folder_by_either_name(tmp_path: Path, jars: Jars) -> None:
    placed = tmp_path / "placed"
    placed.mkdir()
    (placed / "g_a-1.jar").write_bytes(b"first")
    (placed / "b-2.jar").write_bytes(b"second")
    install(jars, tmp_path / "jars", in_folder(placed, jars), ignore)
    assert missing(tmp_path / "jars", jars) == []


def test_a_folder_that_cannot_be_written_is_named_with_the_remedy(tmp_path: Path, jars: Jars) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentFault, match=r"cannot write jars into .*XDG_CACHE_HOME"):
        install(jars, tmp_path / "file" / "jars", giving(CONTENT), ignore)


def test_the_cache_of_a_user_is_in_the_cache_folder_of_the_system() -> None:
    assert cache_folder({"HOME": "/u"}, "linux") == Path("/u/.cache/limnograph/jars")
    assert cache_folder({"HOME": "/u"}, "darwin") == Path("/u/Library/Caches/limnograph/jars")
    assert cache_folder({"HOME": "/u", "XDG_CACHE_HOME": "/c"}, "darwin") == Path("/c/limnograph/jars")
    assert cache_folder({"HOME": "/u", "XDG_CACHE_HOME": "relative"}, "linux") == Path("/u/.cache/limnograph/jars")


def test_a_configured_folder_is_not_filled_without_a_request(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="has none"):
        ensure_jars(str(tmp_path), {}, ignore)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.spark
def test_ivy_fetches_jars_from_the_configured_mirror(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (there,) = {jar.parent for jar in find_jars()}
    into = tmp_path / "jars"
    with maven_mirror(tmp_path, there) as settings:
        monkeypatch.setenv("LIMNOGRAPH_IVY_SETTINGS", str(settings))
        done = CliRunner().invoke(command, ["--into", str(into)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        assert missing(into, USUAL) == []
    # The mirror is gone, and nobody needs it.
    again = CliRunner().invoke(command, ["--into", str(into)], catch_exceptions=False)
    assert "3 jars in" in again.output
    with pytest.raises(EnvironmentFault, match=r"Ivy could not download the jars: .*iceberg.*LIMNOGRAPH_IVY_SETTINGS"):
        install(USUAL, tmp_path / "other", resolver(USUAL.coordinates, {}, ignore, USUAL.megabytes), ignore)
    assert list((tmp_path / "other").glob("*.jar")) == []


def test_missing_ivy_settings_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIMNOGRAPH_IVY_SETTINGS", str(tmp_path / "none.xml"))
    with pytest.raises(EnvironmentFault, match=r"LIMNOGRAPH_IVY_SETTINGS is .*none\.xml, which is not a file"):
        resolver(USUAL.coordinates, {}, ignore, USUAL.megabytes)
