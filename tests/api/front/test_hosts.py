"""The `Host` of a request: read as the standard writes it, so that nothing that only contains a name of ours passes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from limnograph.api.front.gate import Authenticator
from limnograph.api.front.hosts import hostname
from serving_kit import application, parts


@pytest.mark.parametrize(
    ("host", "name"),
    [
        (b"localhost", "localhost"),
        (b"LocalHost.:8787", "localhost"),
        (b"127.0.0.1:8787", "127.0.0.1"),
        (b"127.0.0.1:", "127.0.0.1"),
        (b"[::1]", "::1"),
        (b"[0:0:0:0:0:0:0:1]:80", "::1"),
        (b"my_service-1.example.org:65535", "my_service-1.example.org"),
        *(
            (host, None)
            for host in (
                b"",
                b":80",
                b"127.0.0.1:x@evil",
                b"127.0.0.1:80@evil",
                b"evil@127.0.0.1",
                b"127.0.0.1:80:80",
                b"127.0.0.1:65536",
                b"127.0.0.1:8 0",
                b"127.0.0.1 ",
                b"127.0.0.1/x",
                b"127.0.0.1?x",
                b"127.0.0.1#x",
                b"127.0.0.1\\x",
                b"127.0.0.1,evil\x00",
                b"localhost..",
                b"loc%61lhost",
                b"::1",
                b"[::1",
                b"[::1]x",
                b"[::1%25eth0]",
                b"[127.0.0.1]",
                b"[::1]:x",
                b"\xff",
            )
        ),
    ],
)
def test_a_host_is_a_name_or_an_address_with_a_port_and_nothing_else(host, name) -> None:
    assert hostname(host) == name


def status(gate: Authenticator, *hosts: bytes) -> int:
    """What a request with these `Host` headers gets. By hand, since HTTP clients write one and a right one."""
    statuses: list[int] = []
    scope: Any = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/api/v1/tables",
        "raw_path": b"/api/v1/tables",
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", host) for host in hosts],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "state": {},
    }

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    asyncio.run(application(parts(), gate=gate)(scope, receive, send))
    return statuses[0]


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        ([b"127.0.0.1:8787"], 200),
        ([b"localhost."], 200),
        ([b"[0::1]:1"], 200),
        ([], 200),
        ([b"127.0.0.1:x@evil"], 403),
        ([b"evil@127.0.0.1"], 403),
        ([b"127.0.0.1:80@evil"], 403),
        ([b""], 403),
        ([b"127.0.0.1", b"evil"], 400),
        ([b"evil", b"127.0.0.1"], 400),
        ([b"127.0.0.1", b"127.0.0.1"], 400),
    ],
)
def test_a_server_without_authentication_responds_to_a_strict_host_only(hosts, found) -> None:
    assert status(Authenticator(hosts={"localhost", "127.0.0.1", "::1"}), *hosts) == found


def test_a_malformed_host_is_refused_in_every_mode() -> None:
    assert status(Authenticator(), b"anything.example") == 200
    assert status(Authenticator(), b"127.0.0.1:x@evil") == 400
    assert status(Authenticator(), b"a", b"a") == 400
