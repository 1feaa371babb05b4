"""Serving of finished pages: the complete server front (tokens, security headers, cached pages) compared with a plain
ASGI application with the same bytes on granian, and FastAPI with pydantic on uvicorn; one worker each, 32 connections.

The compared number is CPU time per request of the server process, because the client shares the machine, and other load
affects requests per second but hardly this. Requests per second and the 99th percentile are in the notes.

All servers receive a browser's request headers: Limnograph has the page compressed once and cached; FastAPI caches
nothing and is faster without compression, so it sends the page uncompressed. `cached_page_identity` compares the
uncompressed page of all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil
from front_server import CODED, PAGE, TABLE, TOKEN
from rows import HERE, Bench, Measure, Row

CONNECTIONS = 32
ROUNDS = 3
SECONDS = {True: 5.0, False: 2.0}
P99_MS = 5.0
ACCEPTED = "gzip, deflate, br, zstd"
"""The header that Chromium 123 and newer send over TLS."""
NOW_MS = 1_795_255_200_000
URL = f"{TABLE}/timeline?from={NOW_MS - 6 * 3_600_000}&to={NOW_MS}&step=60"


class Load(NamedTuple):
    """Result of one load test.

    cpu_us     of the server process per request
    client_us  CPU time of the client per request
    p99_ms     from sending a request to its last byte
    """

    cpu_us: float
    per_second: float
    p99_ms: float
    client_us: float


@contextmanager
def _server(kind: str, folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(HERE), str(HERE.parent / "tests" / "support")))}
    if given := os.environ.get("PYTHONPATH"):
        environment["PYTHONPATH"] += os.pathsep + given
    command = [sys.executable, str(HERE / "front_server.py"), kind, str(folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        url = child.stdout.readline().strip() if child.stdout else ""
        if not url:
            raise SystemExit(f"the server {kind} did not start")
        yield url, psutil.Process(child.pid)
    finally:
        child.terminate()
        child.wait(20)


def _load(url: str, process: psutil.Process, path: str, headers: dict[str, str], seconds: float) -> Load:
    asked = json.dumps({"url": url, "path": path, "headers": headers, "seconds": seconds, "connections": CONNECTIONS})
    before = process.cpu_times()
    found = subprocess.run(
        [sys.executable, str(HERE / "front_load.py"), asked], capture_output=True, text=True, check=False
    )
    after = process.cpu_times()
    if found.returncode:
        raise SystemExit(f"{path}: {found.stderr[-2000:]}")
    took = json.loads(found.stdout)
    cpu = after.user + after.system - before.user - before.system
    return Load(1e6 * cpu / took["all"], took["measured"] / seconds, took["p99_ms"], took["cpu_us"])


def _best(loads: list[Load]) -> Load:
    return Load(
        min(load.cpu_us for load in loads),
        max(load.per_second for load in loads),
        min(load.p99_ms for load in loads),
        min(load.client_us for load in loads),
    )


class Asked(NamedTuple):
    """Results of the page for one kind of request, and its size in bytes."""

    ours: Load
    plain: Load
    fastapi: Load
    size: int


def _prepared(folder: Path, url: str) -> dict[str, str]:
    """Headers of an authenticated request; stores the page's bytes, plain and as sent to a browser, for the peers."""
    headers = {"Authorization": (folder / TOKEN).read_text(), "Accept-Encoding": "identity"}
    answer = httpx.get(url + URL, headers=headers, timeout=30).raise_for_status()
    (folder / PAGE).write_bytes(answer.content)
    with httpx.stream("GET", url + URL, headers={**headers, "Accept-Encoding": ACCEPTED}, timeout=30) as coded:
        (folder / CODED).write_bytes(b"".join(coded.iter_raw()))
    return {**headers, "ETag": answer.headers["etag"]}


