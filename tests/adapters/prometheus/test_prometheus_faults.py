"""The Prometheus client against small real servers that misbehave: every fault is a sentence, none takes long."""

import asyncio
import gzip
import re
import time
import zlib
from collections.abc import Awaitable, Callable

import pytest

from fault_proxy import FAULTS, FaultProxy, bomb
from limnograph.adapters.prometheus.client import PrometheusClient
from limnograph.domain.errors import SourceError, SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.domain.metrics.series import Matrix, RangeQuery
from peak_memory import peak_memory

QUERY = RangeQuery("up", 0, 60_000, 60)
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
GOOD = (
    b'{"status":"success","data":{"resultType":"matrix","result":'
    b'[{"metric":{"a":"b"},"values":[[1.5,"2"],[61,"NaN"]]}]}}'
)


async def ask(serve: Serve, **given) -> Matrix:
    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = PrometheusClient("main", f"http://127.0.0.1:{port}", timeout_seconds=1.0, **given)
    try:
        return await client.range(QUERY)
    finally:
        await client.aclose()
        server.close()


def answer(body: bytes, status: str = "200 OK", kind: str = "application/json") -> Serve:
    async def serve(_reader, writer):
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()

    return serve


def test_a_valid_response_has_times_in_milliseconds() -> None:
    matrix = asyncio.run(ask(answer(GOOD)))
    assert matrix.series[0].times == [1_500, 61_000]
    assert matrix.series[0].values[0] == 2.0
    assert not matrix.truncated


def test_more_series_than_the_limit_are_truncated_and_marked() -> None:
    one = b'{"metric":{},"values":[[1,"2"]]}'
    body = b'{"status":"success","data":{"resultType":"matrix","result":[' + b",".join([one] * 5) + b"]}}"
    matrix = asyncio.run(ask(answer(body), max_series=3))
    assert (len(matrix.series), matrix.truncated) == (3, True)


@pytest.mark.parametrize(
    ("serve", "kind"),
    [
        (answer(b"oops", "500 Internal Server Error"), SourceUnavailable),
        (answer(b"slow down", "429 Too Many Requests"), SourceUnavailable),
        (answer(b'{"status":"error","error":"parse error"}', "400 Bad Request"), SourceRejected),
        (answer(b"", "302 Found"), SourceRejected),
        (answer(GOOD[:40]), SourceRejected),
        (answer(b"<html>login</html>", kind="text/html"), SourceRejected),
        (answer(b'{"status":"success","data":{"resultType":"vector","result":[]}}'), SourceRejected),
        (answer(b'{"status":"success"}'), SourceRejected),
        (
            answer(b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"x"]]}]}}'),
            SourceRejected,
        ),
        (
            answer(
                b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1e308,"1"]]}]}}'
            ),
            SourceRejected,
        ),
        (answer(b"\xff\xfe\x00"), SourceRejected),
        (answer(b" " * 3_000_000), SourceRejected),
    ],
)
def test_a_wrong_response_is_an_error_of_the_right_kind(serve, kind) -> None:
    with pytest.raises(kind, match="main: ") as caught:
        asyncio.run(ask(serve, max_bytes=2_000_000))
    assert "<html>" not in str(caught.value)


def test_the_message_of_prometheus_reaches_the_user() -> None:
    with pytest.raises(SourceRejected, match="parse error"):
        asyncio.run(ask(answer(b'{"status":"error","error":"parse error"}', "400 Bad Request")))


def test_a_server_that_drips_a_byte_at_a_time_meets_the_total_deadline() -> None:
    async def drip(_reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(50):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.1)

    started = time.monotonic()
    with pytest.raises(SourceTimeout):
        asyncio.run(ask(drip))
    assert time.monotonic() - started < 2


def test_a_server_that_never_answers_meets_the_deadline() -> None:
    async def hang(_reader, _writer):
        await asyncio.sleep(5)

    started = time.monotonic()
    with pytest.raises(SourceTimeout):
        asyncio.run(ask(hang))
    assert time.monotonic() - started < 2


