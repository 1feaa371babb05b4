"""Who may ask for what: scopes of every route, tokens, sessions, proxies, other sites, other names."""

import asyncio
import ipaddress
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from litestar import Litestar, get

from access_kit import guarded
from limnograph.api.app import Limits
from limnograph.api.front.gate import Authenticator, TrustedProxy
from limnograph.api.wire import access
from serving_kit import HOUR, MINUTE, NOW, application, client, lake, parts, row

MADE = parts(lake([row(1, NOW - HOUR, 5)]))
TABLE = "/api/v1/tables/lake/sales/orders"
RUN = {"run_id": "r", "job_name": "j", "status": "ok", "started_at": 1, "ended_at": 2}
PAGES = ["/api/v1/tables", TABLE, f"{TABLE}/timeline", f"{TABLE}/commits", f"{TABLE}/commits/1", "/api/v1/commits"]
READING = [*PAGES, "/api/v1/status", "/metrics", "/api"]
TELLING = ["/api/v1/runs", "/api/v1/lineage", "/api/v1/notify/s3", "/v1/namespaces/a/tables/b/metrics"]


def ask(gate, requests, *, made=MADE, **given):
    """Answers to `(method, path, keyword arguments)`, one after the other."""

    async def asked():
        async with client(made, gate=gate, **given) as http:
            return [await http.request(method, path, **more) for method, path, more in requests]

    return asyncio.run(asked())


def one(gate, method, path, *, made=MADE, url="http://limnograph", peer="127.0.0.1", limits=Limits(), **more):  # noqa: B008
    return ask(gate, [(method, path, more)], made=made, url=url, peer=peer, limits=limits)[0]


def test_a_route_without_a_declared_scope_is_a_startup_error() -> None:
    @get("/forgotten", sync_to_thread=False)
    def forgotten() -> None: ...

    with pytest.raises(LookupError, match="forgotten declares no scope"):
        access.check_declared(Litestar([forgotten], openapi_config=None))
    application(MADE)


@pytest.mark.parametrize("path", READING)
def test_reading_needs_a_token_with_the_scope_read(path, tmp_path) -> None:
    made = guarded(tmp_path)
    nobody, other, reader = ask(
        made.gate,
        [
            ("GET", path, {}),
            ("GET", path, {"headers": made.bearer("webhook", "maintain")}),
            ("GET", path, {"headers": made.bearer("read")}),
        ],
    )
    assert (nobody.status_code, nobody.json()["type"]) == (401, "unauthenticated")
    assert nobody.headers["www-authenticate"].startswith("Bearer")
    assert (other.status_code, other.json()["type"]) == (403, "forbidden")
    assert reader.status_code in {200, 404}


@pytest.mark.parametrize("path", TELLING)
def test_pushing_needs_a_token_with_the_scope_webhook(path, tmp_path) -> None:
    made = guarded(tmp_path)
    nobody, other, teller = ask(
        made.gate,
        [
            ("POST", path, {"json": RUN}),
            ("POST", path, {"json": RUN, "headers": made.bearer("read", "maintain")}),
            ("POST", path, {"json": RUN, "headers": made.bearer("webhook")}),
        ],
        made=parts(),
    )
    assert (nobody.status_code, other.status_code) == (401, 403)
    assert teller.status_code in {202, 400}


