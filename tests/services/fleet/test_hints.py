"""Why no table is shown: nothing listed yet, none matches, listed and not read yet, or a catalog is down."""

import pytest

from lakes import Lake
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.watch import Sighted
from limnograph.services.fleet.hints import about_patterns, about_tables
from limnograph.services.watcher.rounds import Watcher
from limnograph.wiring.observe import SettingsLake

CATALOGS = ("lake",)
NOTHING = Sighted(0, 0, (), whole=False, troubles=())


@pytest.mark.parametrize(
    ("known", "seen", "error", "code", "said"),
    [
        (0, NOTHING, None, "tables_unread", "being listed"),
        (0, Sighted(0, 0, (), whole=True, troubles=()), None, "tables_unread", "being listed"),
        (
            0,
            Sighted(47, 39, (), whole=False, troubles=()),
            None,
            "tables_unread",
            "39 tables are observed, none of them",
        ),
        (12, Sighted(47, 39, (), whole=False, troubles=()), None, "tables_unread", "12 of them have been read"),
        (1, Sighted(3, 2, (), whole=False, troubles=()), None, "tables_unread", "1 of them has been read"),
        (0, Sighted(1, 1, ("lake",), whole=True, troubles=("lake.a.b: no answer",)), None, "tables_unread", "could be"),
        (0, Sighted(0, 0, (), whole=True, troubles=("catalog: lake: refused",)), None, "catalog_down", "refused"),
        (0, Sighted(0, 0, (), whole=True, troubles=()), "meta: no answer", "catalog_down", "no answer"),
        (0, Sighted(8, 0, ("lake",), whole=True, troubles=()), None, "no_match", "list 8 tables"),
        (0, Sighted(0, 0, ("lake",), whole=True, troubles=()), None, "no_tables", "list no table"),
        (0, None, None, "no_tables", "--no-watch"),
        (0, None, "meta: refused", "catalog_down", "refused"),
    ],
)
def test_each_reason_has_its_own_text(known, seen, error, code, said) -> None:
    hint = about_tables(known, seen, CATALOGS, error)
    assert hint is not None
    assert hint.code == code
    assert said in f"{hint.title} {hint.detail}"


@pytest.mark.parametrize(
    ("known", "seen"),
    [
        (39, Sighted(47, 39, ("lake",), whole=True, troubles=())),
        (39, Sighted(47, 39, (), whole=False, troubles=())),
        (30, Sighted(47, 39, ("lake",), whole=True, troubles=("lake.a.b: no answer",))),  # the status names them
        (3, None),
    ],
)
def test_where_everything_is_shown_there_is_no_hint(known, seen) -> None:
    assert about_tables(known, seen, CATALOGS, None) is None


def sighted(*unmatched: str, observed: int = 2) -> Sighted:
    return Sighted(3, observed, ("lake",), whole=True, troubles=(), unmatched=unmatched)


def test_settings_that_match_no_table_are_named() -> None:
    hint = about_patterns(sighted("observe.include[1] 'lake.slaes.**'", "observe.warehouses[0] 'files.landing.**'"))
    assert hint is not None
    assert "observe.include[1] 'lake.slaes.**', observe.warehouses[0] 'files.landing.**'." in hint.detail
    many = about_patterns(sighted(*(f"observe.include[{i}] 'x'" for i in range(8))))
    assert many is not None
    assert "'x' and 3 more." in many.detail


def test_patterns_have_no_hint_where_all_match_or_none_does() -> None:
    assert about_patterns(None) is None
    assert about_patterns(sighted()) is None
    assert about_patterns(sighted("observe.include[0] 'x'", observed=0)) is None  # another hint says so


def test_the_watcher_reports_the_amount_to_read_before_it_reads(tmp_path) -> None:
    lake = Lake(tmp_path)
    for name in ("sales.orders", "sales.returns", "web.clicks"):
        lake.table(name)
    observed = SettingsLake(lake.settings(observe={"include": ["lake.sales.**"]}))
    first, *_, last = Watcher(observed, MemoryEngine(), SystemClock(), 10**15).round()
    assert (first.listed, first.tables, first.last, first.changes) == (3, 2, False, [])
    assert (last.listed, last.tables, last.last, last.read) == (3, 2, True, ["files", "lake"])
    observed.close()
