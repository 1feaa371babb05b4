"""Rules `manifests`, `metadata_versions`, `writer`, `orphans` and `cluster` at both sides of each threshold."""

from __future__ import annotations

import pytest

from advised_facts import DAY, HOUR, READ_HOURLY, commits, facts, group, log_entries, metadata, survey
from limnograph.analysis.advice.manifests import manifests
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.unlisted import cluster, orphans
from limnograph.analysis.advice.writing import metadata_versions, writer
from limnograph.domain.advice.document import NotKnown
from limnograph.domain.advice.survey import SurveyedManifests

MIB = 2**20


def listed(count: int, size: int | None, spec_id: int = 0, *, deletes: bool = False) -> SurveyedManifests:
    return SurveyedManifests(spec_id=spec_id, deletes=deletes, count=count, bytes=size)


def planned(*parts: SurveyedManifests, **properties: str) -> list[PlannedAction]:
    table = metadata(commits(DAY), properties=properties)
    found = manifests(facts(survey(group(), manifests=list(parts)), table))
    assert all(isinstance(each, PlannedAction) for each in found), found
    return found  # type: ignore[return-value]


@pytest.mark.parametrize(("count", "fires"), [(20, False), (21, True)])
def test_twenty_manifests_too_many_are_due(count: int, fires: bool) -> None:
    assert bool(planned(listed(count, MIB))) is fires


@pytest.mark.parametrize(("count", "fires"), [(199, False), (200, True)])
def test_twice_as_many_as_their_bytes_need_are_due(count: int, fires: bool) -> None:
    assert bool(planned(listed(count, 800 * MIB))) is fires


def test_a_plan_is_for_one_spec_and_merges_data_and_deletes_apart() -> None:
    found = planned(listed(30, 20 * MIB), listed(9, MIB, deletes=True), listed(50, MIB, 3), listed(2, MIB, 1))
    assert [(each.spec_id, each.predicted.files_in, each.predicted.files_out) for each in found] == [
        (0, 39, 4),
        (3, 50, 1),
    ]
    assert found[0].predicted.bytes_in == found[0].predicted.bytes_out == 21 * MIB


def test_the_target_is_the_tables_own() -> None:
    key = "commit.manifest.target-size-bytes"
    assert planned(listed(30, 30 * MIB), **{key: str(MIB)}) == []
    (answer,) = manifests(facts(survey(group()), metadata(commits(DAY), properties={key: "big"})))
    assert isinstance(answer, NotKnown)


def test_manifests_without_sizes_are_not_known() -> None:
    (answer,) = manifests(facts(survey(group(), manifests=[listed(40, None)])))
    assert isinstance(answer, NotKnown)
    (unread,) = manifests(facts(unread="the current files: gone"))
    assert unread == NotKnown(rule="manifests", missing="the current files: gone")


@pytest.mark.parametrize(("entries", "fires"), [(99, False), (100, True)])
def test_a_full_log_of_metadata_files_that_nothing_deletes_is_due(entries: int, fires: bool) -> None:
    """By default Iceberg lists 100 older files and leaves those that it no longer lists."""
    found = metadata_versions(facts(table=metadata(commits(DAY), metadata_log=log_entries(entries))))
    assert bool(found) is fires


def test_a_log_whose_files_are_deleted_is_as_long_as_the_table_wants() -> None:
    deletes = {"write.metadata.delete-after-commit.enabled": " TRUE "}
    assert (
        metadata_versions(facts(table=metadata(commits(DAY), metadata_log=log_entries(400), properties=deletes))) == []
    )


def test_deleting_old_metadata_files_is_the_decision_of_the_tables_owner() -> None:
    (found,) = metadata_versions(facts(table=metadata(commits(DAY), metadata_log=log_entries(100))))
    assert isinstance(found, PlannedAction)
    assert found.properties["write.metadata.delete-after-commit.enabled"] == "true"
    assert [(each.code, each.ok) for each in found.guards] == [("owner_agrees", False)]


@pytest.mark.parametrize(
    ("returns", "fires"),
    [
        ([], False),
        ([HOUR], False),
        ([HOUR, 24 * HOUR], False),
        ([24 * HOUR, HOUR], False),
        ([HOUR, 24 * HOUR - 1], True),
        ([90 * DAY, HOUR, HOUR], True),
    ],
)
def test_the_writer_is_the_cause_if_the_debt_came_back_within_a_day_twice(returns: list[int], fires: bool) -> None:
    assert bool(writer(facts(returns=returns))) is fires


def test_a_writer_that_distributes_already_gets_advice_without_a_statement() -> None:
    table = metadata(commits(DAY), properties={"write.distribution-mode": "hash"})
    (found,) = writer(facts(table=table, returns=[HOUR, HOUR], codes=["tiny_commits"]))
    assert isinstance(found, PlannedAction)
    assert (found.properties, found.because) == ({}, ["tiny_commits"])
    (other,) = writer(facts(returns=[HOUR, HOUR]))
    assert isinstance(other, PlannedAction)
    assert other.properties == {"write.distribution-mode": "hash"}


def test_orphans_need_a_listing_and_clustering_needs_reported_scans() -> None:
    (answer,) = orphans(facts())
    assert isinstance(answer, NotKnown)
    assert "no listing" in answer.missing
    assert isinstance(cluster(facts())[0], NotKnown)
    assert cluster(facts(reads=READ_HOURLY)) == []
    assert isinstance(cluster(facts(reads=READ_HOURLY._replace(basis="runs")))[0], NotKnown)
