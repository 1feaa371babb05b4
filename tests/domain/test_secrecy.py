"""What counts as a secret, and that no text shows one."""

from __future__ import annotations

import pytest

from limnograph.domain.errors import InvalidInput, MetadataError, SourceUnavailable
from limnograph.domain.secrecy import clean, is_secret, keep, secrets_of


@pytest.mark.parametrize(
    "key",
    [
        *("token", "credential", "password", "s3.secret-access-key", "s3.access-key-id", "s3.session-token"),
        *("adls.account-key", "adls.sas-token", "gcs.oauth2.token", "header.Authorization", "header.X-Api-Key"),
        *("header.X-Own", "rest.secret-access-key", "auth.basic.password", "client.secret-access-key", "jdbc.password"),
    ],
)
def test_credentials_are_known_by_their_property(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize(
    "key",
    [
        *(
            "uri",
            "warehouse",
            "type",
            "s3.endpoint",
            "s3.region",
            "oauth2-server-uri",
            "scope",
            "token-refresh-enabled",
        ),
        *("s3.path-style-access", "auth.type", "client.region", "rest.signing-name"),
        *("header.X-Iceberg-Access-Delegation", "header.User-Agent"),
    ],
)
def test_ordinary_properties_are_not_credentials(key: str) -> None:
    assert not is_secret(key)


def test_secrets_are_found_in_keys_and_inside_urls() -> None:
    properties = {
        "credential": "client:s3cr3t-part",
        "uri": "postgresql+psycopg2://me:pa%40ss-word@db/lake?sslpassword=deep-secret",
        "warehouse": "s3://bucket/wh",
    }
    assert secrets_of(properties) == {"client:s3cr3t-part", "s3cr3t-part", "pa%40ss-word", "pa@ss-word", "deep-secret"}


@pytest.mark.parametrize(
    "text",
    [
        "cannot open postgresql://me:hunter2hunter@db:5432/lake",
        "GET http://x/v1?token=abcd1234efgh&x=1 failed",
        'said {"client_secret": "abcd1234efgh"}',
        "Authorization: Bearer abcd1234efgh.ijkl",
        "jdbc:postgresql://db/lake?user=me&password=abcd1234efgh",
        "X-Amz-Signature=abcd1234efgh expired",
    ],
)
def test_text_that_looks_like_a_credential_is_hidden(text: str) -> None:
    assert "***" in clean(text)
    assert "abcd1234efgh" not in clean(text)
    assert "hunter2hunter" not in clean(text)


@pytest.mark.parametrize(
    "text",
    [
        "the token has expired; renew the credentials of catalogs.lake",
        "catalog lake: 401 Unauthorized: the token or password was refused",
        "file:///srv/warehouse/tokens/metadata/v1.json does not exist",
        "no password supplied",
        "Basic authentication is off",
        "s3://bucket/user@example.com/part=1",
    ],
)
def test_ordinary_sentences_stay_as_they_are(text: str) -> None:
    assert clean(text) == text


def test_a_known_secret_is_hidden_in_plain_and_url_encoded_form() -> None:
    keep(["kept secret/+of mine", "short"])
    assert clean("a kept secret/+of mine b") == "a *** b"
    assert clean("?x=kept%20secret%2F%2Bof%20mine") == "?x=***"
    assert clean("kept+secret%2F%2Bof+mine") == "***"
    assert clean("short") == "short"


def test_error_messages_contain_no_secrets_whatever_they_quote() -> None:
    keep(["kept-in-errors-1"])
    for error in (SourceUnavailable("x", "kept-in-errors-1"), MetadataError("c", "at kept-in-errors-1")):
        assert "kept-in-errors" not in str(error) + error.detail
    assert "kept-in-errors" not in str(InvalidInput("f", "kept-in-errors-1"))
