"""Run the server in this process: granian's embedded worker on our own event loop, until a signal."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import resource
import socket
import urllib.error
import urllib.request
from collections.abc import Callable

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server
from litestar.types import ASGIApp

from limnograph.domain.errors import EnvironmentFault
from limnograph.jobs.ending import DrainableApp, Signals
from limnograph.jobs.fast_path import Find, fast_worker

CONNECTIONS = 4_096
"""Open at once. Further ones wait in the backlog until one ends, so half-sent requests and idle streams must fit in."""
BACKLOG = 1_024
HEADERS_MS = 10_000
"""A request whose headers are not there by then is dropped."""


def free_port(host: str, port: int, *, given: bool) -> int:
    """The port to listen on: `port` if it is free, else another one unless it was `given`. Raises EnvironmentFault."""
    for candidate in (port, 0):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                if given or candidate == 0:
                    detail = (
                        f"cannot listen on {host}:{port}: {error.strerror}; choose another --port (0 = any free port)"
                    )
                    raise EnvironmentFault(detail) from error
                continue
            return int(probe.getsockname()[1])
    raise EnvironmentFault(f"no free port on {host}")


async def serve(
    app: ASGIApp,
    host: str,
    port: int,
    announce: Callable[[str], None],
    closing: Callable[[], None] = lambda: None,
    *,
    find: Find = importlib.import_module,
) -> None:
    """Serve until SIGTERM or SIGINT; `announce` gets the address once `/readyz` answers 200, `closing` is called before
    requests in flight are waited for: it ends those that would not end by themselves. `find`: see `jobs/fast_path.py`.
    """
    _more_files()
    draining = DrainableApp(app)
    server = Server(
        draining,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        websockets=False,
        log_level=LogLevels.error,
        http=HTTPModes.http1,  # no multiplexing without TLS; a proxy in front speaks it to browsers
        http1_settings=HTTP1Settings(header_read_timeout=HEADERS_MS),
        backlog=BACKLOG,
        backpressure=CONNECTIONS,
    )
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    with Signals(lambda: _tell(loop, stopping)):
        serving = asyncio.create_task(server.serve(fast_worker(draining, find)))  # type: ignore[arg-type]  # it is awaited
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        announcing = asyncio.create_task(_announce(url, announce))
        waiting = asyncio.create_task(stopping.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        for task in (announcing, waiting):
            task.cancel()
        if not serving.done():
            closing()
            server.stop()  # type: ignore[no-untyped-call]
            await draining.end()
        await serving


def _tell(loop: asyncio.AbstractEventLoop, stopping: asyncio.Event) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is over: there is nothing to stop
        loop.call_soon_threadsafe(stopping.set)


def _more_files() -> None:
    """A connection is a file: as many as the system lets us have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS * 2 if hard == resource.RLIM_INFINITY else min(hard, CONNECTIONS * 2)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _announce(url: str, announce: Callable[[str], None]) -> None:
    while not await asyncio.to_thread(_ready, url):  # noqa: ASYNC110  # asks from outside, as a probe does
        await asyncio.sleep(0.1)
    with contextlib.suppress(OSError):
        announce(url)


def _ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=2) as answer:  # noqa: S310  # our own address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
