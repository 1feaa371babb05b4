"""Each guard holds where it should, stops the action where its hazard is, and does not hold without its fact."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from advised_facts import DAY, GIB, HOUR, MINUTE, NOW, commits, log_entries, metadata
from limnograph.analysis.advice.readers import ReaderNeed
from limnograph.analysis.maintenance.guards.every import GUARDS, TEMPORARY, guards_of, may_hold_later, unsatisfied
from limnograph.analysis.maintenance.guards.facts import OtherTable
from limnograph.domain.advice.document import PlanGuard, Predicted
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.table import LogEntry, Snapshot, SnapshotRef, TableMetadata
from limnograph.domain.time import Micros, Millis
from maintained_facts import DAY_US, HOUR_US, NOW_US, UUID, guarded, planned

ROOT = "s3://lake/sales/orders"
ITEMS = TableName("lake", "sales", "items")
ALL = (
    "compact",
    "compact_deletes",
    "position_deletes",
    "manifests",
    "expire",
    "orphans",
    "delta_compact",
    "delta_vacuum",
)
HOLD = PlanGuard(code="quiet", ok=False, text="The table was written 5 s ago.")


class Listed(NamedTuple):
    location: str
    size: int = 100
    modified_at_ms: int = NOW - 30 * DAY


def table(*, refs: dict[str, SnapshotRef] | None = None, staged: bool = False, **fields: Any) -> TableMetadata:
    """A week of daily commits; `staged`: one that write-audit-publish has not published."""
    found = commits(*range(7 * DAY, 0, -DAY))
    if staged:
        wap = {"operation": "append", "wap.id": "w1"}
        found.append(Snapshot(snapshot_id=99, timestamp_ms=Millis(NOW - 6 * DAY), parent_id=1, summary=wap))
    main = {"main": SnapshotRef(7, "branch")}
    return metadata(found, refs={**main, **(refs or {})}, **fields)


def rewritten(age: int, stamp: str | None = None) -> TableMetadata:
    """A table with a rewrite."""
    summary = {"operation": "replace"} | ({"limnograph-plan": stamp} if stamp else {})
    return metadata([Snapshot(snapshot_id=1, timestamp_ms=Millis(NOW - age), summary=summary)])


def expiring(*ids: int) -> Any:
    return planned("expire", snapshots=ids or (1, 2))


def removing(*files: str, modified: int = NOW - 30 * DAY) -> dict[str, Any]:
    """A removal of files of the table."""
    chosen = files or (f"{ROOT}/data/1.parquet",)
    listing = [Listed(each, modified_at_ms=modified) for each in chosen]
    return {"plan": planned("orphans", files=chosen), "unreferenced": listing}


def other(**fields: Any) -> list[OtherTable]:
    return [OtherTable(ITEMS, **fields)]


def need(*ids: int) -> list[ReaderNeed]:
    return [ReaderNeed("churn", ids, NOW_US, NOW_US, "behind")]


def delta(**fields: Any) -> dict[str, Any]:
    return {
        "plan": planned("delta_compact"),
        "engine": "deltalake",
        "metadata": metadata(commits(DAY), format="delta", **fields),
    }


STOPS: list[tuple[str, dict[str, Any], str]] = [
    ("table_identity", {"table_uuid": None}, "not known"),
    ("table_identity", {"table_uuid": "swapped"}, "Another table has this name now"),
    (
        "table_identity",
        {"plan": expiring(), "metadata": table(uuid=None), "table_uuid": table(uuid=None).table_uuid},
        "no uuid",
    ),
    ("format", {"metadata": table(format_version=4)}, "version 4"),
    ("format", {"metadata": metadata(commits(DAY), format="hudi")}, "hudi are not maintained"),
    ("format", delta(properties={"delta.columnMapping.mode": "name"}), "column mapping"),
    ("clock", {"machine_now": None}, "not known"),
    ("clock", {"machine_now": Micros(NOW_US + HOUR_US)}, "differ by 60 min"),
    ("clock", {"machine_now": Micros(NOW_US - HOUR_US)}, "differ by 60 min"),
    ("clock", {"metadata": metadata(commits(DAY, -HOUR))}, "60 min in the future"),
    ("clock", removing(modified=NOW + HOUR), "in the future"),
    ("gc_enabled", {"plan": expiring(), "metadata": table(properties={"gc.enabled": "false"})}, "does not permit"),
    ("gc_enabled", {"plan": expiring(), "metadata": table(properties={"gc.enabled": " maybe"})}, "does not permit"),
    ("location_moved", removing() | {"metadata": table(metadata_log=log_entries(1))}, "its metadata was elsewhere"),
    ("location_moved", removing() | {"metadata": table(metadata_location="s3://other/1.json")}, "s3://other"),
    ("H1_named_snapshots", {"plan": planned("expire", snapshots=())}, "names no snapshot"),
    ("H1_named_snapshots", {"plan": expiring(1, 77)}, "1 named snapshot of the plan are no longer"),
    (
        "H1_named_snapshots",
        {"plan": expiring(1), "metadata": table(refs={"old": SnapshotRef(3, "tag", {"max-ref-age-ms": 1})})},
        "would expire more: old",
    ),
    (
        "H1_named_snapshots",
        {
            "plan": expiring(1),
            "metadata": table(refs={"main": SnapshotRef(7, "branch", {"max-snapshot-age-ms": HOUR})}),
        },
        "would expire more: main",
    ),
    ("H2_readers", {"plan": expiring(), "readers": None}, "never automatic"),
    ("H2_readers", {"plan": expiring(), "unknown_streams": None}, "never automatic"),
    ("H2_readers", {"plan": expiring(), "unknown_streams": True}, "never automatic"),
    ("H2_readers", {"plan": expiring(1), "readers": need(1, 2)}, "churn needs snapshot 1"),
    ("H2_readers", {"plan": expiring(1), "readers": need(1, 2), "approved_by_user": True}, "churn needs snapshot 1"),
    ("H2_readers", {"plan": planned("delta_vacuum"), "readers": None}, "never automatic"),
    ("H3_staged_commits", {"plan": expiring(99), "metadata": table(staged=True)}, "before publication"),
    ("H4_references", {"plan": expiring(7)}, "snapshots of main"),
    ("H4_references", {"plan": expiring(3), "metadata": table(refs={"q3": SnapshotRef(3, "tag")})}, "snapshots of q3"),
    ("H5_other_maintenance", {"metadata": rewritten(HOUR - 1)}, "Another program rewrote files 60 min ago"),
    ("H5_other_maintenance", {"metadata": rewritten(-MINUTE)}, "Another program rewrote files 0 s ago"),
    ("H5_other_maintenance", {"plan": expiring(1), "metadata": rewritten(MINUTE)}, "wait an hour"),
    ("H6_uncommitted_files", removing() | {"unreferenced": None}, "not known"),
    ("H6_uncommitted_files", removing() | {"longest_run_us": None}, "set orphans.longest_run"),
    ("H6_uncommitted_files", removing(modified=NOW - 3 * DAY + 1), "younger than 3 days"),
    ("H6_uncommitted_files", removing(modified=NOW - 5 * DAY) | {"longest_run_us": 2 * DAY_US}, "younger than 6 days"),
    ("H6_uncommitted_files", removing() | {"unreferenced": []}, "not in the listing"),
    ("H7_nested_location", removing() | {"others": None}, "not known"),
    ("H7_nested_location", removing() | {"others": other()}, "not known"),
    ("H7_nested_location", removing() | {"others": other(location=f"{ROOT}/nested")}, "lake.sales.items has files"),
    ("H7_nested_location", removing() | {"others": other(location="s3a://lake/sales/../sales/orders/x/")}, "has files"),
    ("H7_nested_location", removing() | {"others": other(metadata_location=f"{ROOT}/n/metadata/1.json")}, "has files"),
    (
        "H7_nested_location",
        removing() | {"others": other(location="s3://b/x", folders=[f"{ROOT}/data/in"])},
        "has files",
    ),
    ("H8_twin", {"plan": expiring(), "others": None}, "not known"),
    ("H8_twin", {"plan": expiring(), "others": other(location="s3a://lake/sales/orders/")}, "drop one of the two"),
    ("H8_twin", {"plan": expiring(), "others": other(metadata_location=f"{ROOT}/metadata/9.json")}, "same location"),
    ("H9_spelling", removing(f"{ROOT.replace('s3', 's3a')}/data/1.parquet"), "not surely in the table's own folders"),
    ("H9_spelling", removing("s3://LAKE/sales/orders/data/1.parquet"), "not surely"),
    ("H9_spelling", removing(f"{ROOT}/data/../../items/data/1.parquet"), "not surely"),
    ("H9_spelling", removing(f"{ROOT}/backup/1.parquet"), "not surely"),
    ("H9_spelling", removing("file:/srv/data/1") | {"metadata": table(location="/srv")}, "Symbolic links"),
    ("H10_validated", {"engine": None}, "not known"),
    ("H10_validated", {"engine": "pyiceberg"}, "does not validate"),
    ("H11_resumable", {"plan": expiring(), "base_recorded": None}, "not known"),
    ("H11_resumable", {"plan": expiring(), "base_recorded": False}, "could not be resumed"),
    ("H12_readded_files", {"plan": expiring(), "engine": None}, "not known"),
    ("H12_readded_files", {"plan": expiring(), "engine": "trino"}, "may delete live files"),
    ("H13_quiet", {"plan": planned(guards=[HOLD])}, "written 5 s ago"),
    ("H13_quiet", {"plan": planned(guards=[])}, "not known"),
    ("H14_fast_writer", {"metadata": metadata(commits(*range(50_000, 0, -200)))}, "250 commits within the last minute"),
    ("H15_stored_twice", {"plan": planned(predicted=Predicted(bytes_in=GIB))}, "not known"),
    ("H16_delta_lock", delta(), "not known"),
    ("H16_delta_lock", delta() | {"exclusive_puts": False}, "could lose a commit"),
    ("H17_own_table", {"meta_namespaces": None}, "not known"),
    ("H17_own_table", {"meta_namespaces": {"lake.sales"}}, "is the namespace of Limnograph's own tables"),
    ("H17_own_table", {"metadata": table(properties={"limnograph.schema-version": "9"})}, "own housekeeping"),
    ("H18_restored_copy", {"plan": expiring(), "others": None}, "not known"),
    ("H18_restored_copy", {"plan": expiring(), "others": other(location="s3://b/x", table_uuid=UUID)}, "restored copy"),
    ("H18_restored_copy", {"plan": expiring(), "others": other()}, "Neither the uuid nor the location"),
    ("H19_other_installation", {"metadata": rewritten(MINUTE, "theirs")}, "Another installation"),
    ("H19_other_installation", {"metadata": rewritten(MINUTE, "ours"), "own_plans": None}, "not known"),
]
HOLDS: list[tuple[str, dict[str, Any]]] = [
    ("clock", {"machine_now": Micros(NOW_US + 299_000_000)}),
    ("H1_named_snapshots", {"plan": expiring(1, 2)}),
    ("H2_readers", {"plan": expiring(1), "readers": need(5)}),
    ("H2_readers", {"plan": expiring(1), "readers": None, "unknown_streams": None, "approved_by_user": True}),
    ("H3_staged_commits", {"plan": expiring(1), "metadata": table(staged=True)}),
    ("H4_references", {"plan": expiring(1), "metadata": table(refs={"q3": SnapshotRef(3, "tag")})}),
    ("H5_other_maintenance", {"metadata": rewritten(HOUR)}),
    ("H5_other_maintenance", {"metadata": rewritten(MINUTE, "ours")}),
    ("H6_uncommitted_files", removing(modified=NOW - 3 * DAY)),
    ("H7_nested_location", removing() | {"others": other(location="s3://lake/sales/orders2")}),
    ("H7_nested_location", removing() | {"others": other(location="s3://lake/sales")}),
    ("H8_twin", {"plan": expiring(), "others": other(location="s3://Lake/sales/orders")}),
    ("H9_spelling", removing(f"{ROOT}/metadata/old-m0.avro")),
    ("H9_spelling", removing("/srv/data/1") | {"metadata": table(location="file:/srv"), "real_path": str}),
    ("H10_validated", delta() | {"exclusive_puts": True}),
    ("H11_resumable", {"plan": expiring()}),
    ("H12_readded_files", {"plan": expiring()}),
    ("H13_quiet", {}),
    ("H14_fast_writer", {"metadata": metadata(commits(*range(50_000, 0, -250)))}),
    ("H15_stored_twice", {}),
    ("H16_delta_lock", delta() | {"exclusive_puts": True}),
    ("H16_delta_lock", delta(location="/srv/events")),
    ("H17_own_table", {}),
    ("H18_restored_copy", {"plan": expiring(), "others": other(location="s3://lake/sales/items")}),
    ("H19_other_installation", {"metadata": rewritten(MINUTE, "ours")}),
    (
        "location_moved",
        removing() | {"metadata": table(metadata_log=(LogEntry(Millis(NOW), f"{ROOT}/metadata/1.json"),))},
    ),
    ("gc_enabled", {"plan": expiring(), "metadata": table(properties={"gc.enabled": "TRUE"})}),
    ("format", delta(properties={"delta.columnMapping.mode": "name"}) | {"plan": planned("delta_vacuum")}),
    ("table_identity", {}),
]


def guard(code: str, changed: dict[str, Any]) -> PlanGuard:
    (found,) = [each for each in guards_of(guarded(**changed)) if each.code == code]
    return found


@pytest.mark.parametrize(("code", "changed", "words"), STOPS)
def test_a_guard_stops_an_action(code: str, changed: dict[str, Any], words: str) -> None:
    found = guard(code, changed)
    assert not found.ok
    assert words in found.text
    assert found.text.endswith(".")


@pytest.mark.parametrize(("code", "changed"), HOLDS)
def test_a_guard_holds(code: str, changed: dict[str, Any]) -> None:
    found = guard(code, changed)
    assert found.ok, found.text


@pytest.mark.parametrize("rule", ALL)
def test_an_action_without_a_hazard_passes_all_its_guards(rule: str) -> None:
    changed: dict[str, Any] = {"plan": planned(rule)}
    if rule == "expire":
        changed["plan"] = expiring()
    if rule == "orphans":
        changed = removing()
    if rule.startswith("delta"):
        changed = delta() | {"plan": planned(rule), "exclusive_puts": True}
    assert unsatisfied(guards_of(guarded(**changed))) == []


def test_each_hazard_has_a_guard_that_stops_and_one_that_holds() -> None:
    hazards = {f"H{number}" for number in range(1, 20)}
    stopped, held = ({code.partition("_")[0] for code, *_ in cases} for cases in (STOPS, HOLDS))
    assert hazards - stopped == set()
    assert hazards - held == set()
    texts = "".join(path.read_text() for path in Path(GUARDS[0].__code__.co_filename).parent.glob("*.py"))
    assert {found.partition("_")[0] for found in re.findall(r'"(H\d+_\w+)"', texts)} == hazards


def test_every_guard_is_among_the_cases() -> None:
    codes = {
        each.code
        for changed in ({"plan": expiring()}, removing(), delta(), {})
        for each in guards_of(guarded(**changed))
    }
    assert codes == {code for code, *_ in STOPS}
    assert codes > TEMPORARY


def test_only_what_time_changes_is_waited_for() -> None:
    assert may_hold_later([guard("H5_other_maintenance", {"metadata": rewritten(MINUTE)})])
    assert not may_hold_later([guard("H8_twin", {"plan": expiring(), "others": None})])


def test_without_any_fact_nothing_that_deletes_is_permitted() -> None:
    """Only what the table's own metadata shows can hold."""
    lost = dict.fromkeys(
        ("machine_now", "table_uuid", "own_plans", "others", "meta_namespaces", "readers", "unknown_streams", "engine")
    ) | dict.fromkeys(("longest_run_us", "unreferenced", "base_recorded"))
    found = {each.code for each in unsatisfied(guards_of(guarded(plan=expiring(), **lost)))}
    assert found >= {"clock", "table_identity", "H2_readers", "H8_twin", "H11_resumable", "H12_readded_files"}
    assert found >= {"H17_own_table", "H18_restored_copy"}