def test_labels_need_the_scope_annotate_and_the_status_names_the_scopes_of_the_caller(tmp_path) -> None:
    made, label = guarded(tmp_path), {"kind": "expected", "snapshot_id": "1", "from": 0, "to": 1}

    def say(**given: Any) -> int:
        return one(made.gate, "POST", f"{TABLE}/labels", json=label, **given).status_code

    def scopes(gate: Authenticator, **given: Any) -> list[str]:
        return one(gate, "GET", "/api/v1/status", **given).json()["scopes"]

    assert say() == 401
    for refused in (("read",), ("read", "webhook", "maintain")):
        assert say(headers=made.bearer(*refused)) == 403
    assert say(headers=made.bearer("read", "annotate")) == 202
    assert scopes(made.gate, headers=made.bearer("read", "annotate", name="other")) == ["annotate", "read"]
    assert scopes(made.gate, headers=made.bearer("read", name="reader")) == ["read"]
    assert one(Authenticator(), "POST", f"{TABLE}/labels", json=label).status_code == 202
    assert scopes(Authenticator()) == ["annotate", "read", "webhook"]


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/login", "/login/link", "/login/login.js", "/login/login.css"]
)
def test_health_and_login_are_open_even_with_a_wrong_token(path, tmp_path) -> None:
    made = guarded(tmp_path)
    for headers in ({}, {"authorization": "Bearer wrong"}):
        assert one(made.gate, "GET", path, headers=headers).status_code == 200


def test_metrics_are_open_only_by_setting(tmp_path) -> None:
    gate = guarded(tmp_path).gate
    assert one(gate, "GET", "/metrics").status_code == 401
    assert one(gate, "GET", "/metrics", limits=Limits(open_metrics=True)).status_code == 200


def test_a_revoked_token_is_refused_within_a_second_even_for_a_cached_page(tmp_path) -> None:
    made = guarded(tmp_path)
    headers = made.bearer("read", name="alice")

    async def asked():
        async with client(MADE, gate=made.gate) as http:
            before = [await http.get(TABLE, headers=headers) for _ in range(3)]
            elsewhere = guarded(tmp_path)  # another process: the command line
            elsewhere.tokens.revoke("alice")
            await asyncio.sleep(0.9)
            return before, await http.get(TABLE, headers=headers)

    before, after = asyncio.run(asked())
    assert {answer.status_code for answer in before} == {200}
    assert after.status_code == 401


def test_an_expired_token_is_refused(tmp_path) -> None:
    made = guarded(tmp_path)
    headers = made.bearer("read", expires_at=NOW + MINUTE)
    assert one(made.gate, "GET", TABLE, headers=headers).status_code == 200
    made.clock.micros += MINUTE
    assert one(made.gate, "GET", TABLE, headers=headers).status_code == 401


def test_a_verified_token_costs_no_second_hash(tmp_path) -> None:
    made = guarded(tmp_path)
    token = made.bearer("read")["authorization"].removeprefix("Bearer ")
    assert made.tokens.known(token) is None
    assert made.tokens.verify(token) is not None
    began = time.process_time()
    for _ in range(1_000):
        assert made.tokens.known(token) is not None
    assert time.process_time() - began < 1  # a hash takes tens of milliseconds each


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer  ",
        "Basic YTpi",
        "Bearer lmn_000000000000_" + "A" * 43,
        "Bearer lmn_zz",
        "Bearer \xe9",
        "bearer null",
        "Bearer " + "x" * 5_000,
    ],
)
def test_garbage_as_a_token_is_401_and_never_a_server_error(header, tmp_path) -> None:
    made = guarded(tmp_path)
    made.bearer("read")
    answer = one(made.gate, "GET", TABLE, headers={"authorization": header.encode("latin-1")})
    assert answer.status_code == 401


def test_two_authorization_headers_are_refused_whichever_is_right(tmp_path) -> None:
    made = guarded(tmp_path)
    right = made.bearer("read")["authorization"]
    made.tokens.verify(right.removeprefix("Bearer "))
    for first, second in ((right, "Bearer x"), ("Bearer x", right), (right, right)):
        headers = [("authorization", first), ("authorization", second)]
        assert one(made.gate, "GET", TABLE, headers=headers).status_code == 401