def test_a_connection_that_breaks_in_the_body_is_unavailable() -> None:
    async def reset(_reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{")
        await writer.drain()
        writer.transport.abort()

    with pytest.raises(SourceUnavailable):
        asyncio.run(ask(reset))


def test_a_refused_connection_is_unavailable() -> None:
    client = PrometheusClient("main", "http://127.0.0.1:9", timeout_seconds=1.0)
    with pytest.raises(SourceUnavailable, match="not reachable"):
        asyncio.run(client.range(QUERY))


def test_the_bearer_token_is_sent_and_never_in_an_error() -> None:
    seen: list[bytes] = []

    async def handle(reader, writer):
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async def run():
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        client = PrometheusClient("main", f"http://127.0.0.1:{port}", bearer_token="s3cret")
        try:
            await client.range(QUERY)
        finally:
            await client.aclose()
            server.close()

    with pytest.raises(SourceError) as caught:
        asyncio.run(run())
    assert b"authorization: bearer s3cret" in seen[0].lower()
    assert b"accept-encoding: identity" in seen[0].lower()
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("fault", FAULTS)
def test_after_any_fault_the_same_client_works_again(fault) -> None:
    async def run() -> Matrix:
        good = answer(GOOD)

        async def handle(reader, writer):
            head = await reader.readuntil(b"\r\n\r\n")
            # A question left unread would make the kernel reset the connection under the answer.
            await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
            await good(reader, writer)
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with FaultProxy(("127.0.0.1", port), late_s=60) as proxy:
            client = PrometheusClient("main", proxy.url, timeout_seconds=3.0 if fault == "bomb" else 1.0)
            proxy.mode = fault
            started = time.monotonic()
            with peak_memory() as peak, pytest.raises(FAULTS[fault], match="main: ") as caught:
                await client.range(QUERY)
            assert time.monotonic() - started < 10  # the fault lasts a minute, or for ever
            assert "<html>" not in str(caught.value)
            assert peak.size < 100 * 2**20
            proxy.mode = "ok"
            try:
                return await client.range(QUERY)
            finally:
                await client.aclose()
                server.close()

    assert asyncio.run(run()).series[0].values[0] == 2.0


def test_a_fully_decompressed_bomb_would_be_noticed() -> None:
    packed = bomb()
    with peak_memory() as peak:
        zlib.decompress(packed, 16 + zlib.MAX_WBITS)
    assert peak.size > 100 * 2**20


def compressed(body: bytes, encoding: str) -> Serve:
    async def serve(_reader, writer):
        head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()

    return serve


def test_a_gzipped_response_is_read_and_any_other_coding_is_refused() -> None:
    assert asyncio.run(ask(compressed(gzip.compress(GOOD), "gzip"))).series[0].values[0] == 2.0
    with pytest.raises(SourceRejected, match="'br'"):
        asyncio.run(ask(compressed(GOOD, "br")))
    with pytest.raises(SourceRejected, match="is not gzip"):
        asyncio.run(ask(compressed(GOOD, "gzip")))


def test_series_of_native_histograms_are_left_out() -> None:
    body = b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"histograms":[[1,{}]]}]}}'
    assert asyncio.run(ask(answer(body))).series == []


def test_a_response_of_prometheus_3_is_read_with_its_infos_warnings_and_utf_8_names() -> None:
    body = (
        '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"spark.job.dauer",'
        '"table.name":"lake.vertrieb.aufträge","k8s.namespace":"données"},"values":[[1,"2"]],"histograms":[]}]},'
        '"warnings":["PromQL warning: quantile value should be between 0 and 1"],'
        '"infos":["PromQL info: metric might not be a counter: \\"spark.job.dauer\\" (1:6)"]}'
    )
    matrix = asyncio.run(ask(answer(body.encode())))
    assert matrix.series[0].labels["table.name"] == "lake.vertrieb.aufträge"
    assert matrix.series[0].labels["k8s.namespace"] == "données"
    assert matrix.series[0].values[0] == 2.0
