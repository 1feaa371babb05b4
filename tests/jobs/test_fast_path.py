"""Kept pages are answered without the event loop: also while it is busy, counted, and to nobody else."""

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from access_kit import Guarded, guarded
from limnograph.api.front.traffic import Traffic
from limnograph.jobs.fast_path import Find, fast_worker, granian_internals
from limnograph.jobs.serve import free_port, serve
from serving_kit import HOUR, MINUTE, NOW, application, lake, moved, parts, row

URL = f"/api/v1/tables/lake/sales/orders/timeline?from={NOW // 1000 - 3_600_000}&to={NOW // 1000}"
TRIES = 20
"""A page is fresh for two seconds: on a machine that is slower than that another try is needed."""


class Served:
    """The application behind the real server, in this process."""

    def __init__(self, folder: Any) -> None:
        self.guard: Guarded = guarded(folder)
        engine = lake([row(n, NOW - HOUR + n * MINUTE, n) for n in range(1, 50)], [moved(1, NOW - HOUR)])
        self.traffic = Traffic()
        self._app = self.traffic.around(application(parts(engine), gate=self.guard.gate))
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, scenario: Callable[[httpx.Client], None], find: Find = importlib.import_module) -> None:
        """`scenario` runs in a thread beside the loop that serves; `find` gives the modules of granian."""

        async def main() -> None:
            self._loop, ready = asyncio.get_running_loop(), asyncio.Event()
            urls: list[str] = []
            port = free_port("127.0.0.1", 0, given=True)
            announced = lambda url: (urls.append(url), ready.set())  # noqa: E731
            serving = asyncio.create_task(serve(self._app, "127.0.0.1", port, announced, find=find))
            await ready.wait()
            try:
                with httpx.Client(base_url=urls[0], headers={"accept-encoding": "identity"}, timeout=60) as client:
                    await asyncio.to_thread(scenario, client)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)
                await serving

        asyncio.run(main())

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """The event loop does nothing else meanwhile."""
        begun, ended = threading.Event(), threading.Event()
        assert self._loop is not None
        self._loop.call_soon_threadsafe(lambda: (begun.set(), ended.wait(60)))
        begun.wait(60)
        try:
            yield
        finally:
            ended.set()


@pytest.fixture
def served(tmp_path) -> Served:
    return Served(tmp_path)


def test_a_cached_page_is_served_while_the_event_loop_is_busy_and_only_to_authorized_callers(served) -> None:
    reader, other = served.guard.bearer("read"), served.guard.bearer("webhook")

    def scenario(client: httpx.Client) -> None:
        client.get(URL, headers=other)
        for _ in range(TRIES):
            page = client.get(URL, headers=reader)
            unchanged = {**reader, "if-none-match": page.headers["etag"]}
            with served.busy(), contextlib.suppress(httpx.TimeoutException):
                again = client.get(URL, headers=reader, timeout=1)
                head = client.head(URL, headers=reader, timeout=1)
                none = client.get(URL, headers=unchanged, timeout=1)
                break
        else:
            raise AssertionError("no kept page was given while the loop was busy")
        assert (again.status_code, again.content) == (200, page.content)
        own = {"x-request-id", "age", "date"}
        assert {k: v for k, v in again.headers.items() if k not in own} == {
            k: v for k, v in page.headers.items() if k not in own
        }
        assert (head.status_code, head.content, none.status_code) == (200, b"", 304)
        assert client.get(URL, headers=other).status_code == 403
        assert client.get(URL).status_code == 401

    served.run(scenario)


def test_a_revoked_token_gets_no_cached_page(served) -> None:
    reader = served.guard.bearer("read")

    def scenario(client: httpx.Client) -> None:
        assert [client.get(URL, headers=reader).status_code for _ in range(3)] == [200] * 3
        served.guard.tokens.revoke("read")
        assert client.get(URL, headers=reader).status_code == 401

    served.run(scenario)


def test_responses_of_the_fast_path_are_counted_like_any_other(served) -> None:
    reader = served.guard.bearer("read")

    def scenario(client: httpx.Client) -> None:
        for _ in range(10):
            client.get(URL, headers=reader)

    served.run(scenario)
    counted = {
        (sample.labels["route"], sample.labels["status"]): sample.value
        for family in served.traffic.collect()
        for sample in family.samples
        if sample.name.endswith("_count")
    }
    assert counted["/api/v1/tables/…/timeline", "200"] == 10


def test_the_installed_granian_has_what_the_fast_worker_needs() -> None:
    assert all(part is not None for part in granian_internals())


def _without(module: str, name: str) -> Find:
    """Modules of a granian in which one name is missing."""

    def find(wanted: str) -> Any:
        real = importlib.import_module(wanted)
        if wanted != module:
            return real
        return SimpleNamespace(**{key: value for key, value in vars(real).items() if key != name})

    return find


def _gone(wanted: str) -> Any:
    if wanted == "granian._futures":
        raise ModuleNotFoundError(f"No module named {wanted!r}")
    return importlib.import_module(wanted)


def _with_another_argument(wanted: str) -> Any:
    """A granian whose scheduler takes one more."""
    real = importlib.import_module(wanted)
    if wanted != "granian._futures":
        return real
    return SimpleNamespace(**{**vars(real), "_cbsched_aioschedule": lambda loop, ctx, cb, tracing: None})


@pytest.mark.parametrize(
    ("find", "said"),
    [
        (_without("granian._granian", "CallbackScheduler"), "CallbackScheduler"),
        (_without("granian._futures", "_future_watcher_wrapper"), "_future_watcher_wrapper"),
        (_without("granian.asgi", "LifespanProtocol"), "LifespanProtocol"),
        (_gone, "granian._futures"),
        (_with_another_argument, "tracing"),
    ],
)
def test_an_unknown_granian_version_serves_without_the_fast_path_and_logs_one_line(find, said, served, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        assert fast_worker(served.traffic.around(served), find) is None
    (line,) = [record.getMessage() for record in caplog.records if record.name == "limnograph.server"]
    assert said in line


def test_pages_are_served_cached_and_invalidated_without_the_fast_path_too(served) -> None:
    reader, other = served.guard.bearer("read"), served.guard.bearer("webhook")

    def scenario(client: httpx.Client) -> None:
        first = client.get(URL, headers=reader)
        again = client.get(URL, headers={**reader, "if-none-match": first.headers["etag"]})
        assert (first.status_code, again.status_code) == (200, 304)
        assert client.get(URL, headers=other).status_code == 403

    served.run(scenario, _gone)
