"""The page of `/metrics`: what Prometheus' own parser reads out of it, what changes, and what is left out."""

import random
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from limnograph.api.front.traffic import Traffic, route_of
from limnograph.api.metrics.exposition import Exposition, TableExposition
from limnograph.api.metrics.findings_exposition import FindingsExposition
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.gauges import TABLE_COUNTERS, TABLE_GAUGES
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.fleet.gauges import TableNumbers


def numbers(table: str, files: float | None = 7, **counted: float) -> TableNumbers:
    gauges = {} if files is None else {"lakehouse_table_data_files": files}
    return TableNumbers(TableName("lake", 'a"\\b', table), gauges, counted)


def samples(page: bytes) -> dict[tuple[str, ...], float]:
    found = {}
    for family in text_string_to_metric_families(page.decode()):
        for sample in family.samples:
            found[sample.name, *sample.labels.values()] = sample.value
    return found


def test_the_page_is_what_prometheus_reads_back_whatever_the_names() -> None:
    page = TableExposition().render([numbers("x\ny"), numbers("é", None, lakehouse_table_commits_total=3.0)])
    assert samples(page) == {
        ("lakehouse_table_data_files", "lake", 'a"\\b', "x\ny"): 7.0,
        ("lakehouse_table_commits_total", "lake", 'a"\\b', "é"): 3.0,
    }


def test_only_changed_tables_are_rendered_again_and_gone_ones_leave() -> None:
    page, kept = TableExposition(), numbers("kept")
    page.render([kept, numbers("gone")])
    assert samples(page.render([kept, numbers("new", 9)])) == {
        ("lakehouse_table_data_files", "lake", 'a"\\b', "kept"): 7.0,
        ("lakehouse_table_data_files", "lake", 'a"\\b', "new"): 9.0,
    }


def test_a_page_changed_in_place_equals_a_newly_rendered_one() -> None:
    chosen = random.Random(7)
    page, tables = TableExposition(), [numbers(f"t{i}", i, lakehouse_table_commits_total=1.0) for i in range(30)]
    for _ in range(60):
        place = chosen.randrange(len(tables))
        tables[place] = numbers(tables[place].name.table, chosen.choice([None, 1, 2.5]))
        if chosen.random() < 0.1:
            chosen.shuffle(tables)
        assert page.render(list(tables)) == TableExposition().render(tables)


def test_tables_beyond_the_budget_of_series_are_left_out_and_counted() -> None:
    page = TableExposition(max_series=2 * (len(TABLE_GAUGES) + 1 + len(TABLE_COUNTERS)))
    rendered = samples(page.render([numbers(f"t{i}", lakehouse_table_commits_total=1.0) for i in range(5)]))
    assert len(rendered) == 4
    assert page.left_out == 6


def finding(number: int, code: str, severity: str, table: str = "t", **fields: Any) -> FindingFact:
    given = {"state": "open", "catalog": "lake", "namespace": "a.b", "table": table, **fields}
    return FindingFact(finding_id=str(number), seq=1, code=code, severity=severity, opened_at=number, **given)


def test_open_findings_are_counted_by_table_code_and_severity_and_closed_ones_are_absent() -> None:
    board = FindingsBoard(
        [
            finding(1, "job_silent", "warning", subject="churn"),
            finding(2, "job_silent", "warning", subject="scores"),
            finding(3, "stale", "warning", table='x"y'),
            finding(4, "stale", "warning", state="closed", closed_at=5, closed_by="7"),
        ]
    )
    page = FindingsExposition(10).render(board)
    name = "lakehouse_table_finding_open"
    assert samples(page) == {
        (name, "lake", "a.b", "t", "job_silent", "warning"): 2.0,
        (name, "lake", "a.b", 'x"y', "stale", "warning"): 1.0,
    }


def test_findings_beyond_their_part_of_the_budget_are_left_out_and_counted_the_least_severe_first() -> None:
    found = [finding(number, "stale", ("info", "critical")[number % 2], f"t{number}") for number in range(8)]
    page = Exposition(lambda: (1, []), lambda: None, board=lambda: FindingsBoard(found), max_series=50)()
    shown = samples(page)
    assert {of[-1] for of in shown if of[0] == "lakehouse_table_finding_open"} == {"critical", "info"}
    assert sum(of[0] == "lakehouse_table_finding_open" for of in shown) == 5
    assert sum(of[-1] == "critical" for of in shown) == 4
    assert shown["limnograph_table_series_left_out",] == 3.0


def test_a_finding_that_closed_leaves_the_page() -> None:
    boards = [FindingsBoard([finding(1, "stale", "warning")]), FindingsBoard()]
    page = Exposition(lambda: (1, []), lambda: None, board=lambda: boards[0])
    assert b"lakehouse_table_finding_open{" in page()
    del boards[0]
    assert b"lakehouse_table_finding_open" not in page()


def test_without_tables_the_page_is_empty() -> None:
    assert TableExposition().render([]) == b""


def test_the_server_exposes_its_own_numbers_and_nan_where_they_are_unknown() -> None:
    traffic = Traffic()
    traffic.add("GET", "/api/v1/tables", 200, 0.004)
    traffic.add("GET", "/api/v1/tables", 200, 40.0)
    told = {"limnograph_hot_rows": 12.0, "limnograph_meta_up": None, "limnograph_page_hits_total": 3.0}
    text = Exposition(lambda: (1, []), lambda: None, own=lambda: told, collectors=[traffic])()
    page = samples(text)
    assert page["limnograph_page_hits_total",] == 3.0
    assert b"# TYPE limnograph_page_hits_total counter" in text
    assert ("limnograph_hot_bytes",) not in page
    assert page["limnograph_hot_rows",] == 12.0
    assert page["limnograph_meta_up",] != page["limnograph_meta_up",]
    name = "limnograph_http_request_duration_seconds"
    key = ("GET", "/api/v1/tables", "200")
    assert page[f"{name}_count", *key] == 2
    assert page[f"{name}_bucket", "0.005", *key] == 1
    assert page[f"{name}_bucket", "+Inf", *key] == 2


def test_route_labels_are_a_closed_set_for_any_request() -> None:
    paths = {
        "/api/v1/tables": "/api/v1/tables",
        "/api/v1/tables/lake/sales/orders": "/api/v1/tables/…",
        "/api/v1/tables/lake/sales/orders/timeline": "/api/v1/tables/…/timeline",
        "/api/v1/tables/lake/sales/orders/commits/42": "/api/v1/tables/…/commits/…",
        "/api/v1/notify/s3": "/api/v1/notify/…",
        "/api/v1/whatever/42": "/api/other",
        "/v1/lake/namespaces/a/tables/b/metrics": "/api/other",
        "/healthz": "/healthz",
        "/tables/lake/sales/orders": "pages",
        "": "pages",
    }
    assert {path: route_of(path) for path in paths} == paths
