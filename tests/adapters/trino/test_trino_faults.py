"""The Trino engine against coordinators that misbehave: every fault is a sentence, none outlasts the deadline."""

import datetime as dt
import ipaddress
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from fault_proxy import FAULTS, FaultProxy
from limnograph.adapters.trino.asking import Coordinator
from limnograph.adapters.trino.engine import TrinoEngine
from limnograph.domain.errors import SourceError, SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.ports.query_engine import MetaHead, MetaQuery
from limnograph.ports.stopping import STOP, Stop
from peak_memory import peak_memory

QUERY = MetaQuery(table="snapshots", columns=("snapshot_id",))
DEADLINE_S = 1.0
GRACE_S = 5.0
"""Faults last a minute or for ever; a busy machine may take some seconds more than the deadline."""


NO_NODES = {
    "errorCode": 65541,
    "errorName": "NO_NODES_AVAILABLE",
    "errorType": "INTERNAL_ERROR",
    "message": "No nodes available to run query",
}


class Pinned:
    """A meta catalog that always has a head."""

    def head(self):
        return MetaHead(7, 7)

    def pin(self, table):
        return 7


def engine(url: str, **given) -> TrinoEngine:
    return TrinoEngine(Coordinator(url, "lake", "limnograph", timeout_s=DEADLINE_S, **given), Pinned())


