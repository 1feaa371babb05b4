"""granian's embedded worker with one difference: cached pages are sent from the thread in which granian calls Python.

granian calls Python in a thread of its own, which creates a task on the event loop for each request. The two wake-ups
and the task are half the cost of a small response, and a cached page waits for whatever the loop does. The fast path
needs names that granian does not document. They are looked up in this file only: if a release lacks one, `fast_worker`
returns None and granian's own worker serves the same application, only slower.
"""
# ruff: noqa: SLF001 - granian's handling of a request has no public API

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from granian.errors import FatalError

from limnograph.ports.fast_path import FastPath, FinishedAnswer

_log = logging.getLogger("limnograph.server")

Find = Callable[[str], Any]
"""Imports a module by name; raises ImportError."""
_GIVEN = (
    *("worker_id", "shutdown_event", "callback", "sock", "loop"),
    *("runtime_threads", "runtime_blocking_threads", "blocking_threads", "blocking_threads_idle_timeout"),
    *("backpressure", "task_impl", "http_mode", "http1_settings", "http2_settings", "websockets", "static_path"),
    *("log_access_fmt", "ssl_ctx", "scope_opts"),
)
"""Parameters of granian's own worker, in order; ours receives all but `loop`."""


class GranianInternals(NamedTuple):
    """The internals of granian that the fast path uses."""

    worker: Any
    scheduler: Any
    lifespan: Any
    call: Callable[..., Any]
    watch: Callable[..., Any]
    schedule: Callable[..., Any]


def fast_worker(app: object, find: Find = importlib.import_module) -> FastWorker | None:
    """The worker for `Server.serve`; None if the application has no immediate responses, or if this version of granian
    cannot send them, which is logged.
    """
    if not isinstance(app, FastPath):
        return None
    try:
        return FastWorker(app, granian_internals(find))
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        _log.warning("the fast path is off for this version of granian; cached pages are served more slowly: %s", error)
        return None


def granian_internals(find: Find = importlib.import_module) -> GranianInternals:
    """The internals of the installed granian. Raises ImportError, AttributeError, TypeError or ValueError if one is
    missing or has other parameters than expected.
    """
    compiled, futures, asgi = (find(f"granian.{name}") for name in ("_granian", "_futures", "asgi"))
    found = GranianInternals(
        worker=compiled.ASGIWorker,
        scheduler=compiled.CallbackScheduler,
        lifespan=asgi.LifespanProtocol,
        call=asgi._callback_wrapper,
        watch=futures._future_watcher_wrapper,
        schedule=futures._cbsched_aioschedule,
    )
    _takes(found.call, "callback", "scope_opts", "state")
    _takes(found.watch, "inner")
    _takes(found.schedule, "loop", "ctx", "cb")
    _takes(find("granian.server.embed").Server._spawn_asgi_lifespan_worker, *_GIVEN)
    for part, name in ((found.worker, "serve_async"), (found.scheduler, "_ctx"), (found.scheduler, "_schedule_fn")):
        getattr(part, name)
    return found


def _takes(function: Callable[..., Any], *names: str) -> None:
    """Raises TypeError unless a function requires exactly these parameters, in this order."""
    required = tuple(p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty)
    if required != names:
        raise TypeError(f"{function.__name__} takes ({', '.join(required)}), not ({', '.join(names)})")


class FastWorker:
    """The worker that granian starts (`spawn_target`)."""

    def __init__(self, fast_path: FastPath, granian: GranianInternals) -> None:
        self._fast_path, self._granian = fast_path, granian

    async def __call__(self, number: int, stopping: Any, app: Any, sockets: Any, *given: Any) -> None:
        """Serve until `stopping` is set; `given`: the parameters of granian's own worker."""
        *runtime, _, http_mode, http1, http2, websockets, static_path, _, tls, scope_options = given
        inside, loop = self._granian, asyncio.get_running_loop()
        lifespan = inside.lifespan(app)
        await lifespan.startup()
        if lifespan.interrupt:
            raise FatalError("ASGI lifespan startup")
        called = inside.watch(inside.call(app, scope_options, lifespan.state))
        scheduler = _scheduler(inside, loop, called)
        scheduler._schedule_fn = self._answer_or_schedule(inside.schedule(loop, scheduler._ctx, called))
        ended = loop.create_future()
        stopping.add_cb(lambda: loop.call_soon_threadsafe(ended.set_result, None))
        transport = (http_mode, http1, http2, websockets, static_path, *tls, (None, None))
        inside.worker(number, sockets, None, *runtime, *transport).serve_async(scheduler, loop, stopping)
        await ended
        await lifespan.shutdown()

    def _answer_or_schedule(self, schedule: Callable[[Any], None]) -> Callable[[Any], None]:
        """Respond immediately, or create a task as granian does. If that fails, the task reports the error."""
        answer = self._fast_path.finished_answer

        def scheduled(watcher: Any) -> None:
            try:
                found = answer(watcher.scope)
            except Exception:  # noqa: BLE001 - the application runs next and reports the error
                found = None
            if found is None:
                schedule(watcher)
                return
            try:
                _sent(watcher, found)
            except BaseException as error:  # noqa: BLE001 - like granian's own tasks: the client may be gone
                watcher.err(error)

        return scheduled


def _scheduler(inside: GranianInternals, loop: asyncio.AbstractEventLoop, called: Callable[..., Any]) -> Any:
    """Granian's callback scheduler for requests, created without `_schedule_fn`, which can be set only once."""
    kind = type("Scheduler", (inside.scheduler,), {"__init__": lambda self, *_: inside.scheduler.__init__(self)})
    return kind(loop, called, None, None, None)


def _sent(watcher: Any, found: FinishedAnswer) -> None:
    """Send a response. granian's `send` acts when it is called, so nothing is awaited."""
    status, headers, body = found
    send = watcher.proto.send
    send({"type": "http.response.start", "status": status, "headers": headers})
    send({"type": "http.response.body", "body": body, "more_body": False})
    watcher.done()