def cached_page(bench: Bench) -> list[Row]:
    """A cached page: compared with FastAPI with the page as a pydantic model, with no work, and with the time limit."""
    browser, identity = _rounds(bench)
    ours, told = browser.ours, _told(browser)
    plain = f"{told}; plain ASGI {browser.plain.per_second:.0f}/s, p99 {browser.plain.p99_ms:.1f} ms"
    unit, name = "us CPU", "serve.cached_page"
    return [
        Row(name, ours.cpu_us, browser.fastapi.cpu_us, unit, 10, _against_fastapi(browser)),
        Row(f"{name}_of_plain", ours.cpu_us, browser.plain.cpu_us, unit, 0.6, plain),
        Row(f"{name}_p99", ours.p99_ms, P99_MS, "ms", 1, f"{told}; the limit is {P99_MS:.0f} ms; {_crowd()}"),
        Row(f"{name}_identity", identity.ours.cpu_us, identity.fastapi.cpu_us, unit, 5, _against_fastapi(identity)),
        Row(f"{name}_identity_of_plain", identity.ours.cpu_us, identity.plain.cpu_us, unit, 0.6, _told(identity)),
    ]


def _told(asked: Asked) -> str:
    ours = asked.ours
    return (
        f"{asked.size / 1000:.0f} KB sent, {CONNECTIONS} connections; {ours.per_second:.0f} requests/s, "
        f"p99 {ours.p99_ms:.1f} ms, the client beside {ours.client_us:.0f} us CPU each"
    )


def _against_fastapi(asked: Asked) -> str:
    return f"{_told(asked)}; FastAPI {asked.fastapi.per_second:.0f}/s"


def _crowd() -> str:
    """How busy the machine was: waiting time depends on the queue for its cores."""
    return f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"


def _rounds(bench: Bench) -> tuple[Asked, Asked]:
    """Requests as from a browser, and without compression. Servers alternate, so that load affects all of them."""
    folder, seconds = bench.scratch, SECONDS[bench.full]
    with _server("ours", folder) as (url, process):
        identity = _prepared(folder, url)
        del identity["ETag"]
        browser = {**identity, "Accept-Encoding": ACCEPTED}
        with _server("plain", folder) as plain, _server("fastapi", folder) as fastapi:
            found: dict[str, list[Load]] = {}
            for _ in range(ROUNDS):
                for way, given, path in (("browser", browser, "/coded"), ("identity", identity, "/page")):
                    found.setdefault(f"{way}.ours", []).append(_load(url, process, URL, given, seconds))
                    found.setdefault(f"{way}.plain", []).append(_load(*plain, path, given, seconds))
                    found.setdefault(f"{way}.fastapi", []).append(_load(*fastapi, "/page", given, seconds))
    best = {name: _best(loads) for name, loads in found.items()}
    return tuple(
        Asked(*(best[f"{way}.{who}"] for who in ("ours", "plain", "fastapi")), (folder / name).stat().st_size)
        for way, name in (("browser", CODED), ("identity", PAGE))
    )


def revalidate_304(bench: Bench) -> list[Row]:
    """A page that the browser has cached: compared with FastAPI's hello, and with the server's minimum per response."""
    folder, seconds = bench.scratch, SECONDS[bench.full]
    ours, hello, least = [], [], []
    with _server("ours", folder) as (url, process):
        headers = _prepared(folder, url)
        headers["If-None-Match"] = headers.pop("ETag")
        with _server("fastapi", folder) as fastapi, _server("plain", folder) as plain:
            for _ in range(ROUNDS):
                ours.append(_load(url, process, URL, headers, seconds))
                hello.append(_load(*fastapi, "/hello", {}, seconds))
                least.append(_load(*plain, "/hello", {}, seconds))
    mine, peer, floor = _best(ours), _best(hello), _best(least)
    told = f"{mine.per_second:.0f} requests/s, p99 {mine.p99_ms:.1f} ms; the client takes {mine.client_us:.0f} us"
    note, against = f"{told}; FastAPI hello {peer.per_second:.0f}/s", f"{told}; plain hello {floor.per_second:.0f}/s"
    return [
        Row("serve.revalidate_304", mine.cpu_us, peer.cpu_us, "us CPU", 3, note),
        Row("serve.revalidate_304_of_plain", mine.cpu_us, floor.cpu_us, "us CPU", 0.65, against),
    ]


MEASURES: dict[str, Measure] = {"cached_page": cached_page, "revalidate_304": revalidate_304}
