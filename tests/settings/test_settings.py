"""Settings: defaults, secrets from environment and files, and errors that name the key."""

import tomllib
from pathlib import Path

import pytest

from limnograph.domain.errors import SettingsError
from limnograph.settings import Settings, load, needs_insecure, parse, reread_catalogs, unused

LEAST = {"catalogs": {"lake": {"type": "sql", "uri": "sqlite:////lake.db", "warehouse": "file:///w"}}}


def parsed(more: dict | None = None, env: dict[str, str] | None = None, base: Path = Path("/srv")) -> Settings:
    return parse({**LEAST, **(more or {})}, base, env or {})


def test_only_a_catalog_is_required_and_it_becomes_the_meta_catalog() -> None:
    settings = parsed()
    assert settings.meta_catalog == "lake"
    assert settings.meta.namespace == "limnograph"
    assert settings.server.host == "127.0.0.1"
    assert settings.inbox_url == "sqlite:////srv/.limnograph/inbox.db"
    assert settings.cache_dir == Path("/srv/.limnograph/cache")


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"server": {"prt": 1}}, "server.prt"),
        ({"srever": {}}, "srever"),
        ({"server": {"port": "high"}}, "server.port"),
        ({"server": {"port": 70000}}, "server.port"),
        ({"meta": {"catalog": "pond"}}, "meta.catalog"),
        ({"catalogs": {}}, "catalogs"),
        ({"catalogs": {"a": {}, "b": {}}}, "meta.catalog"),
        ({"observe": {"paths": [{"format": "parquet", "name": "x", "location": "/x"}]}}, "observe.paths[0].format"),
        ({"observe": {"table_deadline_seconds": 0}}, "observe.table_deadline_seconds"),
        ({"observe": {"roots": "/srv"}}, "observe.roots"),
        ({"observe": {"probes_per_second": 0}}, "observe.probes_per_second"),
        ({"observe": {"probes_at_once": 65}}, "observe.probes_at_once"),
        ({"observe": {"catalog_deadline_seconds": -1}}, "observe.catalog_deadline_seconds"),
        ({"observe": {"warehouses": [{"name": "x"}]}}, "observe.warehouses[0].location"),
        ({"file": "/x"}, "file"),
        ({"catalogs": {"lake": {"type": "sql", "pool": 3}}}, "catalogs.lake.pool"),
        ({"catalogs": {"a": {"type": "sql"}, "b": "sql"}}, "catalogs.b"),
        ({"spark": {"conf": {"spark.ui.enabled": False}}}, "spark.conf.spark.ui.enabled"),
        ({"prometheus": {"a": {"url": "http://a"}, "b": {"adress": "http://b"}}}, "prometheus.b.adress"),
        ({"prometheus": {"a": {"url": "http://a"}, "b": {}}}, "prometheus.b.url"),
        ({"jobs": [{"name": "a"}, {"name": "b", "reads": ["x", 3]}]}, "jobs[1].reads[1]"),
        ({"prometheus": {"main": {"url": "http://[::1"}}}, "prometheus.main.url"),
        ({"prometheus": {"main": {"url": "localhost:9090"}}}, "prometheus.main.url"),
        ({"prometheus": {"main": {"url": "http://p:port"}}}, "prometheus.main.url"),
        ({"base": "/tmp"}, "base"),
        ({"trino": {"url": "trino:8080", "catalog": "lake"}}, "trino.url"),
        ({"trino": {"url": "http://trino", "catalog": "lake", "token": "t"}}, "trino.url"),
        ({"trino": {"url": "http://trino", "catalog": "lake", "concurrent": 0}}, "trino.concurrent"),
        ({"trino": {"url": "http://trino", "catalog": "lake", "timeout_seconds": 0}}, "trino.timeout_seconds"),
        ({"jobs": [{"name": "a", "prometheus": "other"}]}, "jobs[0].prometheus"),
        ({"jobs": [{"name": "a"}, {"name": ""}]}, "jobs[1].name"),
        ({"objectives": [{"tables": "", "freshness_seconds": 60}]}, "objectives[0].tables"),
        ({"objectives": [{"tables": "**", "freshness_seconds": 0}]}, "objectives[0].freshness_seconds"),
        ({"jobs": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}, "jobs[2].name"),
        ({"jobs": [{"name": "a", "select": {"": "prod"}}]}, "jobs[0].select"),
        (
            {"prometheus": {"a": {"url": "http://a"}, "b": {"url": "http://b", "max_series": 0}}},
            "prometheus.b.max_series",
        ),
        ({"observe": {"table_deadline_seconds": float("nan")}}, "observe.table_deadline_seconds"),
    ],
)
def test_a_wrong_key_is_named(more: dict, field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parsed(more)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"catalogz": 1}, "catalogz: unknown key; did you mean catalogs?"),
        ({"server": {"prot": 1}}, "server.prot: unknown key; did you mean port?"),
        ({"jobs": [{"name": "a", "promq": "1"}]}, "jobs[0].promq: unknown key; did you mean promql?"),
        ({"observe": {"weather": 1}}, "observe.weather: unknown key; docs/settings.md lists all keys"),
    ],
)
def test_an_unknown_key_suggests_the_closest_one(more: dict, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parsed(more)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("port", "sentence"), [(-1, "server.port: must be at least 0"), (70_000, "server.port: must be at most 65535")]
)
def test_a_number_out_of_bounds_is_refused_with_its_bound(port: int, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        parsed({"server": {"port": port}})


def test_trinos_certificates_are_a_path_and_not_a_secret() -> None:
    trino = parsed({"trino": {"url": "https://t", "catalog": "c", "ca_certificates": "/etc/ca.pem"}}).trino
    assert trino is not None
    assert trino.ca_certificates == "/etc/ca.pem"


def test_environment_variables_are_filled_in() -> None:
    settings = parsed({"prometheus": {"main": {"url": "http://${HOST}:9090"}}}, {"HOST": "prom"})
    assert settings.prometheus["main"].url == "http://prom:9090"


def test_a_missing_environment_variable_names_key_and_variable() -> None:
    with pytest.raises(SettingsError, match=r"prometheus\.main\.url.*PROM_HOST"):
        parsed({"prometheus": {"main": {"url": "http://${PROM_HOST}"}}})


def test_a_secret_comes_from_a_file_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    settings = parsed({"prometheus": {"main": {"url": "http://p", "bearer_token_file": "token"}}}, base=tmp_path)
    assert settings.prometheus["main"].bearer_token == "s3cret"


def test_a_missing_secret_file_names_its_key(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"prometheus\.main\.bearer_token_file"):
        parsed({"prometheus": {"main": {"url": "http://p", "bearer_token_file": "token"}}}, base=tmp_path)


def test_the_file_is_named_by_option_or_environment(tmp_path: Path) -> None:
    file = tmp_path / "limnograph.toml"
    file.write_text('[catalogs.lake]\ntype = "sql"\nuri = "sqlite:////x"\n')
    assert load(None, {"LIMNOGRAPH_CONFIG": str(file)}).base == str(tmp_path)
    with pytest.raises(SettingsError, match="--config"):
        load(None, {})


@pytest.mark.parametrize("text", ["[catalogs", "\x00"])
def test_a_file_that_is_not_toml_is_an_error_that_says_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "limnograph.toml"
    file.write_text(text)
    with pytest.raises(SettingsError, match="not valid TOML"):
        load(file)


def test_keys_that_this_version_does_not_use_are_named() -> None:
    assert unused(parsed()) == []
    more = {
        "trino": {"url": "http://t", "catalog": "c"},
        "alertmanager": {"url": "http://a"},
        "jobs": [{"name": "a"}, {"name": "b", "template": "mine"}],
    }
    assert unused(parsed(more)) == ["jobs[1].template"]


@pytest.mark.parametrize(
    ("retention", "field"),
    [({"raw_days": 2}, "retention.raw_days"), ({"raw_days": 40, "hourly_days": 30}, "retention.hourly_days")],
)
def test_retention_that_would_leave_gaps_is_refused(tmp_path: Path, retention: dict[str, int], field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse({"catalogs": {"lake": {"type": "sql"}}, "retention": retention}, tmp_path)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("address", "told"),
    [("127.0.0.1:9464", ("127.0.0.1", 9464)), ("[::1]:0", ("::1", 0)), ("", None)],
)
def test_the_pipelines_own_numbers_have_an_address_or_none(address: str, told: tuple[str, int] | None) -> None:
    assert parsed({"pipeline": {"metrics": address}}).pipeline.metrics_address == told


@pytest.mark.parametrize("address", ["9464", ":9464", "127.0.0.1:", "127.0.0.1:70000", "::1:9464", "host:-1", "[h:1"])
def test_an_invalid_address_names_its_key(address: str) -> None:
    with pytest.raises(SettingsError, match=r"^pipeline\.metrics: is not an address"):
        parsed({"pipeline": {"metrics": address}})


def test_properties_with_dots_may_be_written_without_quotes(tmp_path: Path) -> None:
    text = '[catalogs.lake]\ntype = "rest"\ns3.endpoint = "http://s3"\nssl.client.cert = "/c"\n"s3.region" = "r"\n'
    found = parse(tomllib.loads(text), tmp_path, {}).catalogs["lake"]
    assert found == {"type": "rest", "s3.endpoint": "http://s3", "ssl.client.cert": "/c", "s3.region": "r"}


def test_every_property_of_a_catalog_may_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from-file\n")
    properties = {"uri": "pg://u:${PW}@h", "credential_file": "secret", "s3": {"secret-access-key_file": "secret"}}
    found = parse({"catalogs": {"lake": {**properties, "header.X": "${PW}"}}}, tmp_path, {"PW": "from-env"})
    assert found.catalogs["lake"] == {
        "uri": "pg://u:from-env@h",
        "credential": "from-file",
        "s3.secret-access-key": "from-file",
        "header.X": "from-env",
    }


def test_catalogs_are_reloaded_with_the_present_content_of_their_secret_files(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("one")
    file = tmp_path / "limnograph.toml"
    file.write_text('[catalogs.lake]\ntype = "rest"\nuri = "http://x"\ntoken_file = "token"\n')
    settings = load(file, {})
    (tmp_path / "token").write_text("two")
    assert reread_catalogs(settings, {})["lake"]["token"] == "two"
    file.write_text("[not toml")
    assert reread_catalogs(settings, {})["lake"]["token"] == "one"
    assert reread_catalogs(parse({"catalogs": {"lake": {}}}, tmp_path, {}), {}) == {"lake": {}}


OIDC = {"issuer": "https://idp.example.org", "client_id": "x", "grants": {"*": ["read"]}}
PROXY = {"addresses": ["10.0.0.0/8"], "secret": "0123456789abcdef", "grants": {"*": ["read"]}}
HTTPS = {"public_url": "https://limnograph.example.org"}


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"auth": {"mode": "password"}}, "auth.mode"),
        ({"auth": {"session_hours": 0}}, "auth.session_hours"),
        ({"auth": {"session_key": "short"}}, "auth.session_key"),
        ({"auth": {"mode": "oidc"}}, "auth.oidc"),
        ({"auth": {"mode": "oidc", "oidc": OIDC}}, "server.public_url"),
        ({"auth": {"mode": "oidc", "oidc": {**OIDC, "issuer": "http://idp"}}, "server": HTTPS}, "auth.oidc.issuer"),
        ({"auth": {"mode": "oidc", "oidc": {**OIDC, "grants": {}}}, "server": HTTPS}, "auth.oidc.grants"),
        (
            {"auth": {"mode": "oidc", "oidc": {**OIDC, "grants": {"sre": ["read"]}}}, "server": HTTPS},
            "auth.oidc.grants",
        ),
        ({"auth": {"mode": "proxy"}}, "auth.proxy"),
        ({"auth": {"mode": "proxy", "proxy": {**PROXY, "addresses": []}}}, "auth.proxy.addresses"),
        ({"auth": {"mode": "proxy", "proxy": {**PROXY, "addresses": ["proxy"]}}}, "auth.proxy.addresses[0]"),
        ({"auth": {"mode": "proxy", "proxy": {**PROXY, "secret": "x"}}}, "auth.proxy.secret"),
        ({"auth": {"mode": "proxy", "proxy": {**PROXY, "user_header": "X_User"}}}, "auth.proxy.user_header"),
        ({"server": {"public_url": "https://x/limnograph"}}, "server.public_url"),
        ({"server": {"page_cache_mb": -1}}, "server.page_cache_mb"),
        ({"server": {"streams": 0}}, "server.streams"),
    ],
)
def test_insecure_or_unusable_authentication_settings_are_refused_and_named(more, field) -> None:
    with pytest.raises(SettingsError) as error:
        parsed(more)
    assert error.value.field == field


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "limnograph.example.org", "127.0.0.1.example.org"])
@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ({}, True),
        ({"server": {"insecure": True}}, False),
        ({"auth": {"mode": "tokens"}}, False),
        ({"auth": {"mode": "proxy", "proxy": PROXY}}, False),
        ({"auth": {"mode": "oidc", "oidc": OIDC}, "server": HTTPS}, False),
    ],
)
def test_a_public_address_needs_authentication_or_an_explicit_opt_out(host, more, refused) -> None:
    assert needs_insecure(host, parsed(more)) is refused
    for loopback in ("127.0.0.1", "::1", "localhost", "127.0.0.2"):
        assert not needs_insecure(loopback, parsed(more))


@pytest.mark.parametrize(
    ("name", "remedy"), [("files", "choose another"), ("a.b", "remove the dots"), ("", "remove the dots")]
)
def test_a_catalog_with_an_invalid_name_is_refused(tmp_path: Path, name: str, remedy: str) -> None:
    with pytest.raises(SettingsError, match=remedy) as refused:
        parse({"catalogs": {name: {"type": "sql"}}}, tmp_path, {})
    assert refused.value.field == f"catalogs.{name}"
