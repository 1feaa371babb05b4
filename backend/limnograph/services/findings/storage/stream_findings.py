"""Findings of streams that lag behind their source: `stream_lag`, and missed objectives of the time from an event to
its commit, from the gauges of `limnograph.spark_streams`.

Cost: one range query of three hours over all streams a minute.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from limnograph.analysis.alignment import finite
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.observed.streams import StreamSamples, gap_seconds, late_events, stream_lags
from limnograph.domain.errors import SourceError
from limnograph.domain.finding_limits import HOUR, MINUTE, FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.objectives import Objectives
from limnograph.domain.time import MICROS_PER_SECOND, MS_PER_SECOND, Micros, Millis, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.lake.store import HotStore
from limnograph.services.sources import templates

SPAN = 3 * HOUR
STEP_S = 60
_log = logging.getLogger("limnograph.findings")
_Key = tuple[TableName, str]


class StreamFindings:
    """Used on the event loop only, by one task."""

    def __init__(
        self,
        store: HotStore,
        jobs: Jobs,
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
        objectives: Objectives = Objectives(),  # noqa: B008  # immutable
    ) -> None:
        self._store, self._jobs, self._clock, self._limits = store, jobs, clock, limits
        self._objectives = objectives
        self._at = Micros(0)

    async def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all streams to the evaluator; nothing without a metrics source, while it does not
        respond, and before the recorded findings were read.
        """
        now, known = self._clock.now(), evaluator.known_open("stream_lag")
        if self._jobs.metrics is None or known is None or now - self._at < MINUTE:
            return
        start, end = to_millis(Micros(now - SPAN)), to_millis(now)
        query = RangeQuery(templates.streams_of_tables(STEP_S), start, end, STEP_S)
        try:
            matrix = await self._jobs.metrics.everywhere(query)
        except SourceError as error:
            _log.info("lag of streams: %s", error)
            return
        self._at = now
        lake, found = self._store.reading.lake, dict[str, list[Episode]]()
        by_table: dict[str, list[StreamSamples]] = defaultdict(list)
        for (name, _), samples in samples_of(matrix).items():
            uuid = lake.names.get(self._store.resolved(name))
            if uuid is not None:
                by_table[uuid].append(samples)
        for uuid, streams in by_table.items():
            found[uuid] = self._of_table(lake.tables[uuid].name, streams, known.get(uuid, {}), now)
        evaluator.observed(found, "streams")

    def _of_table(
        self, name: TableName | None, streams: Sequence[StreamSamples], known: Mapping[str, Micros], now: Micros
    ) -> list[Episode]:
        promised = None if name is None else self._objectives.events(name)
        objective = None if promised is None else promised.limit_us / MICROS_PER_SECOND
        found = [
            episode
            for each in streams
            for episode in stream_lags(each._replace(objective=objective), now, self._limits, known.get(each.stream))
        ]
        return found if promised is None else [*found, *late_events(streams, now, promised)]


def samples_of(matrix: Matrix) -> Mapping[_Key, StreamSamples]:
    """The lag of each stream of each table: of its last batch, or the time since its last progress if that is longer.
    Its usual gap is that between the instants of its progress.
    """
    lags: dict[_Key, dict[Millis, float]] = defaultdict(dict)
    progress: dict[_Key, set[float]] = defaultdict(set)
    for series in matrix.series:
        labels = series.labels
        name = TableName.from_plain(*(labels.get(label, "") for label in ("catalog", "table_namespace", "table")))
        key = (name, labels.get("query_name", ""))
        is_instant = labels.get(templates.STAT) == "progress"
        for at_ms, sample in zip(series.times, series.values, strict=True):
            value = finite(sample)
            if value is None:
                continue
            if is_instant:
                progress[key].add(value)
            lag = max(0.0, at_ms / MS_PER_SECOND - value) if is_instant else value
            lags[key][at_ms] = max(lag, lags[key].get(at_ms, 0.0))
    found = {}
    for key, by_time in lags.items():
        times = sorted(by_time)
        commits = [Micros(round(at * MICROS_PER_SECOND)) for at in sorted(progress[key])]
        found[key] = StreamSamples(
            key[1],
            np.array([to_micros(at) for at in times], np.int64),
            np.array([by_time[at] for at in times], np.float64),
            gap_seconds(commits),
        )
    return found
