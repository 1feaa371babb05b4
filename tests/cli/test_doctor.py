"""`limnograph doctor`: a line for every part with its remedy; one failure hides no other; exit 1 when required."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from click.testing import CliRunner

from delta_log import DeltaLog, add
from lakes import Lake
from limnograph.cli.doctor import command
from limnograph.domain.errors import SourceUnavailable
from limnograph.services.server.doctor import Check, CheckResult, run, skewed, well
from query_engine_contract import LOG, ROWS, Iceberg


def settings(folder: Path, more: str = "", catalog: str | None = None) -> str:
    file = folder / "limnograph.toml"
    uri = catalog or f"sqlite:///{folder}/catalog.db"
    head = f'[catalogs.lake]\ntype = "sql"\nuri = "{uri}"\nwarehouse = "file://{folder}/wh"\n'
    file.write_text(f"{head}[server]\nport = 0\n{more}")
    return str(file)


def asked(file: str, *more: str) -> tuple[int, dict[str, dict[str, str]]]:
    result = CliRunner().invoke(command, ["--config", file, "--json", "--within", "60", *more])
    document = json.loads(result.stdout)
    assert document["ok"] == (result.exit_code == 0)
    return result.exit_code, {check["name"]: check for check in document["checks"]}


def test_a_healthy_installation_passes(tmp_path) -> None:
    Iceberg(tmp_path).fill(ROWS, LOG)
    code, found = asked(settings(tmp_path))
    assert code == 0, found
    assert found["catalog lake"]["detail"] == "3 tables"
    assert "schema version" in found["meta tables"]["detail"]
    for name in ("inbox", "cache", "port"):
        assert found[name]["status"] == "ok", found[name]


def test_before_the_first_pass_it_names_the_command_to_run(tmp_path) -> None:
    Iceberg(tmp_path)
    code, found = asked(settings(tmp_path))
    assert code == 0
    assert (found["meta tables"]["status"], "pipeline --once" in found["meta tables"]["remedy"]) == ("warn", True)


def test_an_unavailable_catalog_fails_with_its_remedy_and_the_rest_is_reported(tmp_path) -> None:
    code, found = asked(settings(tmp_path, catalog=f"sqlite:////{tmp_path}/none/catalog.db"))
    assert code == 1
    assert found["catalog lake"]["status"] == "fail"
    assert "[catalogs.lake]" in found["catalog lake"]["remedy"]
    assert found["cache"]["status"] == "ok"


def test_failing_sources_are_warnings_because_pages_work_without_them(tmp_path) -> None:
    Iceberg(tmp_path).fill(ROWS, LOG)
    sources = (
        '[prometheus.main]\nurl = "http://127.0.0.1:9"\n[alertmanager]\nurl = "http://127.0.0.1:9"\n'
        '[trino]\nurl = "http://127.0.0.1:9"\ncatalog = "lake"\n'
    )
    code, found = asked(settings(tmp_path, sources))
    assert code == 0
    for name, key in (
        ("prometheus main", "[prometheus.main]"),
        ("alertmanager", "[alertmanager]"),
        ("trino", "[trino]"),
    ):
        assert found[name]["status"] == "warn"
        assert key in found[name]["remedy"]


class Queries(BaseHTTPRequestHandler):
    """A Prometheus that refuses `bad(`, has nothing for `nothing`, and one series for all else."""

    def do_POST(self) -> None:
        asked = parse_qs(self.rfile.read(int(self.headers.get("content-length", 0))).decode())
        (query,), (at,) = asked["query"], asked["start"]
        found = [] if query == "nothing" else [{"metric": {}, "values": [[float(at), "3"]]}]
        body: dict[str, object] = {"status": "success", "data": {"resultType": "matrix", "result": found}}
        if query == "bad(":
            body = {"status": "error", "errorType": "bad_data", "error": "unclosed left parenthesis"}
        answer = json.dumps(body).encode()
        self.send_response(400 if query == "bad(" else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_given: object) -> None:
        """Silent."""


@pytest.fixture
def prometheus() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Queries)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f'[prometheus.main]\nurl = "http://127.0.0.1:{server.server_port}"\n'
    server.shutdown()
    server.server_close()


def test_queries_of_jobs_are_sent_and_a_refused_one_is_named(tmp_path, prometheus) -> None:
    Iceberg(tmp_path).fill(ROWS, LOG)
    jobs = (
        '[[jobs]]\nname = "churn"\ncpu = "churn_cores"\nspill = "nothing"\n'
        '[[jobs]]\nname = "rollup"\nload = "rows"\nexecutors = "bad("\n[[jobs]]\nname = "plain"\n'
    )
    code, found = asked(settings(tmp_path, prometheus + jobs))
    assert code == 0
    assert found["queries of churn"]["status"] == "ok"
    assert found["queries of churn"]["detail"] == "cpu 1 series, spill no series"
    refused = found["queries of rollup"]
    assert refused["status"] == "warn"
    assert "executors: " in refused["detail"]
    assert "unclosed" in refused["detail"]
    assert refused["remedy"] == "correct the query in [[jobs]] of rollup"
    assert "queries of plain" not in found


def test_every_check_has_one_line_and_a_failed_one_has_a_remedy(tmp_path) -> None:
    Iceberg(tmp_path).fill(ROWS, LOG)
    sources = '[prometheus.main]\nurl = "http://127.0.0.1:9"\n[trino]\nurl = "http://127.0.0.1:9"\ncatalog = "lake"\n'
    _, found = asked(settings(tmp_path, sources))
    parts = ["java", "spark", "catalog lake", "clock of catalog lake"]
    parts += ["observed tables", "meta tables", "prometheus main", "trino"]
    assert list(found) == [*parts, "inbox", "cache", "port"]
    for name, line in found.items():
        assert line["detail"], name
        assert "\n" not in line["detail"] + (line["remedy"] or ""), name
        assert line["status"] == "ok" or line["remedy"], name


def test_each_line_begins_with_its_status(tmp_path) -> None:
    result = CliRunner().invoke(command, ["--config", settings(tmp_path), "--within", "60"])
    lines = result.stdout.splitlines()
    assert any(line.startswith("ok    cache") for line in lines)
    assert all(line[:4].strip() in {"ok", "warn", "fail"} for line in lines)


def test_a_hanging_check_is_a_finding_and_does_not_delay_the_others() -> None:
    def hang() -> CheckResult:
        time.sleep(30)
        return CheckResult("")

    found = run([Check("a", hang, "wait"), Check("b", lambda: CheckResult("fine"), "")], within_s=0.3)
    assert [(f.name, f.status) for f in found] == [("a", "fail"), ("b", "ok")]
    assert "no response within 0.3 s" in found[0].detail
    assert not well(found)


def test_an_unexpected_error_is_a_finding() -> None:
    def broken() -> CheckResult:
        raise RuntimeError("driver")

    def away() -> CheckResult:
        raise SourceUnavailable("main", "away")

    found = run([Check("a", broken, "look"), Check("b", away, "start it", required=False)])
    assert [(f.status, f.detail) for f in found] == [("fail", "RuntimeError: driver"), ("warn", "main: away")]


@pytest.mark.parametrize(
    ("theirs", "words", "warns"), [(100.4, "in sync", False), (160, "60 s ahead", True), (97, "3 s behind", False)]
)
def test_clocks_that_differ_are_reported(theirs, words, warns) -> None:
    told = skewed("main", theirs, 100)
    assert words in told.detail
    assert (told.remedy is not None) == warns


def test_a_mistyped_path_of_a_database_is_named_and_creates_none(tmp_path) -> None:
    code, found = asked(settings(tmp_path, catalog=f"sqlite:///{tmp_path}/ctalog.db"))
    assert (code, found["catalog lake"]["status"]) == (1, "fail")
    assert f"database {tmp_path}/ctalog.db does not exist" in found["catalog lake"]["detail"]
    assert not (tmp_path / "ctalog.db").exists()


def test_patterns_and_folders_that_match_nothing_are_named(tmp_path) -> None:
    lake = Lake(tmp_path)
    lake.table("sales.orders")
    (tmp_path / "landing").mkdir()
    more = (
        '[observe]\ninclude = ["lake.sale.**", "lake.sales.*", "landing.**"]\nexclude = ["lake.**.tmp_*"]\n'
        f'[[observe.warehouses]]\nname = "landing"\nlocation = "{tmp_path}/landing"\n'
        f'[[observe.paths]]\nformat = "delta"\nname = "raw.events"\nlocation = "{tmp_path}/evnts"\n'
        '[[jobs]]\nname = "churn"\nreads = ["lake.sales.orders", "lake.sales.order"]\n'
    )
    code, found = asked(settings(tmp_path, more))
    assert code == 1
    tables = found["observed tables"]
    assert tables["status"] == "warn"
    for key in ("observe.include[0] 'lake.sale.**'", "observe.include[2]", "observe.exclude[0]", "jobs[0].reads[1]"):
        assert key in tables["detail"]
    assert "observe.include[1]" not in tables["detail"]
    assert "lake.sales" in tables["remedy"]
    assert found["warehouse landing"]["status"] == "warn"
    assert "observe.warehouses[0].location" in found["warehouse landing"]["remedy"]
    assert found["table files.raw.events"]["status"] == "fail"


def test_a_warehouse_that_is_matched_by_its_own_name_passes(tmp_path) -> None:
    Lake(tmp_path).table("sales.orders")
    DeltaLog(tmp_path / "landing" / "clicks").begin(add("a.parquet"))
    more = (
        f'[observe]\ninclude = ["landing.**"]\n[[observe.warehouses]]\nname = "landing"\n'
        f'location = "{tmp_path}/landing"\n'
    )
    code, found = asked(settings(tmp_path, more))
    assert (code, found["observed tables"]["status"]) == (0, "ok"), found
    assert found["observed tables"]["detail"] == "1 of 2 listed tables"
    assert found["warehouse landing"]["status"] == "ok"


def test_a_catalog_for_the_meta_tables_alone_may_be_missing_before_the_first_pass(tmp_path) -> None:
    Lake(tmp_path).table("sales.orders")
    more = (
        f'[meta]\ncatalog = "own"\n[catalogs.own]\ntype = "sql"\nuri = "sqlite:///{tmp_path}/own.db"\n'
        f'warehouse = "file://{tmp_path}/own"\n'
    )
    code, found = asked(settings(tmp_path, more))
    assert code == 0, found
    assert (found["catalog own"]["status"], "pipeline --once" in found["catalog own"]["remedy"]) == ("warn", True)
    assert not (tmp_path / "own.db").exists()
