"""Alerts over HTTP: webhooks are taken whole and once, and every link leads to its incident, a table, or a choice."""

import asyncio
import json
from datetime import UTC, datetime
from urllib.parse import quote

import msgspec
import pytest

from access_kit import guarded
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.inbound.alert_labels import fingerprint
from limnograph.domain.metrics.series import Series
from limnograph.ports.active_alerts import ActiveAlert
from limnograph.services.alerts.registry import AlertRegistry
from serving_kit import HOUR, MINUTE, NOW, SECOND, client, lake, moved, parts, row

LABELS = {
    "alertname": "SmallFileProliferation",
    "catalog": "lake",
    "table_namespace": "sales",
    "table": "orders",
    "severity": "warning",
}
MARK = fingerprint(LABELS)
ZERO = "0001-01-01T00:00:00Z"
BURST = NOW - 2 * HOUR
FIRED = BURST + MINUTE
STARTS = FIRED // 1000
LINK = "/a?alertname=SmallFileProliferation&catalog=lake&table_namespace=sales&table=orders"


def text(micros: int) -> str:
    return datetime.fromtimestamp(micros / SECOND, UTC).isoformat()


def alert(status: str = "firing", at: int = FIRED, ends: str = ZERO, **labels: str) -> dict[str, object]:
    return {
        "status": status,
        "labels": {**LABELS, **labels},
        "annotations": {"summary": "orders got 50000 data files", "runbook_url": "javascript:alert(1)"},
        "startsAt": text(at),
        "endsAt": ends,
        "generatorURL": "http://prom:9090/graph?g0.expr=x+-+x+offset+5m+%3E+1000&g0.tab=1",
        "fingerprint": fingerprint({**LABELS, **labels}),
    }


def body(*alerts: dict[str, object], **fields: object) -> bytes:
    found = {"version": "4", "status": "firing", "externalURL": "http://am:9093", "groupKey": "{}", "alerts": alerts}
    return json.dumps({**found, **fields}).encode()


def world(**given):
    rows = [row(1, NOW - 5 * HOUR, 10), row(2, BURST, 50_010, parent_id=1, added_data_files=50_000)]
    return parts(lake(rows, [moved(1, NOW - 5 * HOUR), moved(2, BURST)]), **given)


def asked(made, *requests, **given):
    """Answers to `(method, path, body)` in order."""

    async def ask():
        async with client(made, **given) as http:
            return [await http.request(method, path, content=content) for method, path, content in requests]

    return asyncio.run(ask())


def post(made, content: bytes):
    return asked(made, ("POST", "/api/v1/alertmanager", content))[0]


def get(made, path: str):
    return asked(made, ("GET", path, None))[0]


def test_a_repeated_transition_is_one_row_and_a_resolution_another() -> None:
    made = world()
    first = post(made, body(alert(), alert()))
    assert (first.status_code, first.json()) == (202, {"accepted": 1, "duplicates": 1})
    assert post(made, body(alert())).json() == {"accepted": 0, "duplicates": 1}
    ended = alert("resolved", ends=text(FIRED + 20 * MINUTE))
    assert post(made, body(ended, status="resolved")).json() == {"accepted": 1, "duplicates": 0}
    page = get(made, "/api/v1/alerts").json()
    assert (page["firing"], page["resolved"], len(page["rows"])) == (0, 1, 1)
    assert page["rows"][0]["ends_at"] == (FIRED + 20 * MINUTE) // 1000


def test_an_end_in_the_year_one_is_not_an_end_and_the_bar_of_the_lane_is_open() -> None:
    made = world()
    assert (
        get(made, f"/api/v1/tables/lake/sales/orders/timeline?lanes=alerts&to={NOW // 1000}").json()["lanes"][0][
            "status"
        ]
        == "absent"
    )
    post(made, body(alert()))
    incident = get(made, f"/api/v1/alerts/{MARK}").json()
    assert incident["alert"]["state"] == "firing"
    assert incident["alert"]["ends_at"] is None
    lane = get(made, f"/api/v1/tables/lake/sales/orders/timeline?lanes=alerts&to={NOW // 1000}").json()["lanes"][0]
    assert [(bar["start"], bar["end"], bar["state"]) for bar in lane["bars"]] == [(STARTS, None, "firing")]


