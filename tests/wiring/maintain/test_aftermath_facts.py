"""Runs, lost commits and effects are read from the meta tables and from the inbox."""

from pathlib import Path

import msgspec
from pyiceberg.catalog.sql import SqlCatalog

from golden_tables import append
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.facts.meta_tables import EFFECTS, REPORTS, RUNS
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem
from limnograph.settings import load
from limnograph.wiring.maintain.aftermath import aftermath_since
from maintained_facts import DAY_US, HOUR_US, NOW_US, UUID


def test_facts_of_the_meta_tables_and_the_inbox(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'catalog.db'}"
    made = SqlCatalog("lake", uri=uri, warehouse=f"file://{tmp_path / 'warehouse'}")
    ensure_meta_tables(made, "limnograph")
    (tmp_path / "limnograph.toml").write_text(f'[catalogs.lake]\ntype = "sql"\nuri = "{uri}"\n')
    settings = load(tmp_path / "limnograph.toml", {})
    at = Micros(NOW_US - HOUR_US)
    run = RunFact(run_id="r1", status="failed", job_name="erase", at=at, ended_at=at, observed_at=at, message="lost")
    lost = ReportFact(event_id="e1", kind="commit", at=at, table="orders", outcome="conflict")
    effect = EffectFact(
        table_uuid=UUID, operation_id="7", job_name="churn", measure="duration", runs_after=8, committed_at=at
    )
    rows = [
        *((RUNS, run), (RUNS, msgspec.structs.replace(run, run_id="old", at=Micros(NOW_US - 40 * DAY_US)))),
        *((REPORTS, lost), (REPORTS, msgspec.structs.replace(lost, event_id="ok", outcome="ok")), (EFFECTS, effect)),
    ]
    for number, (table, fact) in enumerate(rows):
        append(made, None, table, fact, number)
    waiting = msgspec.json.encode(msgspec.structs.replace(run, run_id="r2"))
    SqlInbox(settings.inbox_url).put([InboxItem("run", "r2", waiting, at)])

    found = aftermath_since(settings, Micros(NOW_US - 31 * DAY_US), NOW_US)
    assert [each.run_id for each in found.runs] == ["r1", "r2"]
    assert [each.event_id for each in found.reports] == ["e1"]
    assert [each.operation_id for each in found.effects] == ["7"]