class Coordinating(BaseHTTPRequestHandler):
    """As much of Trino's protocol as one query needs; `stuck` queries run until they are deleted."""

    protocol_version = "HTTP/1.1"
    stuck = False
    elsewhere = False
    starting = 0
    scheme = "http"
    deleted = threading.Event()
    polled = threading.Event()
    asked: list[str] = []  # noqa: RUF012

    def do_POST(self):
        sql = self.rfile.read(int(self.headers["content-length"])).decode()
        self.asked.append(sql)
        self._answer({"nextUri": self._next("columns" if "information_schema" in sql else "rows")})

    def do_GET(self):
        type(self).polled.set()
        if type(self).starting:
            type(self).starting -= 1
            self._answer({"error": NO_NODES})
        elif type(self).stuck:
            time.sleep(0.05)
            self._answer({"nextUri": self._next(self.path.rsplit("/", 1)[-1])})
        elif self.path.endswith("columns"):
            names = ("table_uuid", "snapshot_id", "committed_at", "sequence_number")
            self._answer({"columns": [_column("column_name", "varchar")], "data": [[name] for name in names]})
        else:
            listed = [_column("snapshot_id", "bigint"), _column("table_uuid", "varchar")]
            self._answer({"columns": listed, "data": [[5184430069070270604, "u"]]})

    def do_DELETE(self):
        type(self).deleted.set()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass

    def _next(self, what: str) -> str:
        host = "127.0.0.2" if type(self).elsewhere else "127.0.0.1"
        return f"{type(self).scheme}://{host}:{self.headers['host'].split(':')[1]}/v1/statement/q/{what}"

    def _answer(self, more: dict) -> None:
        body = json.dumps({"id": "q", "stats": {"state": "RUNNING"}, "infoUri": "", **more}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _column(name: str, kind: str) -> dict:
    return {"name": name, "type": kind, "typeSignature": {"rawType": kind, "arguments": []}}


@pytest.fixture
def coordinator():
    class Mine(Coordinating):
        deleted = threading.Event()
        polled = threading.Event()
        asked: list[str] = []  # noqa: RUF012

    server = ThreadingHTTPServer(("127.0.0.1", 0), Mine)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield Mine, server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_an_error_within_the_deadline_and_the_next_query_is_answered(coordinator, fault) -> None:
    _, port = coordinator
    with FaultProxy(("127.0.0.1", port), late_s=60) as proxy:
        reads = engine(proxy.url, max_bytes=4_000_000)
        proxy.mode = fault
        started = time.monotonic()
        with peak_memory() as peak, pytest.raises(FAULTS[fault], match="trino: ") as caught:
            reads.select(QUERY)
        assert time.monotonic() - started < DEADLINE_S + GRACE_S
        assert "<html>" not in str(caught.value)
        assert peak.size < 100 * 2**20
        proxy.mode = "ok"
        assert reads.select(QUERY)["snapshot_id"].to_list() == [5184430069070270604]


def test_a_response_that_leads_elsewhere_is_refused(coordinator) -> None:
    handler, port = coordinator
    handler.elsewhere = True
    with pytest.raises(SourceRejected, match="an address other"):
        engine(f"http://127.0.0.1:{port}").select(QUERY)


def test_a_coordinator_without_workers_yet_is_queried_again(coordinator) -> None:
    handler, port = coordinator
    handler.starting = 2
    reads = TrinoEngine(Coordinator(f"http://127.0.0.1:{port}", "lake", "limnograph", timeout_s=30), Pinned())
    assert reads.select(QUERY).height == 1
    assert handler.starting == 0


def test_a_coordinator_without_workers_is_reported_at_the_deadline(coordinator) -> None:
    handler, port = coordinator
    handler.starting = 1_000_000
    started = time.monotonic()
    with pytest.raises(SourceUnavailable, match="No nodes available"):
        engine(f"http://127.0.0.1:{port}").select(QUERY)
    assert time.monotonic() - started < DEADLINE_S + GRACE_S


def test_at_the_deadline_the_query_is_cancelled_upstream(coordinator) -> None:
    handler, port = coordinator
    handler.stuck = True
    with pytest.raises(SourceTimeout, match="within 1 s"):
        engine(f"http://127.0.0.1:{port}").select(QUERY)
    assert handler.deleted.wait(30)


def test_when_no_client_waits_the_query_is_cancelled_upstream(coordinator) -> None:
    handler, port = coordinator
    handler.stuck = True
    stop, failed = Stop(), []
    reads = TrinoEngine(Coordinator(f"http://127.0.0.1:{port}", "lake", "limnograph", timeout_s=30), Pinned())

    def ask() -> None:
        STOP.set(stop)
        try:
            reads.select(QUERY)
        except SourceError as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    assert handler.polled.wait(30)
    stop.set()
    asking.join(60)
    assert "request was cancelled" in str(failed[0])
    assert handler.deleted.wait(30)


def test_queries_beyond_the_limit_wait_within_their_deadline(coordinator) -> None:
    handler, port = coordinator
    handler.stuck = True
    reads = engine(f"http://127.0.0.1:{port}", concurrent=1)
    failures: list[str] = []

    def ask() -> None:
        with pytest.raises(SourceTimeout) as caught:
            reads.select(QUERY)
        failures.append(str(caught.value))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert time.monotonic() - started < DEADLINE_S + GRACE_S
    assert len(failures) == 3
    handler.stuck = False
    assert reads.select(QUERY).height == 1


def test_values_are_bound_and_names_quoted(coordinator) -> None:
    handler, port = coordinator
    reads = engine(f"http://127.0.0.1:{port}")
    hostile = "x' OR 1=1 --"
    reads.select(MetaQuery(table="snapshots", columns=("snapshot_id",), table_uuids=(hostile,), start=0))
    sent = handler.asked[-1]
    assert sent.startswith("EXECUTE IMMEDIATE '")
    assert 'FROM "lake"."limnograph"."snapshots" FOR VERSION AS OF 7 WHERE "committed_at" >= ?' in sent
    assert sent.endswith("USING TIMESTAMP '1970-01-01 00:00:00.000000 UTC','x'' OR 1=1 --'")


def test_a_password_is_not_sent_in_clear_text(coordinator) -> None:
    _, port = coordinator
    with pytest.raises(SourceRejected, match="TLS"):
        engine(f"http://127.0.0.1:{port}", password="secret").select(QUERY)


def certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """A certificate of its own authority and its key, good for a host name or address."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test's authority")])
    told = x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([told]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed, pair = made.sign(key, hashes.SHA256()), (folder / f"{host}.pem", folder / f"{host}.key")
    pair[0].write_bytes(signed.public_bytes(Encoding.PEM))
    pair[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return pair


@pytest.fixture
def over_tls(coordinator, tmp_path):
    """Serves a certificate of a host from then on; the URL and the authority's file."""

    def serve(host: str) -> tuple[str, str]:
        handler, _ = coordinator
        handler.scheme = "https"
        authority, key = certificate(tmp_path, host)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority, key)
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads, server.socket = True, context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        served.append(server)
        return f"https://127.0.0.1:{server.server_address[1]}", str(authority)

    served: list[ThreadingHTTPServer] = []
    yield serve
    for server in served:
        server.shutdown()
        server.server_close()


def asked_over_tls(url: str, **given) -> int:
    at = Coordinator(url, "lake", "limnograph", timeout_s=60, **given)
    return TrinoEngine(at, Pinned()).select(QUERY).item()


def test_https_with_the_configured_authority_works_with_a_password_too(over_tls) -> None:
    url, authority = over_tls("127.0.0.1")
    assert asked_over_tls(url, ca_file=authority) == 5184430069070270604
    assert asked_over_tls(url, ca_file=authority, user="me", password="secret") == 5184430069070270604


def test_a_certificate_of_an_unknown_authority_is_refused_and_reported(over_tls) -> None:
    url, _ = over_tls("127.0.0.1")
    with pytest.raises(SourceError, match=r"(?i)certificate"):
        asked_over_tls(url)


def test_a_certificate_of_another_host_is_refused_even_from_a_known_authority(over_tls) -> None:
    url, authority = over_tls("trino.example.org")
    with pytest.raises(SourceError, match=r"(?i)certificate"):
        asked_over_tls(url, ca_file=authority)
