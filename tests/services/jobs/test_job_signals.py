"""Lanes of CPU, spill, executors and memory: by the settings, else by Spark's own series; never an unmeasured zero."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.errors import SourceTimeout
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.time import TimeRange
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.sources import templates
from serving_kit import HOUR, NOW, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
SPAN = TimeRange.parse((NOW - HOUR) // 1000, NOW // 1000, 60)
ASKED = ("data_files", "cpu", "spill", "executors", "job_memory")
OWN = ConfiguredJob(name="churn", reads=("lake.sales.*",), cpu="own_cpu", spill="own_spill")
TIMES = list(range(SPAN.start, SPAN.end, 60_000))


def steady(*levels: float) -> list[Series]:
    """One series a level."""
    return [Series({"executor": str(n)}, TIMES, [level] * len(TIMES)) for n, level in enumerate(levels)]


def lanes(source: MemoryMetrics | None, job: ConfiguredJob = OWN, asked: tuple[str, ...] = ASKED) -> dict[str, Any]:
    engine = lake([row(1, NOW - 2 * HOUR, 10)], [moved(1, NOW - 2 * HOUR)])
    made = parts(engine, source, configured=(job,), graphs={"main": "https://one.example"}) if source else parts(engine)
    answer = asyncio.run(made.backend.timelines.answer(NAME, SPAN, asked, None, None))
    return {lane["id"]: lane for lane in msgspec.json.decode(msgspec.json.encode(answer.lanes))}


def test_series_of_the_settings_query_are_summed_in_its_unit_and_show_its_query() -> None:
    found = lanes(MemoryMetrics("main", {"own_cpu": steady(1.5, 0.5), "own_spill": steady(0.0)}))
    assert (found["cpu"]["status"], found["cpu"]["unit"], found["cpu"]["v"][7]) == ("ok", "cores", 2.0)
    assert found["cpu"]["query"] == {"promql": "own_cpu", "prometheus": "https://one.example"}
    assert (found["spill"]["unit"], found["spill"]["v"][7]) == ("bytes", 0.0), "a zero that was measured stays one"


def test_memory_has_a_query_of_its_own() -> None:
    own = ConfiguredJob(name="churn", reads=("lake.sales.*",), memory="own_memory")
    found = lanes(MemoryMetrics("main", {"own_memory": steady(5.0)}), own)["job_memory"]
    assert (found["status"], found["v"][7], found["query"]["promql"]) == ("ok", 5.0, "own_memory")


def test_what_the_source_keeps_has_only_a_query_of_its_own() -> None:
    own = ConfiguredJob(name="cdc", writes=("lake.sales.*",), slot_lag="own_slot")
    asked = ("slot_lag",)
    found = lanes(MemoryMetrics("main", {"own_slot": steady(512e6)}), own, asked)["slot_lag"]
    assert (found["status"], found["v"][7], found["unit"], found["label"]) == ("ok", 512e6, "bytes", "cdc")
    assert lanes(MemoryMetrics("main", {}), OWN, asked)["slot_lag"]["status"] == "absent"


def test_without_a_query_spark_s_own_series_of_the_application_of_that_name_are_used() -> None:
    plain = ConfiguredJob(name="churn", reads=("lake.sales.*",))
    told = {templates.busy_cores("churn", 60): steady(3.0), templates.executors("churn", 60): steady(8.0)}
    told[templates.memory("churn", 60)] = steady(2e9, 1e9)
    found = lanes(MemoryMetrics("main", told), plain)
    assert (found["cpu"]["v"][0], found["executors"]["v"][0]) == (3.0, 8.0)
    assert (found["job_memory"]["v"][0], found["job_memory"]["unit"]) == (3e9, "bytes")
    assert 'application_name="churn"' in found["cpu"]["query"]["promql"]
    assert (found["spill"]["status"], set(found["spill"]["v"])) == ("absent", {None})


def test_a_signal_without_series_is_absent_and_not_zero() -> None:
    for found in (lanes(MemoryMetrics("main", {}), ConfiguredJob(name="churn", reads=OWN.reads)), lanes(None)):
        assert {found[lane]["status"] for lane in ASKED[1:]} == {"absent"}
        assert {value for lane in ASKED[1:] for value in found[lane]["v"]} == {None}


def test_an_instant_without_a_sample_is_a_gap() -> None:
    holes = [Series({}, TIMES[:10] + TIMES[20:], [float("nan"), *[4.0] * (len(TIMES) - 11)])]
    found = lanes(MemoryMetrics("main", {"own_cpu": holes}))["cpu"]["v"]
    assert (found[0], found[9], found[15], found[20]) == (None, 4.0, None, 4.0)


def test_each_query_fails_alone_and_the_table_s_lanes_remain() -> None:
    class OneBroken(MemoryMetrics):
        async def range(self, query: RangeQuery) -> Matrix:
            if query.promql == "own_spill":
                raise SourceTimeout(self.name, "no complete response within 5 s")
            return await super().range(query)

    found = lanes(OneBroken("main", {"own_cpu": steady(2.0)}))
    assert (found["spill"]["status"], found["spill"]["problem"]["type"]) == ("error", "source-timeout")
    assert (found["cpu"]["status"], found["data_files"]["status"]) == ("ok", "ok")


def test_only_requested_lanes_cause_a_query() -> None:
    class Counting(MemoryMetrics):
        asked: list[str]

        async def range(self, query: RangeQuery) -> Matrix:
            self.asked.append(query.promql)
            return await super().range(query)

    source = Counting("main", {"own_cpu": steady(2.0)})
    source.asked = []
    lanes(source, asked=("job_duration", "cpu"))
    assert "own_cpu" in source.asked
    assert not {"own_spill", templates.executors("churn", 60)}.intersection(source.asked)
