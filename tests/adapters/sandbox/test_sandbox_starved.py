"""Children on a machine that gives them little: nothing that makes progress is killed, and one of many warms up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from lakes import Lake, due_of, rows
from limnograph.adapters.avro.turns import turn
from limnograph.adapters.sandbox.child import ParserChild
from limnograph.adapters.sandbox.frames import framed
from limnograph.adapters.sandbox.messages import AnswerPart, NewestPointer, Ready, StorageAccess, encode
from limnograph.adapters.sandbox.pool import Pool
from limnograph.adapters.sandbox.spawn import writable
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.errors import MetadataError

READY = f"import os, sys, time; os.write(1, {framed(encode(Ready()))!r}); sys.stdin.buffer.read(4)\n"
ANSWER = framed(encode(AnswerPart(msgspec.Raw(b'"x"')))) + framed(b'{"type":"Done"}')
COMPUTES = (
    f"{READY}end = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
    f"os.write(1, {ANSWER!r}); time.sleep(600)"
)


def stopped_after(child: ParserChild, delay: float, seconds: float) -> threading.Thread:
    def stop() -> None:
        time.sleep(delay)
        os.kill(child.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(child.pid, signal.SIGCONT)

    thread = threading.Thread(target=stop)
    thread.start()
    return thread


def test_a_reader_suspended_for_longer_than_its_deadline_responds_afterwards() -> None:
    child = ParserChild((sys.executable, "-c", COMPUTES))
    began = time.monotonic()
    stopping = stopped_after(child, 0.05, 3.0)
    assert child.ask(StorageAccess({}), NewestPointer("iceberg", "/x"), 1.0)
    assert time.monotonic() - began > 2.5
    assert child.own_seconds < 1.0
    stopping.join()
    child.close()


def test_a_reader_out_of_processor_time_is_late_even_when_no_one_checks() -> None:
    """The kernel's own limit, for a child whose parent is stopped."""
    script = (
        "import limnograph.adapters.sandbox.confine as confine\nconfine.GRACE_SECONDS = 0.0\n"
        f"{READY}confine.end_after(0.2)\nwhile True: pass"
    )
    child = ParserChild((sys.executable, "-c", script))
    with pytest.raises(MetadataError) as late:
        child.ask(StorageAccess({}), NewestPointer("iceberg", "/x"), 30.0)
    assert late.value.code == "deadline_exceeded"


def test_many_concurrent_requests_start_one_child(lake: Lake) -> None:
    made = lake.table("sales.orders")
    made.append(rows("eu"))
    due, pool, said = due_of(lake, "orders"), Pool(), list[str]()
    reading = SandboxTables(StorageAccess({"lake": lake.properties}), pool, said.append)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: reading.extract(due)[0].status, range(8)))
    assert found == ["ok"] * 8
    assert sum(child.served for child in pool.idle) == 8
    assert len(pool.idle) == 1
    assert pool.cpu_seconds > 0
    pool.close()


def test_the_progress_of_a_long_start_is_reported() -> None:
    script = "import time; end = time.process_time() + 1.5\nwhile time.process_time() < end: pass\n"
    said = list[str]()
    ParserChild((sys.executable, "-c", script + READY), starting=said.append).close()
    assert said[0].startswith("parser: loading, ")
    assert said[0].endswith(" CPU s")
    assert said[-1].startswith("parser: ready, ")


COMPILE = """
from numba.core.caching import FunctionCache
from numba.core.event import Listener, register
class Compiled(Listener):
    def on_start(self, event):
        if isinstance(event.data["dispatcher"]._cache, FunctionCache):
            print(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
register("numba:compile", Compiled())
import limnograph.adapters.avro.kernel
"""


def test_each_function_is_compiled_by_one_of_several_starting_processes(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [
        subprocess.Popen([sys.executable, "-c", COMPILE], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    compiled = Counter(name for child in children for name in child.communicate()[0].split())
    assert len(compiled) > 1
    assert set(compiled.values()) == {1}, compiled


def test_a_turn_ends_with_its_process_and_a_folder_without_locks_has_no_turns(tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom limnograph.adapters.avro.turns import turn\n"
        "with turn(sys.argv[1]): print('in', flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], env=environment, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout
        other.stdout.readline()
        threading.Timer(0.3, other.kill).start()
        began = time.monotonic()
        with turn(str(tmp_path)):
            assert time.monotonic() - began > 0.1
    (tmp_path / "file").write_text("")
    with turn(str(tmp_path / "file")), turn(""):
        pass


def test_without_a_writable_folder_the_children_of_a_process_share_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    unwritable = {"NUMBA_CACHE_DIR": str(tmp_path / "file" / "compiled")}
    found = writable(unwritable)
    assert found == writable(unwritable) != unwritable
    folder = Path(found["NUMBA_CACHE_DIR"])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert writable({"NUMBA_CACHE_DIR": str(tmp_path / "new")}) == {"NUMBA_CACHE_DIR": str(tmp_path / "new")}