def test_ten_failed_attempts_lock_out_their_client_for_a_minute_and_no_one_else(tmp_path) -> None:
    made = guarded(tmp_path)
    right = made.bearer("read")
    wrong = {"authorization": "Bearer lmn_000000000000_" + "A" * 43}
    answers = ask(made.gate, [("GET", TABLE, {"headers": wrong})] * 12, peer="192.0.2.7")
    assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 2
    assert answers[-1].json()["type"] == "too-many-requests"
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert one(made.gate, "GET", TABLE, headers=right, peer="192.0.2.7").status_code == 429
    assert one(made.gate, "GET", TABLE, headers=right, peer="192.0.2.8").status_code == 200
    assert one(made.gate, "GET", TABLE, headers=right, peer="192.0.2.7").status_code == 200  # known by now
    made.clock.micros += MINUTE
    assert one(made.gate, "GET", TABLE, headers=wrong, peer="192.0.2.7").status_code == 401


# Sessions


def logged_in(made, token_headers, **given):
    """The client's cookie after `POST /session`."""
    token = token_headers["authorization"].removeprefix("Bearer ")
    answer = one(made.gate, "POST", "/api/v1/session", json={"token": token, **given})
    return answer, answer.headers["set-cookie"].split(";")[0]


def test_a_token_becomes_a_cookie_that_scripts_cannot_read_and_other_sites_do_not_send(tmp_path) -> None:
    made = guarded(tmp_path)
    answer, cookie = logged_in(made, made.bearer("read", name="ann"), next="/t/lake/sales/orders?from=now-6h")
    assert answer.json() == {"subject": "ann", "scopes": ["read"], "next": "/t/lake/sales/orders?from=now-6h"}
    attributes = answer.headers["set-cookie"].lower()
    assert "httponly" in attributes
    assert "samesite=lax" in attributes
    assert "path=/" in attributes
    assert "secure" not in attributes
    assert one(made.gate, "GET", TABLE, headers={"cookie": cookie}).status_code == 200
    assert one(made.gate, "GET", TABLE, headers={"cookie": f"a=b; {cookie}"}).status_code == 200


def test_under_https_the_cookie_is_secure_and_bound_to_the_host(tmp_path) -> None:
    made = guarded(tmp_path, public_url="https://limnograph.example.org")
    answer, cookie = logged_in(made, made.bearer("read"))
    assert "secure" in answer.headers["set-cookie"].lower()
    assert cookie.startswith("__Host-limnograph=")
    assert one(made.gate, "GET", TABLE, headers={"cookie": cookie}).status_code == 200


def test_a_session_ends_with_logout_with_its_token_and_with_time(tmp_path) -> None:
    made = guarded(tmp_path)
    first, second = made.bearer("read", name="one"), made.bearer("read", name="two")
    _, ended = logged_in(made, first)
    _, revoked = logged_in(made, second)
    _, old = logged_in(made, first)
    same = {"origin": "http://limnograph", "cookie": ended}
    assert one(made.gate, "DELETE", "/api/v1/session", headers=same).status_code == 204
    made.tokens.revoke("two")
    assert one(made.gate, "GET", TABLE, headers={"cookie": ended}).status_code == 401
    assert one(made.gate, "GET", TABLE, headers={"cookie": revoked}).status_code == 401
    assert one(made.gate, "GET", TABLE, headers={"cookie": old}).status_code == 200
    made.clock.micros += 12 * HOUR
    assert one(made.gate, "GET", TABLE, headers={"cookie": old}).status_code == 401


def test_a_cookie_that_was_changed_or_signed_for_another_purpose_is_unauthenticated(tmp_path) -> None:
    made = guarded(tmp_path)
    _, cookie = logged_in(made, made.bearer("read"))
    name, value = cookie.split("=", 1)
    body, mac = value.split(".")
    login = made.sessions.signed(b'["id","root",["read","maintain"],99999999999999999,null]', "login")
    for forged in (f"{body}x.{mac}", f"{body}.{mac[:-2]}", body, f"{body}.", login, "é", "." * 9_000):
        assert one(made.gate, "GET", TABLE, headers={"cookie": f"{name}={forged}".encode()}).status_code == 401


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "/\t/evil.example",
        "/a\n//evil.example",
        "evil.example",
        "",
        "/login?next=/x",
        "/api/v1/session",
        "/x y",
        " /x",
    ],
)
def test_a_login_redirects_to_no_other_site(target, tmp_path) -> None:
    made = guarded(tmp_path)
    answer, _ = logged_in(made, made.bearer("read"), next=target)
    assert answer.json()["next"] == "/"


