"""Logging in by OpenID Connect: the honest way works, every bent one ends in 401 or 403."""

import asyncio
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from access_kit import guarded
from identity_provider import CLIENT, ISSUER, Provider
from limnograph.adapters.access.oidc import OidcClient, OidcProvider
from limnograph.adapters.access.provider_keys import AGAIN_S, FAILED_S, FRESH_S, LONGEST_S
from serving_kit import HOUR, NOW, client, lake, parts, row

MADE = parts(lake([row(1, NOW - HOUR, 5)]))
TABLE = "/api/v1/tables/lake/sales/orders"
PUBLIC = "https://limnograph.example.org"
LINK = "/t/lake/sales/orders?from=now-6h&x=1%262"
GRANTS = {"group:sre": ("read", "webhook"), "domain:example.org": ("read",)}


class World:
    """A provider, a gate that trusts it, and a browser."""

    def __init__(self, folder: Any, **given: Any) -> None:
        self.provider = Provider(int(time.time()))
        them = OidcClient(ISSUER, CLIENT, "a secret: & all", f"{PUBLIC}/login/callback", **given)
        self.seconds = 1_000.0
        ours = OidcProvider(them, httpx.ASGITransport(app=self.provider), lambda: self.seconds)
        self.made = guarded(folder, public_url=PUBLIC, provider=ours, grants=GRANTS)

    def run(self, scenario: Any) -> Any:
        async def in_browser() -> Any:
            async with client(MADE, gate=self.made.gate, url=PUBLIC) as http:
                return await scenario(http)

        return asyncio.run(in_browser())

    async def back(self, http: httpx.AsyncClient, **bent: Any) -> httpx.Response:
        """From the link to the provider and back."""
        away = await http.get("/login/start", params={"next": LINK})
        assert away.status_code == 303
        query = {name: values[0] for name, values in parse_qs(urlsplit(away.headers["location"]).query).items()}
        assert query["code_challenge_method"] == "S256"
        assert query["redirect_uri"] == f"{PUBLIC}/login/callback"
        given = {"code": self.provider.log_in(away.headers["location"]), "state": query["state"], **bent}
        return await http.get("/login/callback", params={n: v for n, v in given.items() if v is not None})


def test_a_login_returns_to_the_link_with_a_session_of_the_granted_scopes(tmp_path) -> None:
    world = World(tmp_path)

    async def scenario(http):
        page = await http.get("/login", params={"next": LINK})
        assert b"/login/start?next=" in page.content
        back = await world.back(http)
        assert (back.status_code, back.headers["location"]) == (303, LINK)
        table = await http.get(TABLE)
        run = {"run_id": "r", "job_name": "j", "status": "ok", "started_at": 1, "ended_at": 2}
        return table, await http.post("/api/v1/runs", json=run, headers={"origin": PUBLIC})

    table, run = world.run(scenario)
    assert (table.status_code, run.status_code) == (200, 202)
    assert [event.who for event in world.made.audit.events if event.what == "login"] == ["Ann@Example.org"]
    path, form = world.provider.asked[0]
    assert (path, form["grant_type"]) == ("/token", "authorization_code")
    assert "client_secret" not in form  # sent as basic authentication


@pytest.mark.parametrize(
    "bent", [{"state": "other"}, {"state": None}, {"code": None}, {"code": "guess"}, {"error": "denied"}]
)
def test_a_login_not_started_here_or_failed_at_the_provider_is_unauthenticated(bent, tmp_path) -> None:
    world = World(tmp_path)

    async def scenario(http):
        return await world.back(http, **bent), await http.get(TABLE)

    assert [answer.status_code for answer in world.run(scenario)] == [401, 401]


def test_a_login_is_bound_to_its_browser_and_its_time(tmp_path) -> None:
    world = World(tmp_path)

    async def scenario(http):
        away = await http.get("/login/start")
        query = parse_qs(urlsplit(away.headers["location"]).query)
        url = {"code": world.provider.log_in(away.headers["location"]), "state": query["state"][0]}
        kept = dict(http.cookies)
        http.cookies.clear()
        other = await http.get("/login/callback", params=url)
        world.made.clock.micros += HOUR
        late = await http.get(
            "/login/callback", params=url, headers={"cookie": "; ".join(f"{n}={v}" for n, v in kept.items())}
        )
        return other, late

    assert [answer.status_code for answer in world.run(scenario)] == [401, 401]


