"""Run the server in this process: granian's embedded worker on our own event loop, ended by a signal within 10 s."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Callable

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from litestar.types import ASGIApp

from limnograph.domain.errors import EnvironmentFault

DRAIN_S = 9.0
_log = logging.getLogger("limnograph.server")


def free_port(host: str, port: int, *, given: bool) -> int:
    """The port to listen on: `port` if it is free, else another one unless it was `given`. Raises EnvironmentFault."""
    for candidate in (port, 0):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                if given or candidate == 0:
                    detail = f"cannot listen on {host}:{port}: {error.strerror}; choose another --port (0 = any free)"
                    raise EnvironmentFault(detail) from error
                continue
            return int(probe.getsockname()[1])
    raise EnvironmentFault(f"no free port on {host}")


async def serve(app: ASGIApp, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; `announce` gets the address once `/readyz` answers 200."""
    server = Server(
        app, address=host, port=port, interface=Interfaces.ASGI, websockets=False, log_level=LogLevels.error
    )
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    serving = asyncio.create_task(server.serve())
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    announcing = asyncio.create_task(_announce(url, announce))
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    for task in (announcing, waiting):
        task.cancel()
    if not serving.done():
        server.stop()  # type: ignore[no-untyped-call]
        await _drain(serving)
    else:
        serving.result()


async def _drain(serving: asyncio.Task[None]) -> None:
    """Wait for requests in flight; past the deadline the process ends anyway."""
    try:
        async with asyncio.timeout(DRAIN_S):
            await serving
    except TimeoutError:
        _log.warning("requests were still running after %.0f s", DRAIN_S)
        os._exit(0)


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
