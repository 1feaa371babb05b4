"""What callers send is remembered while it is short, and long texts are answered all the same."""

import asyncio
import tracemalloc

import pytest

from limnograph.api.front.answers import matches
from limnograph.api.front.encodings import chosen
from limnograph.api.front.paths import refusal
from limnograph.api.front.traffic import route_of
from serving_kit import HOUR, NOW, client, lake, parts, row

TABLE = "/api/v1/tables/lake/sales/orders"
LONG = 20_000


@pytest.mark.parametrize(
    "ask",
    [
        lambda n: refusal(b"/" + b"%d" % n + b"a" * LONG),
        lambda n: route_of(f"/{n}" + "a" * LONG),
        lambda n: chosen(b"gzip, x%d" % n + b"a" * LONG),
        lambda n: matches(b'"x%d"' % n + b"a" * LONG, b'"tag"'),
    ],
)
def test_long_texts_are_not_kept_in_memory(ask) -> None:
    ask(0)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(200):
        ask(number)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 200 * LONG / 10


def test_long_texts_are_answered_as_short_ones_are() -> None:
    assert refusal(b"/" + b"a" * 3_000) is None
    assert refusal(b"/" + b"a" * 5_000) == "the path must have at most 4096 bytes"
    assert route_of("/api/v1/tables/" + "a" * 3_000) == "/api/v1/tables/…"
    assert chosen(b"x" * 3_000 + b", gzip") == "gzip"
    assert matches(b'"x' + b"a" * 3_000 + b'", "tag"', b'"tag"')


def test_a_long_query_is_cached_like_any_other() -> None:
    url = f"{TABLE}/timeline?from={(NOW - HOUR) // 1000}&to={NOW // 1000}&lanes=data_files"

    async def run() -> list[bytes]:
        async with client(parts(lake([row(1, NOW - HOUR, 5)]))) as http:
            return [(await http.get(url + "&" * more)).content for more in (0, 1_500, 1_500, 3_000)]

    assert len(set(asyncio.run(run()))) == 1
