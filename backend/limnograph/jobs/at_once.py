"""granian's embedded worker with one difference: what is finished is answered where granian first calls Python.

granian calls Python in a thread of its own, and makes each request a task of the event loop there: two wake-ups and a
task, half of what a small answer costs, and a kept page waits behind whatever the loop does. Names of granian's inside,
which are no promise of its, are used here alone; pyproject.toml holds its minor version for that.
"""
# ruff: noqa: SLF001 - there is no public name for what granian does with a request

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from granian import _futures, _granian, asgi
from granian.errors import FatalError

from limnograph.ports.quick import Given, Quick

_tasks: Any = _futures
_asgi: Any = asgi
_Worker: Any = _granian.ASGIWorker
_log = logging.getLogger("limnograph.server")


class _Scheduler(_granian.CallbackScheduler):
    """Where granian asks what to do with a request; `_schedule_fn` can be set once."""

    def __init__(self, *_: object) -> None:
        super().__init__()


class AtOnce:
    """What granian starts as its worker (`spawn_target`)."""

    def __init__(self, quick: Quick) -> None:
        self._quick = quick

    async def __call__(self, number: int, stopping: Any, app: Any, sockets: Any, *given: Any) -> None:
        """Serve until `stopping` is set; `given` is what granian's own workers are given."""
        *runtime, _, http_mode, http1, http2, websockets, static_path, _, tls, scope_options = given
        loop, lifespan = asyncio.get_running_loop(), _asgi.LifespanProtocol(app)
        await lifespan.startup()
        if lifespan.interrupt:
            raise FatalError("ASGI lifespan startup")
        called = _tasks._future_watcher_wrapper(_asgi._callback_wrapper(app, scope_options, lifespan.state))
        scheduler: Any = _Scheduler(loop, called, None, None, None)
        scheduler._schedule_fn = self._first(_tasks._cbsched_aioschedule(loop, scheduler._ctx, called))
        ended = loop.create_future()
        stopping.add_cb(lambda: loop.call_soon_threadsafe(ended.set_result, None))
        transport = (http_mode, http1, http2, websockets, static_path, *tls, (None, None))
        _Worker(number, sockets, None, *runtime, *transport).serve_async(scheduler, loop, stopping)
        await ended
        await lifespan.shutdown()

    def _first(self, schedule: Callable[[Any], None]) -> Callable[[Any], None]:
        """Answer at once, or make it a task as granian does. Where that fails, the task tells it properly."""
        at_once = self._quick.at_once

        def scheduled(watcher: Any) -> None:
            try:
                found = at_once(watcher.scope)
            except Exception:  # noqa: BLE001 - the application is the last resort, and tells what it was
                found = None
            if found is None:
                schedule(watcher)
                return
            try:
                _sent(watcher, found)
            except BaseException as error:  # noqa: BLE001 - as granian's own tasks end: whoever asked may be gone
                watcher.err(error)

        return scheduled


def _sent(watcher: Any, found: Given) -> None:
    """What granian's `send` is given is sent when it is called; there is nothing to wait for."""
    status, headers, body = found
    send = watcher.proto.send
    send({"type": "http.response.start", "status": status, "headers": headers})
    send({"type": "http.response.body", "body": body, "more_body": False})
    watcher.done()