def test_status_counts_alerts_that_fire_and_findings_that_are_open() -> None:
    made = world()
    post(made, body(alert()))
    status = get(made, "/api/v1/status").json()
    assert status["firing"] == get(made, "/api/v1/alerts").json()["firing"] == 1
    assert status["open_findings"] == get(made, "/api/v1/findings").json()["total"] == 1


def test_a_runbook_is_a_page_for_browsers_and_text_for_others() -> None:
    path = "/docs/runbooks/small-file-proliferation"

    async def ask(accept: str):
        async with client(world()) as http:
            return await http.get(path, headers={"accept": accept})

    page = asyncio.run(ask("text/html,application/xhtml+xml"))
    assert (page.status_code, page.headers["location"]) == (303, "/runbooks/small-file-proliferation")
    text = asyncio.run(ask("*/*"))
    assert (text.status_code, text.headers["vary"]) == (200, "accept")
    assert text.text.startswith("# SmallFileProliferation")


def test_an_incident_has_its_window_its_commits_and_only_safe_links() -> None:
    made = world()
    post(made, body(alert()))
    found = get(made, f"/api/v1/alerts/{MARK}?starts_at={STARTS}").json()
    assert found["window"] == {"from": (FIRED - HOUR) // 1000, "to": None}
    assert [commit["added_data_files"] for commit in found["commits"]] == [50_000]
    assert found["expression"] == "x - x offset 5m > 1000"
    links = {link["kind"]: link["url"] for link in found["links"]}
    assert links["runbook"] is None
    assert links["silence"].startswith("http://am:9093/#/silences/new?filter=%7Balertname%3D%22Small")
    assert found["transitions"] == [{"status": "firing", "at": STARTS, "observed_at": NOW // 1000}]
    assert get(made, "/api/v1/alerts/0000000000000000").status_code == 404


@pytest.mark.parametrize(
    ("sent", "state"),
    [
        ({"alerts": [{}]}, "firing"),
        ({"alerts": [{"labels": None, "annotations": {}, "startsAt": None, "endsAt": ZERO}]}, "firing"),
        ({"alerts": [{"labels": {"alertname": "X", "n": 7, "b": True, "none": None, "deep": {"a": 1}}}]}, "firing"),
        ({"alerts": [{"endsAt": text(NOW - MINUTE), "startsAt": "soon"}]}, "resolved"),
        ({"alerts": [{"status": "alerting", "generatorURL": "/graph"}], "status": "resolved"}, "resolved"),
    ],
)
def test_an_alert_that_lacks_nearly_everything_is_accepted(sent: dict, state: str) -> None:
    made = world()
    assert post(made, json.dumps(sent).encode()).json() == {"accepted": 1, "duplicates": 0}
    assert [one["state"] for one in get(made, "/api/v1/alerts").json()["rows"]] == [state]


def test_bodies_without_alerts_are_ignored_and_malformed_ones_are_refused_by_field() -> None:
    made = world()
    for sent in (b"{}", b'{"alerts": []}', b'{"alerts": null}'):
        assert post(made, sent).json() == {"accepted": 0, "duplicates": 0}
    for sent in (b"", b"[", b"[]", b'{"alerts": 7}', b'{"alerts": ["x"]}', b"[" * 5_000):
        answer = post(made, sent)
        assert (answer.status_code, answer.json()["type"]) == (400, "bad-request")


def test_repeats_without_a_start_time_are_one_episode() -> None:
    made = world()
    bare = {"labels": {"alertname": "X"}}
    assert post(made, json.dumps({"alerts": [bare]}).encode()).json()["accepted"] == 1
    made.backend.clock.micros += 5 * MINUTE
    assert post(made, json.dumps({"alerts": [bare]}).encode()).json() == {"accepted": 0, "duplicates": 1}
    assert post(made, json.dumps({"alerts": [{**bare, "status": "resolved"}]}).encode()).json()["accepted"] == 1
    assert get(made, "/api/v1/alerts").json()["resolved"] == 1


def test_grafana_is_recognised_by_its_organisation_and_its_own_links_are_kept() -> None:
    made = world()
    grafana = {**alert(), "fingerprint": "c6eadffa33fcdf37", "silenceURL": "http://graf/alerting/silence/new?x=1"}
    grafana |= {"dashboardURL": "http://graf/d/1", "panelURL": "javascript:1", "values": {"A": 1}}
    assert post(made, body(grafana, orgId=1, externalURL="http://graf/")).json()["accepted"] == 1
    found = get(made, "/api/v1/alerts/c6eadffa33fcdf37").json()
    assert found["alert"]["source"] == "grafana"
    links = {link["kind"]: link["url"] for link in found["links"]}
    assert links["silence"] == "http://graf/alerting/silence/new?x=1"
    assert (links["dashboard"], links["panel"]) == ("http://graf/d/1", None)
    assert "alertmanager" not in links
    assert not [name for name in found["annotations"] if name.startswith("__")]


def test_a_new_episode_ends_the_one_before_and_a_link_with_a_time_finds_the_right_one() -> None:
    made = world()
    post(made, body(alert(at=FIRED - 3 * HOUR)))
    post(made, body(alert()))
    page = get(made, "/api/v1/alerts").json()
    assert [one["state"] for one in page["rows"]] == ["firing", "resolved"]
    assert page["rows"][1]["ends_at"] == STARTS
    old = get(made, f"{LINK}&startsAt={quote(text(FIRED - 3 * HOUR))}").headers["location"]
    assert old == f"/alerts/{MARK}?starts_at={(FIRED - 3 * HOUR) // 1000}"
    assert get(made, LINK).headers["location"] == f"/alerts/{MARK}?starts_at={STARTS}"
    assert len(get(made, f"/api/v1/alerts/{MARK}").json()["before"]) == 1


def test_a_link_with_a_time_at_which_the_alert_did_not_fire_keeps_it_and_shows_the_closest_episode() -> None:
    made = world()
    first, second = FIRED - 12 * HOUR, FIRED
    for at in (first, second):
        post(made, body(alert(at=at), alert("resolved", at=at, ends=text(at + 20 * MINUTE))))

    def opened(at: int) -> tuple[int, int]:
        """The time in the path of a link with `startsAt`, and the start of the episode on its page."""
        to = get(made, f"{LINK}&startsAt={at // 1000}").headers["location"]
        assert to.startswith(f"/alerts/{MARK}?starts_at=")
        return int(to.split("=")[1]) * 1000, get(made, f"/api/v1{to}").json()["alert"]["starts_at"] * 1000

    assert opened(first) == (first, first)
    assert opened(first + 7 * MINUTE) == (first, first)
    assert opened(first + HOUR) == (first + HOUR, first)
    assert opened(second - HOUR) == (second - HOUR, second)
    assert opened(first - HOUR) == (first - HOUR, first)
    assert opened(second + HOUR) == (second + HOUR, second)


def test_a_list_is_paged_and_filtered() -> None:
    made = world()
    post(made, body(*(alert(shard=str(number)) for number in range(5)), alert(alertname="Other")))
    first = get(made, "/api/v1/alerts?limit=4&q=small").json()
    rest = get(made, f"/api/v1/alerts?limit=4&q=small&cursor={first['next_cursor']}").json()
    marks = [one["fingerprint"] for one in first["rows"] + rest["rows"]]
    assert len(set(marks)) == len(marks) == 5
    assert rest["next_cursor"] is None
    assert get(made, "/api/v1/alerts?state=resolved").json()["rows"] == []
    assert get(made, "/api/v1/alerts?ns=lake.sales").json()["firing"] == 6
    assert get(made, "/api/v1/alerts?ns=ops").json()["firing"] == 0
    assert get(made, "/api/v1/alerts?cursor=x").json()["field"] == "cursor"


def test_a_list_shows_when_each_alert_fired_in_the_last_week_whatever_its_filter() -> None:
    made = world()
    day = 24 * HOUR
    for ago in (9 * day, 3 * day):
        ended = text(NOW - ago + 20 * MINUTE)
        post(made, body(alert(at=NOW - ago), alert("resolved", at=NOW - ago, ends=ended)))
    post(made, body(alert()))
    for query in ("", "?state=firing"):
        assert get(made, f"/api/v1/alerts{query}").json()["weeks"] == [
            {
                "fingerprint": MARK,
                "spans": [
                    {"from": (NOW - 3 * day) // 1000, "to": (NOW - 3 * day + 20 * MINUTE) // 1000},
                    {"from": STARTS, "to": None},
                ],
            }
        ]


def test_the_link_of_an_alert_leads_to_its_incident_by_any_name_of_its_table() -> None:
    made = world()
    post(made, body(alert()))
    to = f"/alerts/{MARK}?starts_at={STARTS}"
    for link in (
        LINK,
        "/a?alertname=SmallFileProliferation&table_name=orders",
        "/a?dataset=lake.sales.orders",
        f"/a?fp={MARK}",
    ):
        answer = get(made, link)
        assert (answer.status_code, answer.headers["location"]) == (303, to)
        assert answer.headers["cache-control"] == "no-store"


def test_an_unknown_link_leads_to_a_choice_with_its_labels_and_a_known_table_to_its_page() -> None:
    made = world()
    answer = get(made, "/a?alertname=X&table=never%26seen")
    assert answer.headers["location"] == "/alerts/resolve?alertname=X&table=never%26seen"
    told = get(made, "/api/v1" + answer.headers["location"]).json()
    assert (told["path"], told["source"], told["tables"], told["labels"]["table"]) == (None, "url", [], "never&seen")
    told = get(made, f"/api/v1/alerts/resolve?alertname=X&table=orders&startsAt={STARTS}").json()
    assert told["path"] == f"/t/lake/sales/orders?from={STARTS - 3_600_000}"
    assert told["window"]["from"] == STARTS - 3_600_000


def test_an_alert_that_fits_several_tables_is_a_choice() -> None:
    made = world()
    post(made, body(alert(), alert(table="carts")))
    told = get(made, "/api/v1/alerts/resolve?alertname=SmallFileProliferation").json()
    assert told["path"] is None
    assert [one["table"] for one in told["tables"]] == ["carts", "orders"]


@pytest.mark.parametrize(
    "query",
    [
        "next=https://evil.example",
        "generator=https://evil.example&url=//evil.example",
        "dashboard_url=javascript:alert(1)",
        "%0d%0aset-cookie:x=1",
        "fp=//evil.example",
        "fp=../../login",
        "alertname=%0d%0aLocation:%20https://evil.example",
        "&&&=&",
        "",
    ],
)
def test_no_link_redirects_to_another_site_or_is_a_server_error(query: str) -> None:
    answer = get(world(), f"/a?{query}")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/alerts/resolve")
    assert not set(answer.headers["location"]) & {"\r", "\n", " "}
    assert "set-cookie" not in answer.headers


def test_a_hostile_fingerprint_cannot_change_the_path() -> None:
    made = world()
    post(made, body({**alert(), "fingerprint": "/../..//evil.example?x#"}))
    assert get(made, LINK).headers["location"] == f"/alerts/%2F..%2F..%2F%2Fevil.example%3Fx%23?starts_at={STARTS}"


def test_an_alert_known_only_to_prometheus_has_its_real_start() -> None:
    own = {k: v for k, v in LABELS.items() if k != "severity"}
    now, since = NOW // 1000, (NOW - 10 * MINUTE) / SECOND
    selector = ",".join(f'{name}="{value}"' for name, value in sorted(own.items()))
    full = ",".join(f'{name}="{value}"' for name, value in sorted(LABELS.items()))
    answers = {
        f"ALERTS{{{selector}}}": [Series({"__name__": "ALERTS", "alertstate": "pending", **LABELS}, [now], [1.0])],
        f"ALERTS_FOR_STATE{{{full}}}": [Series(LABELS, [now], [since])],
    }
    told = get(world(source=MemoryMetrics("main", answers)), "/api/v1/alerts/resolve" + LINK[2:]).json()
    assert (told["source"], told["state"], told["fingerprint"]) == ("prometheus", "pending", MARK)
    assert told["active_at"] == round(since * 1000)
    assert told["window"]["from"] == round(since * 1000) - 3_600_000
    assert told["path"].startswith("/t/lake/sales/orders?from=")


class Running:
    """An Alertmanager with one alert; `failure` is raised instead."""

    failure: Exception | None = None

    def matching(self, labels):
        if self.failure:
            raise self.failure
        return [ActiveAlert("ab", {**LABELS, **labels}, NOW - HOUR)]


def test_alertmanager_is_queried_when_prometheus_has_no_data_and_may_fail() -> None:
    running = Running()
    made = world(source=MemoryMetrics("main", {}), active=running)
    told = get(made, "/api/v1/alerts/resolve" + LINK[2:]).json()
    assert (told["source"], told["state"], told["active_at"]) == ("alertmanager", "firing", (NOW - HOUR) // 1000)
    running.failure = SourceUnavailable("alertmanager", "away")
    assert get(made, "/api/v1/alerts/resolve" + LINK[2:]).json()["source"] == "url"


def test_the_time_an_expression_became_true_widens_the_window_by_four_times_the_wait() -> None:
    selector = ",".join(f'{name}="{value}"' for name, value in sorted(LABELS.items()) if name != "severity")
    since = (FIRED - 30 * MINUTE) / SECOND
    answers = {f"ALERTS_FOR_STATE{{{selector}}}": [Series(LABELS, [STARTS], [since])]}
    made = world(source=MemoryMetrics("main", answers))
    post(made, body(alert("resolved", ends=text(NOW - HOUR))))
    found = get(made, f"/api/v1/alerts/{MARK}").json()
    assert found["active_at"] == round(since * 1000)
    assert found["window"] == {"from": round(since * 1000) - 120 * 60_000, "to": (NOW - HOUR) // 1000 + 1_800_000}


def test_alerts_of_another_server_or_of_the_meta_tables_are_shown() -> None:
    made = world()
    other = AlertRegistry(made.options.inbox, None, made.backend.clock)
    asyncio.run(
        other.accept([msgspec.convert({"fingerprint": "aa", "starts_at": FIRED, "status": "firing"}, AlertFact)])
    )
    assert get(made, "/api/v1/alerts").json()["firing"] == 0
    made.alerts.catch_up()
    assert get(made, "/api/v1/alerts").json()["firing"] == 1


def test_an_overfull_inbox_accepts_nothing_and_returns_a_retry_time() -> None:
    made = world()
    made.alerts._most_waiting = 3
    full = body(*(alert(shard=str(number)) for number in range(4)))
    answer = post(made, full)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert get(made, "/api/v1/alerts").json()["firing"] == 0
    assert post(made, body(alert())).status_code == 202


def test_a_storm_loses_nothing_that_was_accepted() -> None:
    made = world()

    async def storm():
        async with client(made) as http:
            bodies = [body(*(alert(shard=f"{n}-{i}") for i in range(100))) for n in range(30)]
            return await asyncio.gather(*(http.post("/api/v1/alertmanager", content=one) for one in bodies))

    answers = asyncio.run(storm())
    taken = sum(answer.json()["accepted"] for answer in answers if answer.status_code == 202)
    assert taken == 100 * sum(answer.status_code == 202 for answer in answers) > 0
    assert {answer.status_code for answer in answers} <= {202, 503}
    assert len(made.options.inbox.items("alert")) == taken == get(made, "/api/v1/alerts").json()["firing"]


def test_only_webhook_tokens_may_push_and_a_link_requires_a_login(tmp_path) -> None:
    made = world()
    door = guarded(tmp_path)
    reading, telling = door.bearer("read"), door.bearer("webhook")

    async def ask():
        async with client(made, gate=door.gate) as http:
            return [
                await http.post("/api/v1/alertmanager", content=body(alert())),
                await http.post("/api/v1/alertmanager", content=body(alert()), headers=reading),
                await http.post("/api/v1/alertmanager", content=body(alert()), headers=telling),
                await http.get("/api/v1/alerts", headers=telling),
                await http.get(LINK),
                await http.get(LINK, headers=reading),
            ]

    answers = asyncio.run(ask())
    assert [answer.status_code for answer in answers] == [401, 403, 202, 403, 303, 303]
    assert answers[4].headers["location"] == (
        "/login?next=/a%3Falertname%3DSmallFileProliferation%26catalog%3Dlake%26table_namespace%3Dsales%26table%3Dorders"
    )
    assert answers[5].headers["location"] == f"/alerts/{MARK}?starts_at={STARTS}"


def test_a_live_stream_receives_the_alert_and_pages_of_the_table_change() -> None:
    made = world()
    before = made.backend.versions.of(made.store.reading.lake.listed[0].name)
    told = made.backend.live.published
    post(made, body(alert(), alert()))
    assert made.backend.live.published == told + 1
    assert made.backend.versions.of(made.store.reading.lake.listed[0].name) != before


def test_after_a_restart_an_old_link_still_leads_to_its_incident() -> None:
    made = world()
    post(made, body(alert(at=NOW - 20 * 24 * HOUR), alert("resolved", at=NOW - 20 * 24 * HOUR, ends=text(NOW - HOUR))))
    again = world()
    again.alerts._inbox = made.options.inbox
    again.alerts.catch_up()
    assert get(again, LINK).headers["location"] == f"/alerts/{MARK}?starts_at={(NOW - 20 * 24 * HOUR) // 1000}"
