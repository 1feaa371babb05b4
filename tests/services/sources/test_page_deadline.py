"""One deadline for all that a page asks of one kind, and none of another kind's."""

from __future__ import annotations

import asyncio

from limnograph.services.sources.deadline import PageDeadline


def test_a_query_has_its_own_deadline_and_never_a_later_one_than_the_page() -> None:
    async def run() -> None:
        deadline, now = PageDeadline("a"), asyncio.get_running_loop().time
        assert deadline.until_s is None
        assert 4.9 < deadline.end_s(5) - now() <= 5
        with deadline.within(2):
            page = deadline.until_s
            assert (deadline.end_s(5), deadline.end_s(60)) == (page, page)
            assert deadline.end_s(1) < (page or 0)
        assert deadline.until_s is None

    asyncio.run(run())


def test_a_nested_page_ends_with_the_outer_one_at_the_latest() -> None:
    async def run() -> None:
        deadline = PageDeadline("a")
        with deadline.within(2):
            outer = deadline.until_s
            with deadline.within(60):
                assert deadline.until_s == outer
            with deadline.within(1):
                assert (deadline.until_s or 0) < (outer or 0)
            assert deadline.until_s == outer

    asyncio.run(run())


def test_kinds_and_concurrent_pages_have_independent_deadlines() -> None:
    async def page(deadline: PageDeadline, seconds: float) -> float:
        with deadline.within(seconds):
            await asyncio.sleep(0)
            return deadline.end_s(60)

    async def run() -> None:
        one, other = PageDeadline("a"), PageDeadline("b")
        short, long = await asyncio.gather(page(one, 1), page(one, 9))
        assert long - short > 7
        with one.within(1):
            assert other.until_s is None

    asyncio.run(run())


def test_tasks_started_by_a_page_keep_its_deadline() -> None:
    async def run() -> None:
        deadline = PageDeadline("a")

        async def until_s() -> float | None:
            return deadline.until_s

        with deadline.within(1):
            assert await asyncio.create_task(until_s()) == deadline.until_s

    asyncio.run(run())
