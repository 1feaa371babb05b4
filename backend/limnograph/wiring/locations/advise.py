"""`limnograph advise LOCATION`: one table from storage, without catalog, settings and Spark, in a killable child."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.sandbox.messages import AdviseLocation, StorageAccess, decode_facts
from limnograph.adapters.sandbox.pool import Pool
from limnograph.adapters.system_clock import SystemClock
from limnograph.analysis.advice.returning import debt_half_lives
from limnograph.domain.advice.document import Advice, AdvisedTable
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.time import Millis, to_millis
from limnograph.services.advice.findings import judge
from limnograph.services.advice.reading import UNNAMED
from limnograph.services.advice.table_advice import KnownOfTable, advise_table, unreadable
from limnograph.wiring.locations.inspect import DEADLINE_SECONDS, spelled_out
from limnograph.wiring.locations.no_table import unavailable

_DECODE = msgspec.json.Decoder(AdviceReading).decode


def advise_location(
    location: str, table_format: str | None, path_map: Mapping[str, str], now: Millis | None, prices: Prices
) -> tuple[Advice, str | None]:
    """The document, and why the table is unreadable. Raises InvalidInput if `--format` is not the table's format."""
    started, pool = to_millis(SystemClock().now()), Pool()
    problem: str | None = None
    evaluated = now if now is not None else started
    try:
        question = AdviseLocation(table_format, spelled_out(location), now)
        *parts, last = pool.ask(StorageAccess({}, dict(path_map)), question, DEADLINE_SECONDS)
        reading = _DECODE(bytes(last))
        evaluated, table = reading.now, _advised(reading, parts, prices)
    except MetadataError as error:
        table, problem = unreadable(table_format, prices), error.detail
    except SourceError as error:
        table, problem = unreadable(table_format, prices), unavailable(location, error).detail
    finally:
        pool.close()
    return Advice(generated_at=started, evaluated_at=evaluated, tables=[table]), problem


def _advised(reading: AdviceReading, parts: list[msgspec.Raw], prices: Prices) -> AdvisedTable:
    engine = MemoryEngine()
    engine.append([fact for part in parts for fact in decode_facts(bytes(part))], reading.changes)
    judged = judge(engine, reading, UNNAMED)
    known = KnownOfTable(findings=judged.findings, returns=debt_half_lives(judged.facts))
    return advise_table(reading, known, prices).advised
