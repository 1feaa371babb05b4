"""The finding that an alert belongs to: by its rule, its metrics, its job, or what opened with it."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from limnograph.domain.facts.events import AlertFact
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.finding_codes import CODES
from limnograph.domain.inbound.alert_codes import RULES, codes_of_alert
from limnograph.domain.time import Micros
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.interval import interval_of
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.findings.of_alerts import AlertFindings
from serving_kit import HOUR, MINUTE, NOW

FIRED = Micros(NOW - HOUR)
EVENING = Micros(NOW - 12 * HOUR)
Fields = dict[str, Any]


def finding(name: str, code: str, opened: int, closed: int | None = None, **fields: Any) -> FindingFact:
    table = {"catalog": "lake", "namespace": "sales", "table": "orders", "table_uuid": "u1"}
    return FindingFact(
        finding_id=name,
        seq=1,
        code=code,
        state="open" if closed is None else "closed",
        opened_at=Micros(opened),
        closed_at=None if closed is None else Micros(closed),
        **{"severity": "warning", "subject": "", "closed_by": None if closed is None else "77", **table, **fields},
    )


def slowed(job: str, verdict: str = "slower") -> Fields:
    return {"effects": [FindingEffectFact(job_name=job, verdict=verdict)]}


def alert(
    name: str | None = None, *, expression: str | None = None, job: str | None = None, **fields: Any
) -> AlertFact:
    source = None if expression is None else f"http://prometheus/graph?g0.expr={quote(expression)}"
    table = {"catalog": "lake", "namespace": "sales", "table": "orders"}
    fixed: Fields = {"fingerprint": "f", "status": "firing", "starts_at": FIRED, "generator_url": source}
    return AlertFact(**{**fixed, "alert_name": name, "job_name": job, **table, **fields})


NO_TABLE: Fields = {"catalog": None, "namespace": None, "table": None}
BURST = finding("burst", "file_burst", FIRED - MINUTE)


class Case(NamedTuple):
    told: AlertFact
    findings: list[FindingFact]
    expected: str | None
    ends_at: int | None = None


CASES = {
    "a burst's alert is about the burst": Case(alert("SmallFileProliferation"), [BURST], "burst"),
    "not about the burst of the evening before, also while that is open (B3)": Case(
        alert("SmallFileProliferation"), [finding("old", "file_burst", EVENING)], None
    ),
    "of two bursts the last one before the alert": Case(
        alert("SmallFileProliferation"), [finding("first", "file_burst", FIRED - 40 * MINUTE), BURST], "burst"
    ),
    "not about a burst after the alert's end": Case(
        alert("SmallFileProliferation"),
        [finding("next", "file_burst", FIRED + 50 * MINUTE)],
        None,
        ends_at=FIRED + 20 * MINUTE,
    ),
    "the repaired burst, not another finding that is open (M14)": Case(
        alert("SmallFileProliferation"),
        [
            finding("repaired", "file_burst", FIRED - MINUTE, FIRED + 5 * MINUTE),
            finding("skew", "partition_skew", EVENING, severity="critical"),
        ],
        "repaired",
    ),
    "a burst that was merged before its alert fired": Case(
        alert("SmallFileProliferation"), [finding("quick", "file_burst", FIRED - 9 * MINUTE, FIRED - MINUTE)], "quick"
    ),
    "a backlog is about the debt, however old": Case(
        alert("LakehouseCompactionBacklog"), [BURST, finding("debt", "small_files", EVENING)], "debt"
    ),
    "a backlog without debt is about the burst that made it": Case(
        alert("LakehouseCompactionBacklog"), [finding("skew", "partition_skew", EVENING), BURST], "burst"
    ),
    "a stale table": Case(alert("LakehouseTableStale"), [BURST, finding("stale", "stale", EVENING)], "stale"),
    "a rule of the user's own by its metrics": Case(
        alert("TooManyDeletes", expression='lakehouse_table_delete_files{table="orders"} > 5'),
        [BURST, finding("deletes", "delete_files_growing", EVENING)],
        "deletes",
    ),
    "a shipped rule on the gauge of findings by its label": Case(
        alert("LimnographFinding", labels={"limnograph_finding": "partition_skew"}),
        [BURST, finding("skew", "partition_skew", EVENING)],
        "skew",
    ),
    "a rule on the gauge fires late: still the finding of its label": Case(
        alert("LakehouseFindingCritical", labels={"limnograph_finding": "file_burst"}),
        [finding("burst", "file_burst", EVENING)],
        "burst",
    ),
    "a rule on the gauge after the end of its finding": Case(
        alert("LakehouseFindingCritical", labels={"limnograph_finding": "file_burst"}),
        [finding("over", "file_burst", EVENING - HOUR, EVENING)],
        None,
    ),
    "a slow job: what slowed it": Case(
        alert("JobSlow", job="churn"),
        [
            finding("slow", "job_slower", FIRED, subject="churn"),
            finding("cause", "file_burst", FIRED, **slowed("churn")),
        ],
        "cause",
    ),
    "a slow job without a cause: that it is slow": Case(
        alert("JobSlow", job="churn"), [BURST, finding("slow", "job_slower", FIRED, subject="churn")], "slow"
    ),
    "a job's alert without a table": Case(
        alert("JobFailed", job="churn", **NO_TABLE), [finding("fails", "job_failing", FIRED, subject="churn")], "fails"
    ),
    "another job's finding is not meant": Case(
        alert("JobSlow", job="revenue"), [finding("slow", "job_slower", FIRED, subject="churn")], None
    ),
    "a job that a finding had no effect on is not its story": Case(
        alert("JobSlow", job="churn"), [finding("other", "file_burst", FIRED, **slowed("churn", "none"))], None
    ),
    "an alert of unknown meaning: what opened with it, the most severe first": Case(
        alert("Mystery"), [BURST, finding("worst", "partition_skew", FIRED - HOUR, severity="critical")], "worst"
    ),
    "an alert of unknown meaning is not about what was wrong all along": Case(
        alert("Mystery"), [finding("old", "partition_skew", EVENING, severity="critical")], None
    ),
    "nor about what does no harm": Case(
        alert("Mystery"), [finding("mild", "schema_changed", FIRED, severity="info")], None
    ),
    "a finding that was withdrawn is no story": Case(
        alert("SmallFileProliferation"), [finding("gone", "file_burst", FIRED, FIRED, closed_by="retracted")], None
    ),
    "a code of a newer version is left out": Case(alert("Mystery"), [finding("new", "quantum_skew", FIRED)], None),
    "an alert without a table and a job": Case(alert("NodeDown", **NO_TABLE), [BURST], None),
    "a table of another name": Case(alert("SmallFileProliferation", table="carts"), [BURST], None),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_finding_of_an_alert(case: Case) -> None:
    resolved = {"resolved": alert(ends_at=Micros(case.ends_at))} if case.ends_at is not None else {}
    episode = AlertEpisode({"firing": case.told, **resolved})
    found = AlertFindings(lambda: FindingsBoard(case.findings)).of(case.told, interval_of(episode))
    assert (None if found is None else found.finding_id) == case.expected


def test_rules_name_codes_that_exist() -> None:
    for name in RULES:
        assert set(codes_of_alert(name, {}, None)) <= set(CODES)


def test_codes_of_an_expression_are_in_the_order_of_its_metrics() -> None:
    asked = "lakehouse_table_snapshots > 500 and on (table) lakehouse_table_partition_skew_ratio > 10"
    assert codes_of_alert("Mine", {}, asked) == ("snapshots_unbounded", "metadata_large", "partition_skew")
