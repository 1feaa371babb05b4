"""Runs, reported commits and effects of the last weeks, from the meta tables and the inbox."""

from __future__ import annotations

import msgspec

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.time import Micros
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.effects.records import EffectRecords
from limnograph.services.maintenance.aftermath import AftermathFacts
from limnograph.services.sources.inbox_items import facts_of_items
from limnograph.settings import Settings
from limnograph.wiring.watching import embedded_engine

_runs, _reports = msgspec.json.Decoder(RunFact), msgspec.json.Decoder(ReportFact)


def aftermath_since(settings: Settings, since: Micros, now: Micros) -> AftermathFacts:
    """Facts from `since` to `now`. O(runs and reports of the span). Raises SourceError, NotFound."""
    engine, inbox = embedded_engine(settings), SqlInbox(settings.inbox_url)
    end = Micros(now + 1)
    runs = engine.select(MetaQuery(table="runs", start=since, end=end)).to_dicts()
    reports = engine.select(MetaQuery(table="reports", start=since, end=end)).to_dicts()
    commits = [each for each in reports if each["outcome"] == "conflict"]
    waiting = (each for each in facts_of_items(inbox.items("report"), _reports, "a report"))
    return AftermathFacts(
        runs=[*msgspec.convert(runs, list[RunFact]), *facts_of_items(inbox.items("run"), _runs, "a run")],
        reports=[
            *msgspec.convert(commits, list[ReportFact]),
            *(each for each in waiting if each.outcome == "conflict"),
        ],
        effects=EffectRecords(inbox, engine).newest(since, end),
    )
