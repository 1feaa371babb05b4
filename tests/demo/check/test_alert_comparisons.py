"""The comparisons of `demo --check` about alerts of the history can fail, each for its own reason."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import pytest

from limnograph.demo.check.comparisons import burst_raised_an_alert, past_alerts_are_listed
from limnograph.demo.lake.commits import Mark
from limnograph.demo.metrics.rule_history import PastAlert
from limnograph.demo.story.calendar import MINUTE, Calendar
from limnograph.demo.story.plan import tables
from limnograph.demo.story.story import tell
from limnograph.domain.answers.alerts import AlertTable, AlertView, AlertWindow, Incident
from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.answers.timeline import Bar
from limnograph.domain.inbound.alert_labels import fingerprint
from limnograph.domain.time import Millis

CALENDAR = Calendar.at(1_795_270_000_000)
PLANS = tables(CALENDAR)
STORY = tell(CALENDAR, PLANS, {p.name: [Mark(s.at, n, 0, "") for n, s in enumerate(p.steps, 1)] for p in PLANS})
LABELS = {"alertname": "SmallFileProliferation", "table": "customer_events", "table_namespace": "sales"}
START, END = Millis(CALENDAR.burst + MINUTE), Millis(CALENDAR.burst + 21 * MINUTE)
WINDOW = AlertWindow(start=Millis(START - 60 * MINUTE), end=Millis(END + 30 * MINUTE))
PAST = PastAlert(LABELS, {}, START, END)
ROW = AlertView(
    fingerprint=fingerprint(LABELS),
    starts_at=START,
    ends_at=END,
    state="resolved",
    heard_at=None,
    muted=None,
    alert_name=LABELS["alertname"],
    severity="warning",
    table=AlertTable(catalog="lake", table_namespace="sales", table="customer_events"),
    job_name=None,
    summary=None,
    source="alertmanager",
)
APPEND = msgspec.convert(
    {
        name: STORY.burst.snapshot_id if name == "snapshot_id" else CALENDAR.burst if name == "t" else None
        for name in CommitRow.__struct_fields__
    },
    dict,
)


@dataclass
class Server:
    """A server with these alerts, whose incident has this window and these commits."""

    listed: list[AlertView] = field(default_factory=lambda: [ROW])
    window: AlertWindow = WINDOW
    commits: bool = True
    drawn: bool = True

    def rows(self) -> Sequence[AlertView]:
        return self.listed

    def incident(self, fingerprint: str, starts_at: int) -> Incident:
        (row,) = [each for each in self.listed if (each.fingerprint, each.starts_at) == (fingerprint, starts_at)]
        return Incident(
            alert=row,
            active_at=None,
            window=self.window,
            labels={},
            annotations={},
            expression=None,
            transitions=[],
            commits=[CommitRow(**APPEND)] if self.commits else [],
            before=[],
            links=[],
            finding=None,
            earlier=[],
            notes=None,
        )

    def bars(self, table: str, start: int, end: int) -> Sequence[Bar]:
        assert (table, start < START < end) == (STORY.table, True)
        return [Bar(start=START, end=END, label="SmallFileProliferation", state="resolved")] if self.drawn else []


def outcome(server: Server) -> list[bool]:
    return [one.ok for one in burst_raised_an_alert(server, STORY)]


def test_the_alert_of_the_append_with_its_incident_and_its_bar_holds() -> None:
    assert outcome(Server()) == [True, True, True]


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (Server(listed=[]), [False]),
        (Server(listed=[msgspec.structs.replace(ROW, starts_at=Millis(START + 5 * MINUTE))]), [False]),
        (Server(listed=[msgspec.structs.replace(ROW, alert_name="LakehouseTableStale")]), [False]),
        (Server(listed=[msgspec.structs.replace(ROW, ends_at=None)]), [False, True, False]),
        (Server(commits=False), [True, False, True]),
        (Server(window=AlertWindow(start=START, end=Millis(END + MINUTE))), [True, False, True]),
        (Server(drawn=False), [True, True, False]),
    ],
    ids=["no alert", "too late", "another rule", "never resolved", "without the append", "window too short", "no bar"],
)
def test_each_part_fails_for_its_own_reason(server: Server, expected: list[bool]) -> None:
    assert outcome(server) == expected


def test_every_alert_of_the_history_has_to_be_listed_with_its_end() -> None:
    def holds(*past: PastAlert) -> bool:
        (result,) = past_alerts_are_listed(Server(), past)
        return result.ok

    assert holds(PAST)
    assert holds(msgspec.structs.replace(PAST, ends_at=None))
    assert not holds()
    assert not holds(PAST, msgspec.structs.replace(PAST, starts_at=Millis(START + MINUTE)))
    assert not holds(msgspec.structs.replace(PAST, ends_at=Millis(END + MINUTE)))
    assert not holds(msgspec.structs.replace(PAST, labels={**LABELS, "table": "other"}))
