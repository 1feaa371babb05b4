"""MetricsSource over Prometheus' HTTP API. The only file that imports httpx.

One pooled client, one total deadline per response (including connecting, body and decoding), a limit on its decoded
size that compression cannot bypass, no redirects.
"""

from __future__ import annotations

import asyncio
import zlib
from urllib.parse import urlsplit

import httpx
import msgspec

from limnograph.domain.errors import SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.time import Millis

MAX_BYTES = 32 * 1024 * 1024
IN_THREAD_BYTES = 512 * 1024
"""Larger bodies are decoded in a thread: decoding takes milliseconds that other requests should not wait for."""
_PLAIN = {"", "identity"}
CONNECTIONS = 16
"""Concurrent connections to one server, which runs 20 queries at once by default; more wait within their deadline."""


class _Result(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = []  # a series of native histograms has none


class _Data(msgspec.Struct, rename="camel"):
    result_type: str
    result: list[_Result]


class _Answer(msgspec.Struct):
    status: str
    data: _Data | None = None
    error: str = ""


_decoder = msgspec.json.Decoder(_Answer)


class PrometheusClient:
    """`timeout_seconds` bounds the whole response; a result of more than `max_series` series is truncated and marked.
    For use on the event loop only.
    """

    def __init__(
        self,
        name: str,
        url: str,
        *,
        timeout_seconds: float = 5.0,
        max_series: int = 1_000,
        bearer_token: str = "",
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.name = name
        self._timeout, self._max_series, self._max_bytes = timeout_seconds, max_series, max_bytes
        headers = {"accept": "application/json", "accept-encoding": "gzip"}
        if urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}:
            headers["accept-encoding"] = "identity"  # over loopback, gzip costs Prometheus four times the time
        if bearer_token:
            headers["authorization"] = f"Bearer {bearer_token}"
        # httpx' own timeouts restart with every byte; `range` sets the deadline of the whole response.
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers=headers,
            follow_redirects=False,
            timeout=timeout_seconds,
            trust_env=False,
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
        )

    async def range(self, query: RangeQuery) -> Matrix:
        """Evaluate one range query; NaN and infinities are returned unchanged. Raises SourceError."""
        form = {
            "query": query.promql,
            "start": f"{query.start / 1000:.3f}",
            "end": f"{query.end / 1000:.3f}",
            "step": str(query.step_s),
        }
        try:
            async with asyncio.timeout(self._timeout):
                body = await self._post("/api/v1/query_range", form)
                if len(body) < IN_THREAD_BYTES:
                    return self._parse(body)
                return await asyncio.to_thread(self._parse, body)
        except TimeoutError as error:
            raise SourceTimeout(self.name, f"no complete response within {self._timeout:g} s") from error
        except httpx.HTTPError as error:
            detail = str(error) or type(error).__name__
            raise SourceUnavailable(self.name, f"not reachable: {detail}") from error

    async def aclose(self) -> None:
        """Close pooled connections."""
        await self._client.aclose()

    async def _post(self, path: str, form: dict[str, str]) -> bytes:
        async with self._client.stream("POST", path, data=form) as response:
            body = await self._body(response)
        if response.status_code == 429 or response.status_code >= 500:
            raise SourceUnavailable(self.name, f"returned {response.status_code}{_said(body)}")
        if response.status_code != 200:
            raise SourceRejected(self.name, f"returned {response.status_code}{_said(body)}")
        return bytes(body)

    async def _body(self, response: httpx.Response) -> bytearray:
        """The decoded body; decompression stops at the limit, not after the chunk that exceeds it."""
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in {*_PLAIN, "gzip"}:
            raise SourceRejected(
                self.name, f"responds with content-encoding {encoding[:20]!r}, which was not requested"
            )
        inflate = None if encoding in _PLAIN else zlib.decompressobj(16 + zlib.MAX_WBITS)
        body = bytearray()
        try:
            async for chunk in response.aiter_raw():
                body += inflate.decompress(chunk, self._max_bytes + 1 - len(body)) if inflate else chunk
                if len(body) > self._max_bytes:
                    raise SourceRejected(self.name, f"the response is larger than {self._max_bytes // 2**20} MB")
        except zlib.error as error:
            raise SourceRejected(self.name, "the response is not gzip, although its content-encoding is") from error
        return body

    def _parse(self, body: bytes) -> Matrix:
        try:
            answer = _decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise SourceRejected(self.name, "the response is not from Prometheus") from error
        if answer.status != "success" or answer.data is None or answer.data.result_type != "matrix":
            raise SourceRejected(self.name, answer.error or "the response is not a matrix")
        try:
            series = [_series(result) for result in answer.data.result[: self._max_series] if result.values]
        except (ValueError, OverflowError) as error:
            raise SourceRejected(self.name, "a sample is not a number") from error
        return Matrix(series, truncated=len(answer.data.result) > self._max_series)


def _series(result: _Result) -> Series:
    times = [Millis(round(at * 1000)) for at, _ in result.values]
    return Series(result.metric, times, [float(text) for _, text in result.values])


def _said(body: bytearray) -> str:
    """Prometheus' error message, if there is one; never an HTML page."""
    try:
        error = _decoder.decode(bytes(body)).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    return f": {error[:300]}" if error else ""