STRANGER = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({"aud": "another"}, 401),
        ({"iss": "https://evil.example"}, 401),
        ({"exp": int(time.time()) - 120}, 401),
        ({"exp": None}, 401),
        ({"iat": None}, 401),
        ({"nonce": "another"}, 401),
        ({"azp": "another"}, 401),
        ({"aud": ["another", "limnograph"]}, 401),
        ({"aud": ["another", "limnograph"], "azp": "limnograph"}, 303),
        ({"aud": ["limnograph"]}, 303),
        ({"aud": []}, 401),
        ({"exp": "soon"}, 401),
        ({"iat": int(time.time()) + 3_600}, 401),
        ({"nbf": int(time.time()) + 3_600}, 401),
        ({"at_hash": "another"}, 401),
        ({"sub": None}, 401),
        ({"groups": None, "email_verified": False}, 403),
        ({"groups": None, "email_verified": None}, 403),
        ({"groups": None, "email": "ann@example.org.evil.example"}, 403),
        ({"groups": ["other"], "email": None}, 403),
        ({"groups": "sre"}, 303),
        ({"groups": {"sre": 1}, "email": ["x"]}, 403),
        ({"groups": None}, 303),
    ],
)
def test_the_claims_of_the_token_decide(claims, status, tmp_path) -> None:
    world = World(tmp_path)
    world.provider.claims = claims
    assert world.run(world.back).status_code == status


def test_signatures_by_another_key_or_a_shared_secret_are_refused(tmp_path) -> None:
    for key, algorithm in ((STRANGER, "RS256"), ("k" * 32, "HS256"), (None, "none")):
        world = World(tmp_path)
        world.provider.key, world.provider.algorithm = key, algorithm
        assert world.run(world.back).status_code == 401


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ((500, b""), 503),
        ((200, b"[]"), 503),
        ((200, b"{}"), 401),
        ((200, b'{"id_token": "x.y.z"}'), 401),
        ((302, b""), 503),
    ],
)
def test_a_failing_provider_is_a_failed_source(answer, status, tmp_path) -> None:
    world = World(tmp_path)
    world.provider.answer = answer
    assert world.run(world.back).status_code == status


@pytest.mark.parametrize(
    "document", [{"issuer": "https://evil.example"}, {"token_endpoint": "http://idp.example.org/token"}]
)
def test_a_discovery_document_of_another_issuer_is_refused(document, tmp_path) -> None:
    world = World(tmp_path)
    world.provider.document = document
    assert world.run(lambda http: http.get("/login/start")).status_code == 503


def test_a_token_from_the_provider_is_accepted_as_a_bearer_token(tmp_path) -> None:
    world = World(tmp_path)
    good, strange = world.provider.token(), jwt.encode({"sub": "x"}, "k" * 32, headers={"kid": "other"})

    async def scenario(http):
        ask = [(good, 200), (good[:-4] + "AAAA", 401), (strange, 401), ("a.b.c", 401), ("x" * 20_000, 401)]
        for token, status in ask:
            answer = await http.get(TABLE, headers={"authorization": f"Bearer {token}"})
            assert answer.status_code == status

    world.run(scenario)
    assert world.provider.keys_read == 1


def test_a_key_replaced_under_the_same_id_locks_no_one_out(tmp_path) -> None:
    world = World(tmp_path)

    async def scenario(http):
        first = await world.back(http)
        world.provider.rotate()
        world.seconds += AGAIN_S
        second = await world.back(http)
        return first.status_code, second.status_code

    assert world.run(scenario) == (303, 303)
    assert world.provider.keys_read == 2


def test_tokens_with_unknown_keys_neither_flood_the_provider_nor_evict_its_keys(tmp_path) -> None:
    world = World(tmp_path)
    good = world.provider.token()
    forged = jwt.encode({"sub": "x"}, STRANGER, algorithm="RS256", headers={"kid": "k1"})

    async def asked(http, token):
        return (await http.get(TABLE, headers={"authorization": f"Bearer {token}"})).status_code

    async def scenario(http):
        assert await asked(http, good) == 200
        world.seconds += AGAIN_S
        assert {await asked(http, forged) for _ in range(5)} == {401}
        assert world.provider.keys_read == 2
        world.provider.broken = True
        world.seconds += AGAIN_S
        assert {await asked(http, forged) for _ in range(2)} == {401}  # not 503: the keys that are known do not fit
        assert world.provider.keys_read == 3
        assert await asked(http, good) == 200
        world.seconds += FRESH_S
        assert await asked(http, good) == 200
        world.seconds += LONGEST_S
        return await asked(http, good)

    assert world.run(scenario) == 503


def test_keys_that_were_never_read_are_a_failed_source_until_they_are_read(tmp_path) -> None:
    world = World(tmp_path)
    world.provider.broken = True

    async def scenario(http):
        first = [(await world.back(http)).status_code for _ in range(3)]
        assert world.provider.keys_read == 1
        world.provider.broken = False
        world.seconds += FAILED_S
        return first, (await world.back(http)).status_code

    assert world.run(scenario) == ([503] * 3, 303)


def test_a_token_without_a_key_id_is_checked_by_the_only_key(tmp_path) -> None:
    world = World(tmp_path)
    world.provider.kid = None
    assert world.run(world.back).status_code == 303


def test_an_oversized_response_is_refused(tmp_path) -> None:
    world = World(tmp_path)
    world.provider.answer = (200, b'{"id_token": "' + b"x" * 2_000_000 + b'"}')
    assert world.run(world.back).status_code == 503
