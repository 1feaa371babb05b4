"""Every source, every fault: the page comes in its time, its other half whole, the cause named; then all is well."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import pytest

import rest_loads
from fault_proxy import FAULTS, FaultProxy
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.prometheus.client import PrometheusClient
from limnograph.adapters.trino.asking import Coordinator
from limnograph.adapters.trino.engine import TrinoEngine
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.rollups.fold import DAY
from limnograph.services.sources.cold_reads import ColdEngine
from limnograph.wiring.server import ServerServices, build_services
from limnograph.wiring.server_options import ServerOptions
from query_engine_contract import Iceberg
from serving_kit import HOUR, NOW, FixedClock, MemoryInbox, client, moved, row

DEADLINE_S = 1.5
COLD_S = 2 * DEADLINE_S
GRACE_S = 2.5
"""Half a second is promised; a busy machine takes its time. Faults last a minute, and two deadlines in a row show."""
COMMITS = {1: (NOW - 5 * DAY + 1, 10), 2: (NOW - 4 * DAY + 1, 500), 3: (NOW - HOUR + 1, 30)}
CHURN = ConfiguredJob(name="churn", reads=("lake.sales.*",))
LANES = "job_duration,data_files,commits"


class World(NamedTuple):
    parts: ServerServices
    proxies: dict[str, FaultProxy]


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A Prometheus that has one series of whatever it is asked."""
    with contextlib.suppress(asyncio.IncompleteReadError, OSError):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        form = (await reader.readexactly(length)).decode()
        start = float(form.split("start=")[1].split("&")[0])
        labels = {"job_name": "churn", "role": "reads", "limnograph_stat": "last"}
        samples = [[start + i * 3_600, "7"] for i in range(3)]
        data = {"resultType": "matrix", "result": [{"metric": labels, "values": samples}]}
        body = json.dumps({"status": "success", "data": data}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()
    writer.close()


@pytest.fixture
def tables(tmp_path) -> Iterator[tuple[str, int]]:
    """A REST catalog with the meta tables of one table's five days."""
    made = Iceberg(tmp_path)
    rows = [row(i, at, files, observed_at=at) for i, (at, files) in COMMITS.items()]
    made.fill(rows, [moved(i, at, observed_at=at) for i, (at, _) in COMMITS.items()])
    with rest_loads.serving(made.catalog) as address:
        yield address


@contextlib.asynccontextmanager
async def world(tables: tuple[str, int], cold_within_s: float = COLD_S) -> AsyncIterator[World]:
    """The server's parts, each source behind a proxy of its own."""
    server = await asyncio.start_server(answering, "127.0.0.1", 0)
    with contextlib.ExitStack() as stack:
        upstreams = {"prometheus": server.sockets[0].getsockname()[:2], "catalog": tables, "trino": ("127.0.0.1", 9)}
        proxies = {name: stack.enter_context(FaultProxy(at, late_s=60)) for name, at in upstreams.items()}
        properties = {"type": "rest", "uri": proxies["catalog"].url}
        embedded = EmbeddedEngine(lambda: open_catalog("lake", properties), ("limnograph",))
        trino = TrinoEngine(Coordinator(proxies["trino"].url, "lake", "limnograph", timeout_s=DEADLINE_S / 2), embedded)
        source = PrometheusClient("main", proxies["prometheus"].url, timeout_seconds=DEADLINE_S)
        options = ServerOptions(
            embedded,
            MemoryInbox(),
            FixedClock(),
            [source],
            cold=ColdEngine(trino, embedded, FixedClock()),
            cold_within_s=cold_within_s,
            configured=(CHURN,),
        )
        parts = build_services(options)
        await asyncio.to_thread(parts.store.refresh)
        try:
            yield World(parts, proxies)
        finally:
            await source.aclose()
            server.close()


async def page(made: World, hours: int) -> tuple[dict[str, Any], float]:
    """Lanes of a page by name, and how long it took."""
    async with client(made.parts) as http:
        url = "/api/v1/tables/lake/sales/orders/timeline"
        asked = {"from": (NOW - hours * HOUR) // 1000, "to": NOW // 1000, "step": 3_600, "lanes": LANES}
        started = time.monotonic()
        answer = await http.get(url, params=asked)
    took = time.monotonic() - started
    print(f"{ {name: proxy.mode for name, proxy in made.proxies.items() if proxy.mode != 'ok'} }: {took:.2f} s")
    assert answer.status_code == 200, answer.text
    return {lane["id"]: lane for lane in answer.json()["lanes"]}, took


@pytest.mark.parametrize("fault", FAULTS)
def test_prometheus_fails_alone(tables, fault) -> None:
    async def run() -> None:
        async with world(tables) as made:
            made.proxies["prometheus"].mode = fault
            lanes, took = await page(made, 6)
            assert took < DEADLINE_S + GRACE_S
            assert lanes["job_duration"]["status"] == "error"
            assert lanes["job_duration"]["problem"]["detail"].startswith("main: ")
            assert (lanes["data_files"]["status"], len(lanes["commits"]["events"])) == ("ok", 1)
            made.proxies["prometheus"].mode = "ok"
            lanes, _ = await page(made, 6)
            assert lanes["job_duration"]["status"] == "ok"
            assert 7.0 in lanes["job_duration"]["mid"]

    asyncio.run(run())


@pytest.mark.parametrize("fault", FAULTS)
def test_trino_fails_and_old_rows_are_read_without_it(tables, fault) -> None:
    async def run() -> None:
        async with world(tables, cold_within_s=3 * COLD_S) as made:
            made.proxies["trino"].mode = fault
            lanes, took = await page(made, 6 * 24)
            assert took < 3 * COLD_S + GRACE_S
            assert lanes["data_files"]["status"] == "ok"
            assert max(value for value in lanes["data_files"]["max"] if value is not None) == 500
            assert lanes["job_duration"]["status"] == "ok"
            sources = {source.kind: source for source in (await made.parts.backend.status.status()).sources}
            assert sources["trino"].status == "error"
            assert (sources["trino"].detail or "").startswith("trino: ")

    asyncio.run(run())


@pytest.mark.parametrize("fault", FAULTS)
def test_the_catalog_fails_and_what_is_hot_stays(tables, fault) -> None:
    async def run() -> None:
        async with world(tables) as made:
            made.proxies["trino"].mode = "down"
            made.proxies["catalog"].mode = fault
            lanes, took = await page(made, 6 * 24)
            assert took < COLD_S + GRACE_S
            assert lanes["data_files"]["status"] == "partial"
            assert lanes["data_files"]["problem"]["detail"].startswith("meta: ")
            assert lanes["job_duration"]["status"] == "ok"
            hot, _ = await page(made, 6)
            assert hot["data_files"]["status"] == "ok"
            made.proxies["catalog"].mode = "ok"
            for _ in range(10):  # PyIceberg may still be busy with what the fault sent
                lanes, _ = await page(made, 6 * 24)
                if lanes["data_files"]["status"] == "ok":
                    break
            assert lanes["data_files"]["status"] == "ok"
            assert max(value for value in lanes["data_files"]["max"] if value is not None) == 500

    asyncio.run(run())
