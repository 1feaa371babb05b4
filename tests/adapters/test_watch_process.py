"""The watcher's process as its supervisor sees it: small real children that say what a test wants."""

import asyncio
import contextlib
import sys

from limnograph.adapters.watch.process import WatchProcess
from limnograph.domain import watch
from limnograph.domain.watch import Probed, Trouble

AT = 4_000_000_000_000_000


def child(*messages: Probed) -> list[str]:
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


async def ignore(_: Probed) -> None:
    """Nothing to do."""


def test_a_round_with_troubles_is_stale_and_says_which() -> None:
    process = WatchProcess(child(Probed(AT, 1, troubles=[Trouble("lake.a.b", "not reachable")])), ignore)
    asyncio.run(until(process, lambda: process.state().at is not None))
    assert process.state() == ("stale", AT, "lake.a.b: not reachable")


def test_a_whole_round_is_ok_again() -> None:
    bad = Probed(AT, 1, troubles=[Trouble("lake.a.b", "not reachable")])
    process = WatchProcess(child(bad, Probed(AT + 1, 1)), ignore)
    asyncio.run(until(process, lambda: process.state().at == AT + 1))
    assert process.state() == ("ok", AT + 1, None)


def test_messages_that_cannot_be_taken_in_start_the_watcher_again() -> None:
    seen: list[int] = []

    async def fail_once(probed: Probed) -> None:
        seen.append(probed.at)
        if len(seen) == 1:
            raise ZeroDivisionError

    process = WatchProcess(child(Probed(AT, 1)), fail_once)
    asyncio.run(until(process, lambda: process.state().at is not None))
    assert seen == [AT, AT]
