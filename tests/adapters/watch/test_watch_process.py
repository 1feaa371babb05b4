"""The watcher's process as its supervisor sees it: small real children that say what a test wants."""

import asyncio
import contextlib
import sys
import threading
import time

from limnograph.adapters.watch.process import WatchProcess
from limnograph.domain import watch
from limnograph.domain.ids import TableName
from limnograph.domain.watch import ProbeRound, Trouble
from limnograph.jobs.watcher import LookRequest, rest

AT = 4_000_000_000_000_000


def child(*messages: ProbeRound | watch.StartingNotice) -> list[str]:
    text = b"".join(map(watch.encode, messages))
    return [sys.executable, "-c", f"import os, time; os.write(1, {text!r}); time.sleep(60)"]


async def until(process: WatchProcess, holds) -> None:
    running = asyncio.create_task(process.run())
    try:
        async with asyncio.timeout(20):
            while not holds():  # noqa: ASYNC110  # looks from outside, as a status page does
                await asyncio.sleep(0.02)
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


async def ignore(_: ProbeRound) -> None:
    """Nothing to do."""


def test_a_round_with_failures_is_stale_and_names_them() -> None:
    process = WatchProcess(child(ProbeRound(AT, 1, troubles=[Trouble("lake.a.b", "not reachable")])), ignore)
    asyncio.run(until(process, lambda: process.state().at is not None))
    assert process.state() == ("stale", AT, "lake.a.b: not reachable")


def test_a_complete_round_is_ok_again() -> None:
    bad = ProbeRound(AT, 1, troubles=[Trouble("lake.a.b", "not reachable")])
    process = WatchProcess(child(bad, ProbeRound(AT + 1, 1)), ignore)
    asyncio.run(until(process, lambda: process.state().at == AT + 1))
    assert process.state() == ("ok", AT + 1, None)


def test_startup_ends_with_the_first_complete_round_whatever_its_result() -> None:
    part, failed = ProbeRound(AT, 1, last=False), ProbeRound(AT + 1, 0, troubles=[Trouble("catalog", "not reachable")])
    for messages, looked in (((part,), False), ((part, failed), True)):
        process = WatchProcess(child(*messages), ignore)
        assert process.first_look()
        asyncio.run(until(process, lambda: process.state().at == messages[-1].at))  # noqa: B023
        assert (process.first_look() is None) is looked
        assert process.state().detail  # the failure, or that the look goes on


def test_a_watcher_that_cannot_start_or_respond_delays_readiness_for_a_bounded_time() -> None:
    broken = WatchProcess([sys.executable, "-c", "raise SystemExit(3)"], ignore)
    asyncio.run(until(broken, lambda: broken.first_look() is None))
    assert broken.state().status == "error"
    silent = WatchProcess(child(), ignore, first_look_s=0.2)
    asyncio.run(until(silent, lambda: silent.first_look() is None))
    assert silent.state().detail == "the first check of the catalogs has not finished"


def test_unreadable_messages_restart_the_watcher() -> None:
    seen: list[int] = []

    async def fail_once(probed: ProbeRound) -> None:
        seen.append(probed.at)
        if len(seen) == 1:
            raise ZeroDivisionError

    process = WatchProcess(child(ProbeRound(AT, 1)), fail_once)
    asyncio.run(until(process, lambda: process.state().at is not None))
    assert seen == [AT, AT]


def test_a_wake_up_reaches_the_child_and_is_lost_without_one() -> None:
    answer = watch.encode(ProbeRound(AT + 7, 1))
    script = f"import os, sys; os.write(1, {watch.encode(ProbeRound(AT, 1))!r}); os.read(0, 9); os.write(1, {answer!r})"
    process = WatchProcess([sys.executable, "-c", script + "; sys.stdin.read()"], ignore)
    process.wake()

    def woken() -> bool:
        if process.state().at == AT:
            for _ in range(1_000):
                process.wake()
        return process.state().at == AT + 7

    asyncio.run(until(process, woken))
    process.wake()


def test_a_pause_ends_with_a_wake_up_and_a_flood_leaves_as_much_pause_as_work() -> None:
    woken = threading.Event()
    begin = time.monotonic()
    threading.Timer(0.1, woken.set).start()
    rest(30, 0.01, woken)
    assert time.monotonic() - begin < 20
    begin = time.monotonic()
    rest(30, 0.3, woken)
    assert 0.3 <= time.monotonic() - begin < 20
    woken.clear()
    begin = time.monotonic()
    rest(0.2, 0.1, woken)
    assert time.monotonic() - begin >= 0.1 - 0.001


def test_a_wake_up_may_name_tables_and_a_malformed_one_still_wakes() -> None:
    answer = watch.encode(ProbeRound(AT + 7, 1))
    script = (
        f"import os, sys; os.write(1, {watch.encode(ProbeRound(AT, 1))!r}); line = sys.stdin.readline(); "
        f"line == '[\"lake.sales.orders\"]\\n' and os.write(1, {answer!r}); sys.stdin.read()"
    )
    process = WatchProcess([sys.executable, "-c", script], ignore)

    def woken() -> bool:
        if process.state().at == AT:
            process.wake([TableName("lake", "sales", "orders")])
        return process.state().at == AT + 7

    asyncio.run(until(process, woken))
    asked = LookRequest()
    for line in (b'["lake.sales.orders"]\n', b"\n", b"nonsense\n", b'["two.levels"]\n', b"\xff\n"):
        asked.woken.clear()
        asked.read(line)
        assert asked.woken.is_set()
    assert asked.tables() == {TableName("lake", "sales", "orders")}
    assert asked.tables() == set()


def test_the_status_before_the_first_round_names_what_is_starting() -> None:
    parser = watch.StartingNotice("parser: compiling, 12 CPU s")
    process = WatchProcess(child(parser), ignore)
    asyncio.run(until(process, lambda: process.state().detail == "starting: parser: compiling, 12 CPU s"))
    assert process.state() == ("ok", None, "starting: parser: compiling, 12 CPU s")
    process = WatchProcess(child(parser, ProbeRound(AT, 1, cpu_s=3.5)), ignore)
    asyncio.run(until(process, lambda: process.state().at is not None))
    assert process.state() == ("ok", AT, None)
    assert process.cpu_s == 3.5


def test_a_loading_watcher_reports_its_progress() -> None:
    process = WatchProcess([sys.executable, "-c", "import time; time.sleep(60)"], ignore)
    asyncio.run(until(process, lambda: "watcher: loading, 0 CPU s" in (process.state().detail or "")))
