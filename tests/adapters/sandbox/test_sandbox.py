"""Children that crash, hang, grow or lie, for real: every end is a code of one table, and the next table is read."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from hostile_parser import COMMAND
from lakes import Lake, due_of, rows
from limnograph.adapters.sandbox.child import ParserChild
from limnograph.adapters.sandbox.messages import NewestPointer, Outline, StorageAccess
from limnograph.adapters.sandbox.pool import Pool
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.errors import InvalidInput, MetadataError, SourceError, SourceTimeout
from limnograph.domain.metadata.due import DueTable

DEADLINE, SHORT_DEADLINE = 8.0, 2.0
"""Of what ends, and of what hangs: a test waits as long. It is the child's own time, so a busy machine does not use it
up; its start is not part of it.
"""


def deadline_for(code: str) -> float:
    """As short as can be for a table that lasts until then."""
    return SHORT_DEADLINE if code == "deadline_exceeded" else DEADLINE


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(COMMAND, size=1)
    yield made
    made.close()


def table(lake: Lake, name: str) -> DueTable:
    """A table with one commit."""
    made = lake.table(f"sales.{name}")
    made.append(rows("eu"))
    return due_of(lake, name)


def tables(lake: Lake, pool: Pool, deadline: float = DEADLINE) -> SandboxTables:
    return SandboxTables(StorageAccess({"lake": lake.properties}, deadline_seconds=deadline), pool)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("segfault", "parser_crashed"),
        ("loop", "deadline_exceeded"),
        ("native_loop", "deadline_exceeded"),
        ("two_gigabytes", "memory_exceeded"),
        ("grow", "memory_exceeded"),
        ("leave", "parser_crashed"),
        ("leave_at_once", "parser_crashed"),
        ("panic", "parser_crashed"),
        ("recurse", "parser_crashed"),
        ("garbage", "parser_crashed"),
        ("nonsense", "parser_crashed"),
        ("flood", "parser_crashed"),
        ("sleep", "deadline_exceeded"),
    ],
)
def test_a_table_that_crashes_its_reader_has_rows_from_the_metadata_only(
    lake: Lake, pool: Pool, fault: str, code: str
) -> None:
    good, odd = table(lake, "good"), table(lake, f"odd_{fault}")
    (row,) = tables(lake, pool, deadline_for(code)).extract(odd)
    assert (row.status, row.problems, row.tier) == ("unreadable", [code], "summary")
    assert (row.snapshot_id, row.total_data_files) == (odd.snapshot_ids[0], 1)
    (other,) = tables(lake, pool).extract(good)
    assert (other.status, other.problems, other.tier) == ("ok", [], "entries")


@pytest.mark.parametrize(
    ("fault", "code"),
    [("segfault", "parser_crashed"), ("native_loop", "deadline_exceeded"), ("two_gigabytes", "memory_exceeded")],
)
def test_metadata_that_crashes_its_reader_is_damage(lake: Lake, pool: Pool, fault: str, code: str) -> None:
    bad = table(lake, f"bad_{fault}")
    with pytest.raises(MetadataError) as damage:
        tables(lake, pool, deadline_for(code)).outline("lake", "iceberg", bad.metadata_location)
    assert damage.value.code == code


def test_a_table_whose_metadata_crashes_its_reader_has_no_rows(lake: Lake, pool: Pool) -> None:
    with pytest.raises(MetadataError) as damage:
        tables(lake, pool).extract(table(lake, "bad_segfault"))
    assert damage.value.code == "parser_crashed"


def test_output_of_a_library_is_not_taken_for_a_response(lake: Lake, pool: Pool) -> None:
    (row,) = tables(lake, pool).extract(table(lake, "odd_print_much"))
    assert row.status == "ok"


def test_hanging_storage_is_a_timeout_and_not_a_fact_of_the_table(lake: Lake, pool: Pool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        properties = {"s3.endpoint": endpoint, "s3.access-key-id": "x", "s3.secret-access-key": "y"}
        reading = SandboxTables(StorageAccess({"far": properties}, deadline_seconds=1.0), pool)
        with pytest.raises(SourceTimeout, match="s3://bucket/t/metadata"):
            reading.outline("far", "iceberg", "s3://bucket/t/metadata/v1.metadata.json")


def test_an_unconfigured_store_is_refused_before_any_request(lake: Lake, pool: Pool) -> None:
    found = table(lake, "tales")
    of = tables(lake, pool).outline("lake", "iceberg", found.metadata_location)
    for location in ("gs://b/x.metadata.json", "file:///etc/passwd", "s3://127.0.0.1/x.metadata.json"):
        with pytest.raises(MetadataError) as refused:
            tables(lake, pool).outline("lake", "iceberg", location, of=of)
        assert refused.value.code == "location_refused"


def test_an_older_file_of_the_table_is_read(lake: Lake, pool: Pool) -> None:
    made = lake.table("sales.older")
    first = made.metadata_location
    made.append(rows("eu"))
    reading = tables(lake, pool)
    of = reading.outline("lake", "iceberg", made.metadata_location)
    assert reading.outline("lake", "iceberg", first, of=of).snapshots == {}


def test_errors_of_readers_and_storage_are_passed_on_unchanged(lake: Lake, pool: Pool, tmp_path: Path) -> None:
    reading = tables(lake, pool)
    with pytest.raises(MetadataError) as missing:
        reading.outline("lake", "iceberg", f"{lake.properties['warehouse']}/none/metadata/v1.metadata.json")
    assert missing.value.code == "file_missing"
    with pytest.raises(InvalidInput) as wrong:
        reading.newest("iceberg", f"file://{tmp_path}/none")
    assert wrong.value.field == "LOCATION"
    with pytest.raises(MetadataError) as unknown:
        reading.outline("lake", "paimon", f"file://{tmp_path}/x")
    assert unknown.value.code == "format_unknown"


def test_many_tables_are_read_by_one_warm_child(lake: Lake) -> None:
    due, pool = table(lake, "orders"), Pool(size=1)
    reading = tables(lake, pool, deadline=60)
    assert {reading.extract(due)[0].status for _ in range(200)} == {"ok"}
    (child,) = pool.idle
    assert child.served == 200
    pool.close()


def test_a_child_broken_by_another_table_is_not_the_fault_of_this_one(lake: Lake) -> None:
    due, pool = table(lake, "orders"), Pool(size=1)
    reading = tables(lake, pool, deadline=30)
    assert reading.extract(due)
    (child,) = pool.idle
    os.kill(child.pid, signal.SIGKILL)
    assert reading.extract(due)[0].status == "ok"
    pool.close()


def test_a_child_that_reads_nothing_is_abandoned(tmp_path: Path) -> None:
    deaf = "import os, time; os.write(1, b'\\x00\\x00\\x00\\x10' + b'{\"type\":\"Ready\"}'); time.sleep(3600)"
    child = ParserChild((sys.executable, "-c", deaf))
    long = Outline("lake", "iceberg", "x" * (8 << 20))
    with pytest.raises(MetadataError) as late:
        child.ask(StorageAccess({}), long, 1.0)
    assert late.value.code == "deadline_exceeded"
    assert child.spent


def test_a_child_that_does_not_start_is_reported_with_the_reason() -> None:
    with pytest.raises(SourceError, match="No module named 'nowhere'"):
        ParserChild((sys.executable, "-c", "import nowhere"))


def test_no_credential_is_in_arguments_or_environment_of_a_child(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-in-environment")
    monkeypatch.setenv("DATABASE_PASSWORD", "hidden-in-environment")
    child = ParserChild()
    access = StorageAccess({"lake": {**lake.properties, "s3.secret-access-key": "hidden-in-settings"}})
    child.ask(access, Outline("lake", "iceberg", table(lake, "orders").metadata_location), 30)
    for name in ("cmdline", "environ"):
        assert b"hidden-in" not in Path(f"/proc/{child.pid}/{name}").read_bytes()
    child.close()


def test_limits_of_a_child_are_enforced_by_the_kernel(lake: Lake) -> None:
    child = ParserChild()
    limits = {
        line[:26].strip(): line[26:].split()[:2] for line in Path(f"/proc/{child.pid}/limits").read_text().splitlines()
    }
    assert limits["Max address space"] == [str(3 << 29)] * 2
    assert limits["Max core file size"] == ["0", "0"]
    child.close()


PARENT = """
import sys, threading, time
from limnograph.adapters.sandbox.child import ParserChild
from limnograph.adapters.sandbox.messages import Outline, StorageAccess
from hostile_parser import COMMAND
idle, busy = ParserChild(COMMAND), ParserChild(COMMAND)
print(idle.pid, busy.pid, flush=True)
access = StorageAccess({})
busy.ask(access, Outline("lake", "iceberg", "/nowhere/bad_native_loop/metadata/x.json"), 3600.0)
"""


def test_children_end_with_their_parent_idle_or_busy() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout
        pids = [int(text) for text in parent.stdout.readline().split()]
        wait_until(lambda: processor_ticks(pids[1]) > 100)
        parent.kill()
    wait_until(lambda: not any(map(alive, pids)))


def about(pid: int) -> list[str]:
    """Fields of `/proc/<pid>/stat` from the state on; nothing for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def alive(pid: int) -> bool:
    return about(pid)[:1] not in ([], ["Z"], ["X"])


def processor_ticks(pid: int) -> int:
    return int((about(pid) or ["0"] * 12)[11])


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    pytest.fail("it did not happen within half a minute")


def test_the_newest_file_of_a_folder_is_found_in_the_child(lake: Lake, pool: Pool) -> None:
    made = lake.table("sales.placed")
    found = tables(lake, pool).newest("iceberg", made.location())
    assert found == made.metadata_location
    with pytest.raises(MetadataError):
        pool.ask(StorageAccess({}), NewestPointer("iceberg", "http://evil/t"), 5.0)


def test_a_response_passes_the_pipe_unchanged(lake: Lake, pool: Pool) -> None:
    """Integers beyond 64 bits, as foreign schemas hold them."""
    made = lake.table("sales.wide")
    made.append(rows("eu"))
    source = Path(made.metadata_location.removeprefix("file://"))
    document = msgspec.json.decode(source.read_bytes())
    document["schemas"][0]["fields"][0]["initial-default"] = 2**70
    source.write_bytes(msgspec.json.encode(document))
    found = tables(lake, pool).outline("lake", "iceberg", made.metadata_location)
    assert found.schemas[0]["fields"][0]["initial-default"] == 2**70
