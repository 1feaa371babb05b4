"""`limnograph advise LOCATION`: one table from storage, without catalog, settings and Spark, in a killable child."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.sandbox.messages import AdviseLocation, StorageAccess, decode_facts
from limnograph.adapters.sandbox.pool import Pool
from limnograph.adapters.system_clock import SystemClock
from limnograph.analysis.advice.returning import debt_half_lives
from limnograph.domain.advice.document import Advice, AdvisedFinding, Estimate
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis, to_millis
from limnograph.services.advice.findings import judge
from limnograph.services.advice.reading import UNNAMED
from limnograph.services.advice.table_advice import JudgedTable, KnownOfTable, advise_table, unreadable
from limnograph.wiring.locations.inspect import DEADLINE_SECONDS, spelled_out
from limnograph.wiring.locations.no_table import MISSING, NO_TABLE, unavailable

_DECODE = msgspec.json.Decoder(AdviceReading).decode


class LocationAdvice(NamedTuple):
    """The document, why the table is unreadable (None: it is not), and the bounds of `predicted.bytes_out` by plan."""

    advice: Advice
    problem: str | None
    bytes_out: Mapping[str, Estimate]


def advise_location(
    location: str,
    table_format: str | None,
    path_map: Mapping[str, str],
    now: Millis | None,
    prices: Prices,
    *,
    name: TableName | None = None,
) -> LocationAdvice:
    """Advice on one table. `name`: by which statements address it. Raises InvalidInput if `--format` is not the table's
    format.
    """
    started, pool = to_millis(SystemClock().now()), Pool()
    problem: str | None = None
    evaluated, bounds = now if now is not None else started, dict[str, Estimate]()
    try:
        question = AdviseLocation(table_format, spelled_out(location), now)
        *parts, last = pool.ask(StorageAccess({}, dict(path_map)), question, DEADLINE_SECONDS)
        reading = _DECODE(bytes(last))
        judged = _judged(reading, parts, prices, name)
        evaluated, table, bounds = reading.now, judged.advised, dict(judged.bytes_out)
    except MetadataError as error:
        problem = error.detail
        table = unreadable(table_format, prices, name, _damage(error, evaluated))
    except SourceError as error:
        table, problem = unreadable(table_format, prices, name), unavailable(location, error).detail
    finally:
        pool.close()
    return LocationAdvice(Advice(generated_at=started, evaluated_at=evaluated, tables=[table]), problem, bounds)


def _damage(error: MetadataError, at: Millis) -> list[AdvisedFinding]:
    """The finding of a table whose metadata is damaged; none where there is no table."""
    if error.code in {MISSING, NO_TABLE}:
        return []
    evidence = {"problem": error.code, "what": error.detail}
    return [AdvisedFinding(code="unreadable", severity="critical", subject="", opened_at=at, evidence=evidence)]


def _judged(reading: AdviceReading, parts: list[msgspec.Raw], prices: Prices, name: TableName | None) -> JudgedTable:
    engine, facts = MemoryEngine(), [fact for part in parts for fact in decode_facts(bytes(part))]
    engine.append(facts, reading.changes)
    history = judge(engine, reading, UNNAMED, columns=facts)
    known = KnownOfTable(name=name, findings=history.findings, returns=debt_half_lives(history.facts))
    return advise_table(reading, known, prices)
