"""Runs the server in this process until a signal: granian's embedded worker on our own event loop."""

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
"""Maximum number of open connections, half-sent requests and idle streams included. More wait in the backlog."""
BACKLOG = 1_024
HEADERS_MS = 10_000
"""Time limit for the headers of a request, after which the connection is dropped."""


def free_port(host: str, port: int, *, given: bool) -> int:
    """The port to listen on: `port` if it is free, otherwise any free one unless it was `given`. Raises
    EnvironmentFault.
    """
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
    """Serve until SIGTERM or SIGINT. `announce` is called with the address once `/readyz` returns 200. `closing` is
    called before the server waits for requests in flight, and must end those that never finish, such as streams.
    `find`: see `jobs/fast_path.py`.
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
        http=HTTPModes.http1,  # browsers use HTTP/2 only over TLS, which a proxy in front terminates
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
    with contextlib.suppress(RuntimeError):  # the loop is closed, so the server has stopped
        loop.call_soon_threadsafe(stopping.set)


def _more_files() -> None:
    """Raise the limit of open files for CONNECTIONS, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS * 2 if hard == resource.RLIM_INFINITY else min(hard, CONNECTIONS * 2)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _announce(url: str, announce: Callable[[str], None]) -> None:
    while not await asyncio.to_thread(_ready, url):  # noqa: ASYNC110  # polls over HTTP, like a probe
        await asyncio.sleep(0.1)
    with contextlib.suppress(OSError):
        announce(url)


def _ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=2) as answer:  # noqa: S310  # our own address
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
