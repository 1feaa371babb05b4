"""Delivery of the history's alerts: bodies as Alertmanager sends them, in order of time."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from limnograph.demo.metrics.rule_history import PastAlert
from limnograph.demo.processes import past_alerts
from limnograph.domain.errors import EnvironmentFault, SourceUnavailable
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.alert_labels import fingerprint
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.services.alerts.intake import parse_webhook

MINUTE = 60_000
AT = Millis(1_795_219_200_000)
LABELS = {"alertname": "SmallFileProliferation", "catalog": "lake", "table_namespace": "sales", "table": "t"}
BURST = PastAlert(LABELS, {"runbook_url": "/docs/runbooks/x", "summary": "t got 9"}, AT, Millis(AT + 20 * MINUTE))
STALE = PastAlert({**LABELS, "alertname": "LakehouseTableStale"}, {}, Millis(AT + 5 * MINUTE), None)


class Receiver(BaseHTTPRequestHandler):
    """Prometheus with two rules, and a webhook that keeps what it receives."""

    received: list[bytes]
    status = 202

    def do_GET(self) -> None:
        rules = [{"name": "SmallFileProliferation", "query": "files > 1"}, {"name": "Other", "query": "x"}]
        self._respond(200, json.dumps({"data": {"groups": [{"rules": rules}]}}).encode())

    def do_POST(self) -> None:
        assert self.path == "/api/v1/alertmanager"
        self.received.append(self.rfile.read(int(self.headers["content-length"])))
        self._respond(self.status, b"{}")

    def _respond(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def receiver(status: int = 202) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
    received: list[bytes] = []
    handler = type("OwnReceiver", (Receiver,), {"received": received, "status": status})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield {"server": url, "prometheus": url, "alertmanager": None}, received
        finally:
            server.shutdown()


def facts(bodies: list[bytes]) -> list[AlertFact]:
    """The bodies as the server reads them."""
    known = [TableName("lake", "sales", "t")]
    now = Micros(to_micros(AT) + 86_400_000_000)
    return [fact for body in bodies for fact in parse_webhook(body, lambda: known, now, lambda _: None)]


def test_each_transition_is_sent_in_order_as_the_server_expects_it() -> None:
    with receiver() as (addresses, received):
        assert past_alerts.deliver([BURST, STALE], addresses) == 3
    first, second, third = facts(received)
    assert [(fact.alert_name, fact.status) for fact in (first, second, third)] == [
        ("SmallFileProliferation", "firing"),
        ("LakehouseTableStale", "firing"),
        ("SmallFileProliferation", "resolved"),
    ]
    assert (first.starts_at, first.ends_at) == (to_micros(AT), None)
    assert (third.starts_at, third.ends_at) == (to_micros(AT), to_micros(Millis(AT + 20 * MINUTE)))
    assert (first.fingerprint, third.fingerprint) == (fingerprint(LABELS), fingerprint(LABELS))
    assert (first.catalog, first.namespace, first.table) == ("lake", "sales", "t")


def test_links_become_absolute_and_the_expression_is_the_loaded_rules() -> None:
    with receiver() as (addresses, received):
        past_alerts.deliver([BURST], addresses)
    (first, _) = facts(received)
    told = first.annotations or {}
    assert (told["runbook_url"], told["summary"]) == (f"{addresses['server']}/docs/runbooks/x", "t got 9")
    assert first.generator_url == f"{addresses['prometheus']}/graph?g0.expr=files%20%3E%201&g0.tab=1"


def test_a_server_that_rejects_one_is_an_error() -> None:
    with receiver(status=503) as (addresses, _), pytest.raises(SourceUnavailable, match="503"):
        past_alerts.deliver([BURST], addresses)


def test_the_file_keeps_them_and_a_damaged_one_names_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "alerts.json"
    past_alerts.write([BURST, STALE], file)
    assert past_alerts.read(file) == [BURST, STALE]
    file.write_text("[{]")
    with pytest.raises(EnvironmentFault, match="--fresh"):
        past_alerts.read(file)
