"""The server's own numbers, for `/metrics`."""

from __future__ import annotations

from collections import Counter

from limnograph.domain.advice.fleet import TableCosts
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.maintenance import MaintenanceNumbers
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.reads.recent import TableReadNumbers
from limnograph.services.sources.query_counts import CountedSource
from limnograph.wiring.server import ServerServices


def own_metrics(services: ServerServices) -> dict[str, float | None]:
    """The numbers by their names in SERVER_METRICS."""
    store, live = services.store, services.live
    reading = store.reading
    return {
        "limnograph_streams": live.readers,
        "limnograph_stream_events_total": live.published,
        "limnograph_streams_refused_total": live.refused,
        "limnograph_streams_dropped_total": live.dropped,
        "limnograph_hot_bytes": store.nbytes,
        "limnograph_hot_rows": store.rows,
        "limnograph_hot_tables": len(reading.lake.listed),
        "limnograph_hot_tables_shortened": len(reading.lake.edges),
        "limnograph_meta_up": float(reading.error is None),
        **_forecasts(services),
        **services.inbox_state.numbers(reading.lake.observed_at),
    }


def _forecasts(services: ServerServices) -> dict[str, float | None]:
    """Absent before the first forecast."""
    board = services.forecasts.known
    if board.as_of is None:
        return {}
    at_risk = sum(any(each.state == "at_risk" for each in found) for found in board.by_table.values())
    return {
        "limnograph_forecast_tables_at_risk": at_risk,
        "limnograph_forecast_as_of_timestamp_seconds": board.as_of / MICROS_PER_SECOND,
    }


def table_reads(services: ServerServices) -> dict[TableName, TableReadNumbers]:
    """Reads of the last hour by the table's current name."""
    tables = services.store.reading.lake.tables
    found = {
        tables[uuid].name: reads for uuid, reads in services.observers.recent.numbers.hour.items() if uuid in tables
    }
    return {name: reads for name, reads in found.items() if name is not None}


def table_costs(services: ServerServices) -> TableCosts:
    """Bytes and costs of the tables that were evaluated, by current name."""
    if services.advisor is None:
        return TableCosts()
    tables = services.store.reading.lake.tables
    named = [
        (name, advice.advised)
        for uuid, advice in services.advisor.board.tables.items()
        if uuid in tables and (name := tables[uuid].name) is not None
    ]
    return TableCosts(
        sizes={name: advised.bytes for name, advised in named if advised.bytes is not None},
        costs={name: advised.cost_per_month for name, advised in named if advised.cost_per_month is not None},
        currency=services.advisor.prices.currency,
    )


def recommended_plans(services: ServerServices) -> dict[str, int]:
    """Recommended plans by rule."""
    if services.advisor is None:
        return {}
    return dict(Counter(each.recommendation.rule for each in services.advisor.board.queue))


def maintenance_numbers(services: ServerServices) -> MaintenanceNumbers | None:
    """Numbers of executed maintenance; None: the server keeps no plans, or has not read them yet."""
    return services.plans.numbers() if services.plans is not None and services.plans.started else None


def catalog_answers(services: ServerServices) -> dict[str, tuple[Micros | None, bool]]:
    """By catalog: when it last responded to the watcher (epoch microseconds), and whether it responded in the latest
    round.
    """
    return services.store.catalogs(tuple(services.options.catalogs))


def queried_sources(services: ServerServices) -> list[CountedSource]:
    """Sources with their counts of queries."""
    cold = services.options.cold
    found = [CountedSource("meta", "meta", services.store.reads.counts)]
    if cold:
        found.append(CountedSource("trino", cold.name, cold.counts, cold.breaker))
    measured = services.metrics.sources if services.metrics else []
    return found + [CountedSource("prometheus", one.name, one.counts, one.breaker) for one in measured]
