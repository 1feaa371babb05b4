"""Generates `docs/metrics.md`: `python -m limnograph.domain.metrics.reference`. CI compares it with the file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from limnograph.domain.metrics.gauges import (
    CATALOG_KNOWN,
    CATALOG_UP,
    COST_PER_MONTH,
    FINDING_OPEN,
    HELD_BYTES,
    LABELS,
    PUBLIC_URL,
    READ_GAUGES,
    RECOMMENDATIONS,
    REFUSED_COMMITS,
    REPORTED_ATTEMPTS,
    REPORTED_COMMITS,
    REQUESTS,
    SECONDS,
    SERVER_METRICS,
    TABLE_COUNTERS,
    TABLE_GAUGES,
    USUAL_INTERVAL,
)
from limnograph.domain.metrics.maintenance import ACTIONS, MAINTENANCE_METRICS, OTHER
from limnograph.domain.metrics.maintenance import SECONDS as ACTION_SECONDS
from limnograph.domain.metrics.sources import (
    ASKED,
    ASKED_HELP,
    ASKED_LABELS,
    BREAKER,
    BREAKER_HELP,
    BREAKER_LABELS,
    OUTCOMES,
)

INTRODUCTION = f"""# Metrics

Generated from `backend/limnograph/domain/metrics/gauges.py`: change it there, then run `make types`.

`GET /metrics` of the server, in Prometheus' text format. Labels of a table: `{", ".join(LABELS)}`; never `job` or
`namespace`, which Prometheus and Kubernetes overwrite. **A number that is not known has no sample, it is never 0.**
It also exposes metrics of the process (`process_*`, `python_*`) and `limnograph_build_info{{version}}`.
"""
_COUNTED = """A counter starts at 0 when the server first sees the table and then counts every commit to main once,
without `replace` (maintenance); it never decreases and survives restarts (`counters.json` next to the inbox). To alert
on growth, use the difference to an older sample, `x - last_over_time(x[30m] offset 5m) > N`, for gauges and counters
alike: `increase` extrapolates, and treats every drop of a gauge as a restart (docs/adr/0032-rule-forms.md).
"""


def document() -> str:
    """The whole page as Markdown."""
    tables = _rows((gauge.name, "gauge", gauge.help) for gauge in (*TABLE_GAUGES, USUAL_INTERVAL))
    counters = _rows((counter.name, "counter", counter.help) for counter in TABLE_COUNTERS)
    reads = _rows((metric.name, metric.kind, metric.help) for metric in READ_GAUGES)
    reported = _rows(
        (metric.name, metric.kind, metric.help) for metric in (REPORTED_COMMITS, REPORTED_ATTEMPTS, REFUSED_COMMITS)
    )
    costs = _rows(
        (metric.name, metric.kind, metric.help + more)
        for metric, more in ((HELD_BYTES, ""), (COST_PER_MONTH, " Also by `part` and `currency`."))
    )
    findings = (
        f"By {_listed(FINDING_OPEN.labels)}.\n\n{_rows([(FINDING_OPEN.name, FINDING_OPEN.kind, FINDING_OPEN.help)])}"
    )
    own = _rows((metric.name, metric.kind, metric.help) for metric in SERVER_METRICS)
    own += f"| `{PUBLIC_URL.name}` | {PUBLIC_URL.kind} | {PUBLIC_URL.help} By `url`; links in alerts begin with it. |\n"
    own += "".join(
        f"| `{each.name}` | {each.kind} | {each.help} By `catalog`. |\n" for each in (CATALOG_UP, CATALOG_KNOWN)
    )
    edges = ", ".join(f"{edge:g}" for edge in SECONDS)
    own += f"| `{RECOMMENDATIONS.name}` | {RECOMMENDATIONS.kind} | {RECOMMENDATIONS.help} By `rule`. |\n"
    requests = (
        f"Histogram by `route` (a pattern), `method` and `status`; seconds {edges}. Status 499: the client "
        "disconnected before the response."
    )
    requests += " Rejected requests have status 400, 401, 403, 413 or 429."
    sections = (
        f"## Of each table\n\n{tables}",
        f"## Counters of each table\n\n{_COUNTED}\n{counters}",
        f"## Findings of each table\n\n{findings}",
        f"## Of each table whose reads are reported (docs/events.md)\n\n{reads}",
        f"## Of each table whose commits are reported (docs/events.md)\n\n{reported}",
        f"## Of each table whose storage was read\n\n{costs}",
        f"## Of executed maintenance (docs/maintenance.md)\n\n{_maintenance()}",
        f"## Of the server\n\n{own}| `{REQUESTS}` | histogram | {requests} |\n",
        f"## Of its sources\n\n{_sources()}",
    )
    return "\n".join((INTRODUCTION, *sections))


def _maintenance() -> str:
    labels = (
        f"`action` is {_listed((*ACTIONS, OTHER), 'or')}; buckets in seconds: "
        f"{', '.join(f'{edge:g}' for edge in ACTION_SECONDS)}.\n"
    )
    return _rows((metric.name, metric.kind, metric.help) for metric in MAINTENANCE_METRICS) + "\n" + labels


def _sources() -> str:
    asked = f"{ASKED_HELP} By {_listed(ASKED_LABELS)}, where `outcome` is {_listed(OUTCOMES, 'or')}; the same buckets."
    breaker = f"{BREAKER_HELP} By {_listed(BREAKER_LABELS)}."
    return _rows([(ASKED, "histogram", asked), (BREAKER, "gauge", breaker)])


def _listed(names: Sequence[str], last: str = "and") -> str:
    *first, end = (f"`{name}`" for name in names)
    return f"{', '.join(first)} {last} {end}"


def _rows(metrics: Iterable[tuple[str, str, str]]) -> str:
    rows = "".join(f"| `{name}` | {kind} | {text} |\n" for name, kind, text in metrics)
    return f"| metric | type | meaning |\n|---|---|---|\n{rows}"


if __name__ == "__main__":
    sys.stdout.write(document())