def test_an_alert_link_survives_the_login(tmp_path) -> None:
    made = guarded(tmp_path)
    asked = "/t/lake/sales/orders?from=now-6h&alert=a%20b&x=1%262"
    first = one(made.gate, "GET", asked, headers={"accept": "text/html"})
    assert first.status_code == 303
    page = one(made.gate, "GET", first.headers["location"])
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert b"<script>" not in page.content
    target = parse_qs(urlsplit(first.headers["location"]).query)["next"][0]
    answer, cookie = logged_in(made, made.bearer("read"), next=target)
    assert answer.json()["next"] == asked
    assert one(made.gate, "GET", asked, headers={"cookie": cookie}).status_code == 200
    again = one(made.gate, "GET", first.headers["location"], headers={"cookie": cookie})
    assert (again.status_code, again.headers["location"]) == (303, asked)


def test_a_login_link_shows_the_page_and_takes_the_token_out_of_the_address_of_a_user_who_is_logged_in(
    tmp_path,
) -> None:
    made = guarded(tmp_path)
    assert one(made.gate, "GET", "/login/link").content == one(made.gate, "GET", "/login").content
    _, cookie = logged_in(made, made.bearer("read"))
    again = one(made.gate, "GET", "/login/link?next=/alerts", headers={"cookie": cookie})
    # Without the empty fragment, the browser would append its own: the token.
    assert (again.status_code, again.headers["location"]) == (303, "/alerts#")


# Other sites


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 204),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "none"}, 403),
        ({"origin": "http://limnograph"}, 204),
        ({"origin": "http://limnograph.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://limnograph"}, 403),
        ({}, 403),
    ],
)
def test_another_site_cannot_change_anything_with_a_browsers_cookie(headers, status, tmp_path) -> None:
    made = guarded(tmp_path)
    _, cookie = logged_in(made, made.bearer("read"))
    answer = one(made.gate, "DELETE", "/api/v1/session", headers={"cookie": cookie, **headers})
    assert answer.status_code == status
    assert one(made.gate, "GET", TABLE, headers={"cookie": cookie}).status_code == (401 if status == 204 else 200)


def test_another_site_cannot_push_to_a_server_without_authentication() -> None:
    form = {"content": b"{}", "headers": {"content-type": "text/plain", "origin": "https://evil.example"}}
    answers = ask(None, [("POST", path, form) for path in TELLING], made=parts())
    assert {answer.status_code for answer in answers} == {403}
    assert ask(None, [("POST", "/api/v1/runs", {"json": RUN})], made=parts())[0].status_code == 202


def test_a_token_is_accepted_from_any_site(tmp_path) -> None:
    made = guarded(tmp_path)
    headers = {**made.bearer("webhook"), "origin": "https://other.example"}
    assert one(made.gate, "POST", "/api/v1/runs", json=RUN, headers=headers, made=parts()).status_code == 202


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8787", 200),
        ("localhost", 200),
        ("[::1]:8787", 200),
        ("limno.example.org", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example:8787", 403),
    ],
)
def test_a_server_without_authentication_responds_only_to_its_own_names(host, status) -> None:
    gate = Authenticator(hosts={"localhost", "127.0.0.1", "::1", "limno.example.org"})
    assert one(gate, "GET", TABLE, headers={"host": host}).status_code == status


# A trusted proxy

