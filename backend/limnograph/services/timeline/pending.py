"""When alerts of a table were pending before they fired, from the series that Prometheus records for its rules.

`ALERTS` has a sample at each evaluation while an alert is pending or fires; `ALERTS_FOR_STATE` has the time since which
its expression is true. Both are joined with the query of the page's job lanes if there is one, else queried separately.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.answers.timeline import Bar
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.alert_labels import tables
from limnograph.domain.metrics.promql import Selector, Union
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.time import MS_PER_SECOND, Millis, TimeRange, to_millis
from limnograph.services.sources.metrics import Metrics, page_budget
from limnograph.services.sources.page_metrics import PageMetrics, finer

WITHIN_S = 2.0
"""Longest wait of the lane: without a response received alerts are shown alone."""
LONGEST_MS = 7 * 86_400_000
"""The longest time that a rule is pending; an older start belongs to another episode."""
METRICS = ("ALERTS", "ALERTS_FOR_STATE")


class _Rule(NamedTuple):
    """Samples of one label set, in epoch ms: when it was pending, when it fired, and since when it was true."""

    labels: Mapping[str, str]
    pending: set[Millis]
    firing: set[Millis]
    since: dict[Millis, Millis]


async def waits(
    metrics: Metrics | None,
    name: TableName,
    span: TimeRange,
    now_ms: Millis,
    told: Iterable[AlertFact],
    *,
    page: asyncio.Task[PageMetrics | None] | None = None,
) -> list[Bar]:
    """A bar for each time that an alert of the table was pending, until it fired if it did. Empty if no source responds
    in time: the received alerts (`told`) are then shown without their pending time. `page`: the query in flight, which
    includes `selection`.
    """
    end = min(span.end, now_ms)
    if metrics is None or end <= span.start:
        return []
    try:
        found, step = await _states(metrics, name, span, end, page)
    except LimnographError:
        return []
    facts, width_ms = list(told), step * MS_PER_SECOND
    newest = span.start + (end - span.start) // width_ms * width_ms
    still = newest if span.end > now_ms - width_ms else None
    rules = [rule for rule in _rules(found) if name in tables(rule.labels, [name])]
    bars = [bar for rule in rules for bar in _of(rule, facts, width_ms, still)]
    return [bar for bar in bars if bar.begins < span.end and (bar.end is None or bar.end > span.start)]


async def _states(
    metrics: Metrics, name: TableName, span: TimeRange, end: Millis, page: asyncio.Task[PageMetrics | None] | None
) -> tuple[Matrix, int]:
    """Series until `end`, and the seconds between their samples. Raises SourceError."""
    if page is not None:
        done, _ = await asyncio.wait([page], timeout=WITHIN_S)
        if not done:
            return Matrix([]), span.step_s
        asked = page.result()
        if asked is not None:
            return asked.named(METRICS, end), finer(span) or span.step_s
    with page_budget(WITHIN_S):
        return await metrics.everywhere(RangeQuery(str(selection(name)), span.start, end, span.step_s)), span.step_s


def selection(name: TableName) -> Union:
    """States of all alerts whose labels may name a table: by the aliases of `table`, and by its full name."""
    bare, full = name.table, ".".join(name)
    said = [("table", bare), ("exported_table", bare), ("table_name", bare), ("table", full), ("dataset", full)]
    return Union(tuple(Selector(METRICS, {label: value}) for label, value in said))


def _rules(found: Matrix) -> list[_Rule]:
    rules: dict[frozenset[tuple[str, str]], _Rule] = {}
    for one in found.series:
        own = {name: value for name, value in one.labels.items() if name not in {"__name__", "alertstate"}}
        rule = rules.setdefault(frozenset(own.items()), _Rule(own, set(), set(), {}))
        _add(rule, one)
    return list(rules.values())


def _add(rule: _Rule, one: Series) -> None:
    if one.labels.get("__name__") == METRICS[1]:
        rule.since.update(
            (at, Millis(round(value * MS_PER_SECOND))) for at, value in zip(one.times, one.values, strict=True)
        )
    elif one.labels.get("alertstate") == "pending":
        rule.pending.update(one.times)
    else:
        rule.firing.update(one.times)


def _of(rule: _Rule, told: Sequence[AlertFact], width_ms: int, still: Millis | None) -> list[Bar]:
    """Bars of one rule. `still`: the latest queried instant, if the rule is pending now."""
    fired = sorted(to_millis(fact.starts_at) for fact in told if _same(rule.labels, fact.labels or {}))
    found: dict[Millis, Millis | None] = {}
    for before, at in zip([Millis(0), *fired], fired, strict=False):
        # A pending time shorter than a step has no sample, but its start is known while the alert fires.
        known = [since for since in rule.since.values() if before < since <= at - 1000 and at - since <= LONGEST_MS]
        if known:
            found[max(known)] = at
    for first, last in _runs(rule.pending, width_ms):
        start = min(rule.since.get(first, first), first)
        if start not in found:
            ends = [at for at in (*fired, *sorted(rule.firing)) if last < at <= last + 2 * width_ms]
            found[start] = ends[0] if ends else None if last == still else last
    label, severity = rule.labels.get("alertname", ""), rule.labels.get("severity")
    return [
        Bar(start=start, end=end, label=label, state="pending", severity=severity)
        for start, end in sorted(found.items())
    ]


def _runs(times: Iterable[Millis], width_ms: int) -> list[tuple[Millis, Millis]]:
    """First and last of each run of adjacent steps."""
    runs: list[tuple[Millis, Millis]] = []
    for at in sorted(times):
        if runs and at - runs[-1][1] <= width_ms:
            runs[-1] = runs[-1][0], at
        else:
            runs.append((at, at))
    return runs


def _same(rule: Mapping[str, str], told: Mapping[str, str]) -> bool:
    """Whether a received alert is of a rule: received alerts may have additional external labels."""
    return all(told.get(name) == value for name, value in rule.items())
