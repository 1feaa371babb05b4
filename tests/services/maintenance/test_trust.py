"""What a database, a pushed fact or a table cannot make the executor do: anything that its own file does not allow."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from limnograph.analysis.advice.readers import TableRead
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.policy import OrphanRule, PolicyReader, RetainedSnapshots
from limnograph.domain.time import Micros
from maintained_lake import DAY_MS, DAY_US, HOUR_MS, NAME, MaintainedLake, aged, policy, rule
from metadata_writer import MetadataTable

CHURN = (PolicyReader("churn", DAY_US),)
COMPACT = rule(actions=frozenset({"compact"}))
EXPIRE = rule(actions=frozenset({"expire"}), retain=RetainedSnapshots(DAY_US, 2), readers=CHURN)
ORPHANS = rule(actions=frozenset({"orphans"}), orphans=OrphanRule(longest_run_us=DAY_US))


@pytest.fixture
def lake(tmp_path: Path) -> MaintainedLake:
    return MaintainedLake(tmp_path)


def expirable(lake: MaintainedLake, table: str = "orders") -> MetadataTable:
    """A table with three snapshots that are past its retention."""
    made = lake.add(table, files=4)
    made.delete(*made.files()[:2])
    lake.append(made, "eu")
    lake.later(6 * DAY_MS)
    return made


def cleaned(lake: MaintainedLake, folder: Path) -> tuple[MetadataTable, Path]:
    """A table whose unreferenced files a user lets be removed, and one that lies long enough below its location."""
    table = lake.add(files=3)
    lake.later(9 * DAY_MS)
    left = aged(folder / "orders/data/left.parquet", 8, lake.clock.micros)
    approved(lake, proposal(lake, ORPHANS))
    return table, left


def proposal(lake: MaintainedLake, own: Any) -> PlanFact:
    """The executor's own proposal."""
    lake.executor(policy("approve", own)).round()
    (fact,) = lake.states.plans({"proposed"})
    return fact


def approved(lake: MaintainedLake, fact: PlanFact) -> PlanFact:
    (made,) = lake.states.record([following(fact, "approved", "mallory")])
    return made


def forged(lake: MaintainedLake, fact: PlanFact, **fields: Any) -> PlanFact:
    """An approved row that an attacker writes into the database, whatever it says."""
    made = replace(fact, seq=2, state="approved", approved_by="mallory", approved_at=lake.states.now(), **fields)
    lake.states._plans[made.plan_id] = made
    return made


def identified(fact: PlanFact, arguments: dict[str, Any], table_uuid: str | None = None) -> dict[str, Any]:
    """Fields of a row whose id, digest and arguments agree, as an attacker can compute them."""
    text = msgspec.json.encode(arguments, order="deterministic")
    digest, uuid = hashlib.sha256(text).hexdigest(), table_uuid or fact.table_uuid
    identity = msgspec.json.encode([uuid, fact.action, fact.rule, digest])
    return {
        "plan_id": hashlib.sha256(identity).hexdigest()[:32],
        "arguments": text.decode(),
        "arguments_sha256": digest,
        "table_uuid": uuid,
    }


def known(lake: MaintainedLake, reads: dict[str, list[TableRead]]) -> None:
    """What others pushed, and the pipeline recorded."""
    assert lake.recorded is not None
    lake.recorded = lake.recorded._replace(reads=reads)


def ran(lake: MaintainedLake, own: Any, mode: str = "approve") -> list[tuple[str | None, str | None]]:
    """State and problem of each plan after a round."""
    report = lake.executor(policy(mode, own)).round()
    return [(each.state, each.problem) for each in report.plans if each.would is None]


def test_a_digest_of_other_arguments_runs_nothing(lake: MaintainedLake) -> None:
    lake.add(files=6)
    fact = proposal(lake, COMPACT)
    forged(lake, fact, arguments_sha256="0" * 64)
    assert ran(lake, COMPACT) == [("superseded", "plan_moved")]
    assert lake.maintainer.ran == []