PROXY = TrustedProxy(
    (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8")),
    b"a-shared-secret-of-the-proxy",
    b"x-forwarded-user",
    b"x-forwarded-groups",
    b"x-forwarded-email",
    {"group:sre": ("read", "webhook"), "domain:example.org": ("read",)},
)
SECRET = {"x-limnograph-proxy-secret": "a-shared-secret-of-the-proxy"}
ANN = {**SECRET, "x-forwarded-user": "ann", "x-forwarded-groups": "dev, sre"}


@pytest.mark.parametrize(
    ("headers", "peer", "status"),
    [
        (ANN, "10.1.2.3", 200),
        (ANN, "::ffff:10.1.2.3", 200),
        ({**SECRET, "x-forwarded-user": "b", "x-forwarded-email": "b@example.org"}, "fd00::1", 200),
        ({**SECRET, "x-forwarded-user": "b", "x-forwarded-email": "b@evil.example"}, "10.1.2.3", 403),
        (ANN, "192.0.2.1", 401),
        (ANN, "fe80::1", 401),
        ({**ANN, "x-limnograph-proxy-secret": "guess"}, "10.1.2.3", 401),
        ({"x-forwarded-user": "ann"}, "10.1.2.3", 401),
        (SECRET, "10.1.2.3", 401),
        ({**SECRET, "x-forwarded-user": " "}, "10.1.2.3", 401),
        ({}, "10.1.2.3", 401),
        ({**ANN, "x_forwarded_user": "root"}, "10.1.2.3", 401),
        ({**ANN, "X-Forwarded_Groups": "sre"}, "10.1.2.3", 401),
        ({**ANN, "connection": "close, X-Forwarded-User"}, "10.1.2.3", 401),
        ([*ANN.items(), ("x-forwarded-user", "root")], "10.1.2.3", 401),
        ([*ANN.items(), ("X-Forwarded-User", "root")], "10.1.2.3", 401),
    ],
)
def test_only_the_trusted_proxy_may_name_the_caller(headers, peer, status, tmp_path) -> None:
    made = guarded(tmp_path, proxy=PROXY)
    assert one(made.gate, "GET", TABLE, headers=headers, peer=peer).status_code == status


def test_behind_a_proxy_there_is_no_login_page(tmp_path) -> None:
    made = guarded(tmp_path, proxy=PROXY)
    assert one(made.gate, "GET", "/t/x/y/z").status_code == 401
    assert one(made.gate, "GET", "/login?next=/t/x/y/z").headers["location"] == "/t/x/y/z"
    assert one(made.gate, "POST", "/api/v1/session", json={"token": "x"}).status_code == 400
    assert one(made.gate, "GET", "/t/x/y/z", headers=ANN, peer="10.1.2.3").status_code == 200


def test_a_token_works_alongside_the_proxy_and_a_cookie_does_not(tmp_path) -> None:
    made = guarded(tmp_path, proxy=PROXY)
    assert one(made.gate, "GET", TABLE, headers=made.bearer("read")).status_code == 200
    plain = guarded(tmp_path)
    _, cookie = logged_in(plain, plain.bearer("read", name="two"))
    assert one(made.gate, "GET", TABLE, headers={"cookie": cookie}).status_code == 401


# The audit log


def test_state_changing_requests_are_in_the_audit_log_without_secrets(tmp_path) -> None:
    made = guarded(tmp_path)
    headers = made.bearer("webhook", name="airflow")
    token = headers["authorization"].removeprefix("Bearer ")
    ask(
        made.gate,
        [
            ("POST", "/api/v1/runs?secret=hunter2", {"json": RUN}),
            ("POST", "/api/v1/runs", {"json": RUN, "headers": headers}),
            ("POST", "/api/v1/session", {"json": {"token": token}}),
            ("GET", "/healthz", {}),
        ],
        made=parts(),
    )
    told = [(event.who, event.what, event.method, event.path, event.outcome) for event in made.audit.events]
    assert told == [
        ("", "request", "POST", "/api/v1/runs", "401"),
        ("airflow", "request", "POST", "/api/v1/runs", "202"),
        ("airflow", "login", "", "", "ok"),
        ("", "request", "POST", "/api/v1/session", "200"),
    ]
    assert "hunter2" not in repr(made.audit.events)
    assert token not in repr(made.audit.events)
    assert all(event.request_id for event in made.audit.events)