def test_a_plan_of_another_table_runs_nothing(lake: MaintainedLake) -> None:
    victim = lake.add("victim", files=6)
    lake.add("other", files=6)
    lake.executor(policy("approve", COMPACT)).round()
    fact = next(each for each in lake.states.plans() if each.table == "other")
    forged(lake, fact, table_uuid=victim.table_uuid, table="victim")
    assert ran(lake, COMPACT) == [("superseded", "plan_moved")]
    assert lake.maintainer.ran == []


@pytest.mark.parametrize("rehashed", [True, False])
def test_more_snapshots_than_are_due_expire_nothing(lake: MaintainedLake, rehashed: bool) -> None:
    table = expirable(lake)
    fact, before = proposal(lake, EXPIRE), set(table.snapshots)
    arguments = msgspec.json.decode(fact.arguments or "")
    arguments["snapshot_ids"] = sorted({*arguments["snapshot_ids"], str(table.retained()[1])})
    fields = identified(fact, arguments) if rehashed else {"arguments": msgspec.json.encode(arguments).decode()}
    forged(lake, fact, **fields)
    states = ran(lake, EXPIRE)
    if rehashed:
        assert ("superseded", "plan_moved") in states
        assert set(table.snapshots) == before
    else:  # the arguments are not read: the executor's own plan has the id and the digest
        assert states == [("verified", None)]
        assert table.retained()[1] in table.snapshots


def test_a_plan_that_the_policy_forbids_is_refused(lake: MaintainedLake) -> None:
    expirable(lake)
    approved(lake, proposal(lake, EXPIRE))
    assert ran(lake, EXPIRE._replace(actions=frozenset({"compact"}))) == [("refused", "action")]
    assert lake.maintainer.ran == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"hold": True}, "hold"), ({"mode": "advise"}, "mode"), ({"retain": RetainedSnapshots(30 * DAY_US, 9)}, None)],
)
def test_a_policy_that_became_stricter_after_the_approval_wins(
    lake: MaintainedLake, change: dict[str, Any], problem: str | None
) -> None:
    table = expirable(lake)
    approved(lake, proposal(lake, EXPIRE))
    before = set(table.snapshots)
    states = ran(lake, EXPIRE._replace(**change))
    assert set(table.snapshots) == before
    assert lake.maintainer.ran == []
    if change.get("mode") != "advise":  # then the table is not even looked at
        assert states == [("refused" if problem else "superseded", problem or "plan_moved")]


def test_names_in_a_row_lead_nowhere(lake: MaintainedLake) -> None:
    """Identity comes from the catalog: a row that names another table is not found there."""
    lake.add("orders", files=6)
    lake.add("other", files=6)
    lake.executor(policy("approve", COMPACT)).round()
    fact = next(each for each in lake.states.plans() if each.table == "orders")
    forged(lake, fact, table="other; drop table x", catalog="nowhere")
    ran(lake, COMPACT)
    assert {action for action, _ in lake.maintainer.ran} <= {"rewrite_data_files"}
    assert all(plan_id == fact.plan_id for _, plan_id in lake.maintainer.ran)


def test_partitions_in_a_row_are_compared_never_executed(lake: MaintainedLake) -> None:
    lake.add(files=6, regions=("eu", "us"))
    fact = proposal(lake, COMPACT)
    arguments = msgspec.json.decode(fact.arguments or "")
    arguments["groups"][0]["partitions"] = [[0, "region=eu' or '1'='1"]]
    forged(lake, fact, **identified(fact, arguments))
    assert ("superseded", "plan_moved") in ran(lake, COMPACT)
    assert lake.maintainer.ran == []


def test_a_swapped_uuid_between_approval_and_run_supersedes(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    fact = proposal(lake, COMPACT)
    approved(lake, fact)

    class Swapping:
        """The table changes its identity once it is leased."""

        def __init__(self) -> None:
            self.opened = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(lake.maintainer, name)

        def open(self, name: Any) -> Any:
            self.opened += 1
            if self.opened > 1:
                table.table_uuid = "00000000-0000-4000-8000-000000000000"
                table.write()
            return lake.maintainer.open(name)

    executor = lake.executor(policy("approve", COMPACT), maintainer=Swapping())
    report = executor.round(fact.plan_id)
    assert [(each.state, each.problem) for each in report.plans if each.id == fact.plan_id] == [
        ("superseded", "another_table")
    ]
    assert lake.maintainer.ran == []


def test_a_table_that_forbids_deletion_after_the_approval_is_refused(lake: MaintainedLake) -> None:
    table = expirable(lake)
    approved(lake, proposal(lake, EXPIRE))
    table.set_property("gc.enabled", "false")
    assert ran(lake, EXPIRE) == [("refused", "gc_enabled")]
    assert lake.maintainer.ran == []


def test_a_location_that_moved_is_not_cleaned(lake: MaintainedLake, tmp_path: Path) -> None:
    table, left = cleaned(lake, tmp_path)
    table.edit = lambda document: document.update(location=f"file://{tmp_path}/orders/data")
    table.write()
    assert ran(lake, ORPHANS)[0][0] in {"refused", "superseded"}
    assert lake.maintainer.ran == []
    assert left.exists()


@pytest.mark.parametrize("key", ["write.data.path", "write.metadata.path", "write.object-storage.path"])
def test_files_that_another_table_writes_here_are_not_removed(lake: MaintainedLake, tmp_path: Path, key: str) -> None:
    _, theirs = cleaned(lake, tmp_path)
    guest = lake.add("guest", files=1)
    guest.set_property(key, f"file://{tmp_path}/orders/data")
    assert ran(lake, ORPHANS)[0] == ("refused", "H7_nested_location")
    assert theirs.exists()


def test_files_that_another_table_imported_are_not_removed(lake: MaintainedLake, tmp_path: Path) -> None:
    """As `add_files` does it: the files stay where they are, and only the manifests of the other table name them."""
    _, theirs = cleaned(lake, tmp_path)
    guest = lake.add("guest", files=1)
    guest.append(guest.file("eu")._replace(path=f"file://{theirs}"))
    guest.delete(*[file for file in guest.files() if file.path == f"file://{theirs}"])
    assert f"file://{theirs}" not in {file.path for file in guest.files()}, "only an older snapshot needs it"
    assert ran(lake, ORPHANS)[0] == ("refused", "H7_nested_location")
    assert theirs.exists()


def test_manifests_of_others_that_cannot_be_read_protect_all_files(lake: MaintainedLake, tmp_path: Path) -> None:
    _, left = cleaned(lake, tmp_path)
    damaged = lake.add("damaged", files=1)
    for manifest in damaged.manifests[damaged.head() or 0]:
        Path(manifest.path.removeprefix("file://")).unlink()
    assert ran(lake, ORPHANS)[0] == ("refused", "H7_nested_location")
    assert left.exists()


def test_a_table_whose_folders_are_not_known_keeps_unreferenced_files_of_others(
    lake: MaintainedLake, tmp_path: Path
) -> None:
    _, left = cleaned(lake, tmp_path)
    damaged = lake.add("damaged", files=1)
    Path(damaged.metadata_location.removeprefix("file://")).write_bytes(b"{}")
    assert ("refused", "H7_nested_location") in ran(lake, ORPHANS)
    assert left.exists()


def test_symbolic_links_and_dots_are_never_followed_to_delete(lake: MaintainedLake, tmp_path: Path) -> None:
    lake.add(files=3)
    lake.later(9 * DAY_MS)
    outside = aged(tmp_path / "elsewhere/data/precious.parquet", 8, lake.clock.micros)
    (tmp_path / "orders/data/link").symlink_to(outside.parent)
    link = tmp_path / "orders/data/link/precious.parquet"
    dots = f"file://{tmp_path}/orders/data/../../elsewhere/data/precious.parquet"
    from limnograph.ports.table_maintainer import UnreferencedFile

    for location in (f"file://{link}", dots):
        files = [UnreferencedFile(location, 26, lake.clock.micros // 1_000 - 8 * DAY_MS)]
        lake.maintainer.unreferenced = lambda _table, _before, files=files: files  # type: ignore[method-assign]
        lake.executor(policy("approve", ORPHANS)).round()
        for fact in lake.states.plans({"proposed"}):
            approved(lake, fact)
        ran(lake, ORPHANS)
    assert outside.exists()
    assert lake.maintainer.ran == []


def test_a_base_of_another_table_deletes_nothing(lake: MaintainedLake) -> None:
    """A row that says it was running, with the metadata of a victim as the state before."""
    victim = lake.add("victim", files=4)
    table = expirable(lake, "bait")
    fact = proposal(lake, EXPIRE)
    named = [int(each) for each in msgspec.json.decode(fact.arguments or "")["snapshot_ids"]]
    table.expire(*named)
    made = forged(lake, fact, base_metadata_location=victim.metadata_location)
    lake.states._plans[made.plan_id] = replace(made, state="running", executor_id="gone")
    lake.executor(policy("approve", EXPIRE)).round()
    assert lake.maintainer.removed == set()


def test_forged_reads_never_make_an_expiry_automatic(lake: MaintainedLake) -> None:
    table = expirable(lake)
    now, own = Micros(lake.clock.micros), EXPIRE._replace(readers=())
    read = TableRead("churn", table.head() or 0, now)
    known(lake, {table.table_uuid or "": [read] * 9})
    lake.executor(policy("auto", own)).round()
    assert [fact.state for fact in lake.states.plans()] == ["proposed"]


def test_a_read_of_an_old_snapshot_delays_its_expiry(lake: MaintainedLake) -> None:
    table = expirable(lake)
    oldest, now = min(table.snapshots, key=lambda each: table.times[each]), Micros(lake.clock.micros)
    reads = [TableRead("stranger", oldest, Micros(now - HOUR_MS * 1_000 * each)) for each in (3, 2, 1)]
    known(lake, {table.table_uuid or "": reads})
    lake.executor(policy("auto", EXPIRE)).round()
    assert lake.maintainer.ran == []
    assert oldest in table.snapshots


def test_without_meta_tables_nothing_is_deleted_automatically(lake: MaintainedLake) -> None:
    expirable(lake)
    lake.recorded = None
    lake.executor(policy("auto", EXPIRE)).round()
    assert [fact.state for fact in lake.states.plans()] == ["proposed"]


@pytest.mark.parametrize("ahead", ["database", "machine"])
def test_a_clock_an_hour_ahead_stops_everything(lake: MaintainedLake, ahead: str) -> None:
    lake.add(files=6)
    approved(lake, proposal(lake, COMPACT))
    (lake.clock if ahead == "database" else lake.machine).micros += HOUR_MS * 1_000
    assert ran(lake, COMPACT) == [("queued", "clock_skew")]
    assert lake.maintainer.ran == []


def test_a_table_whose_clock_is_ahead_waits(lake: MaintainedLake) -> None:
    table = lake.add(files=6)
    approved(lake, proposal(lake, COMPACT))
    table.tick(HOUR_MS)
    table.append(table.file("us", size=1))
    lake.materialise(table)
    assert ran(lake, COMPACT)[0][0] in {"queued", "superseded"}
    assert lake.maintainer.ran == []


def test_names_with_quotes_stay_inside_their_literals(lake: MaintainedLake) -> None:
    evil = "eu' or `1`=\"1"
    lake.add(files=6, regions=(evil, "us"))
    table = lake.tables[NAME]
    lake.append(table, "us")
    requests: list[Any] = []

    class Recording:
        def __getattr__(self, name: str) -> Any:
            return getattr(lake.maintainer, name)

        def run(self, table: Any, request: Any, reached: Any, cancelled: Any) -> Any:
            requests.append(request)
            return lake.maintainer.run(table, request, reached, cancelled)

    own = COMPACT._replace(quiet_us=HOUR_MS * 1_000)
    lake.executor(policy("auto", own), maintainer=Recording()).round()
    (request,) = requests
    assert [each.text for each in request.partitions] == [f"region={evil}"]
    assert request.where is not None
    assert "\\'" in request.where or "''" in request.where
    assert [fact.state for fact in lake.states.plans()] == ["verified"]
