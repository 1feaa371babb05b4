"""Spark's form of catalogs and stores that settings describe by PyIceberg's names. Names are those of Iceberg's jar."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from limnograph.adapters.spark import stores
from limnograph.adapters.spark.catalogs import spark_catalog
from limnograph.adapters.spark.session import find_jars
from limnograph.domain.errors import EnvironmentFault, SettingsError

S3 = {"s3.endpoint": "http://e:9000", "s3.access-key-id": "k", "s3.secret-access-key": "s", "s3.region": "eu-1"}
S3_OF_JAVA = {
    "s3.endpoint": "http://e:9000",
    "s3.access-key-id": "k",
    "s3.secret-access-key": "s",
    "client.region": "eu-1",
    "s3.path-style-access": "true",
}
REST = {"type": "rest", "uri": "https://r/api"}
SQL = {"type": "sql", "uri": "sqlite:////x/c.db"}


def form(properties: dict[str, str]) -> dict[str, str]:
    """Options of the catalog without Spark's prefix."""
    found = spark_catalog("lake", properties)
    assert found.pop("spark.sql.catalog.lake") == "org.apache.iceberg.spark.SparkCatalog"
    told = {key.removeprefix("spark.sql.catalog.lake."): value for key, value in found.items()}
    assert told.pop("cache-enabled") == "false"
    return told


@pytest.mark.parametrize(
    ("given", "uri"),
    [
        ("sqlite:////x/c.db", "jdbc:sqlite:file:/x/c.db"),
        ("sqlite:////x/my lake/a%3Fb.db", "jdbc:sqlite:file:/x/my%20lake/a%3Fb.db"),
        ("postgresql+psycopg2://db:5544/limno", "jdbc:postgresql://db:5544/limno"),
        ("postgresql://db/limno", "jdbc:postgresql://db:5432/limno"),
        ("postgresql://[::1]/limno", "jdbc:postgresql://[::1]:5432/limno"),
        ("postgresql://db/a%20b", "jdbc:postgresql://db:5432/a%20b"),
        (
            "postgresql://db/limno?sslmode=verify-full&sslrootcert=/a b.pem&connect_timeout=7&keepalives_idle=3",
            "jdbc:postgresql://db:5432/limno?sslmode=verify-full&sslrootcert=%2Fa+b.pem&connectTimeout=7",
        ),
    ],
)
def test_a_database_url_becomes_one_of_jdbc(given: str, uri: str) -> None:
    found = form({"type": "sql", "uri": given, "warehouse": "file:///w", "echo": "true", "pool_pre_ping": "true"})
    assert found == {"type": "jdbc", "jdbc.schema-version": "V1", "warehouse": "file:///w", "uri": uri}


@pytest.mark.parametrize(
    "given", ["postgresql://m%40e:p%40s%2Fs%3F%25@db/l", "postgresql://db/l?user=m%40e&password=p%40s%2Fs%3F%25"]
)
def test_user_and_password_are_separate_from_the_url_and_unquoted(given: str) -> None:
    found = form({"type": "sql", "uri": given})
    assert (found["jdbc.user"], found["jdbc.password"]) == ("m@e", "p@s/s?%")
    assert found["uri"] == "jdbc:postgresql://db:5432/l"


def test_a_rest_catalog_keeps_what_both_sides_call_the_same() -> None:
    same = {
        "uri": "https://r/api",
        "warehouse": "w",
        "prefix": "p",
        "token": "t",
        "credential": "id:secret",
        "oauth2-server-uri": "https://idp/token",
        "scope": "catalog",
        "audience": "a",
        "resource": "r",
        "header.X-Tenant": "acme",
        "rest.sigv4-enabled": "false",
        "snapshot-loading-mode": "refs",
    }
    pythons = {"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO", "rest.sigv4.max-retries": "3", "downcast": "x"}
    assert form({"type": "rest", **same, **pythons}) == {"type": "rest", **same}
    assert form({"uri": "https://r/api"}) == form(REST)


def test_a_signed_rest_catalog_has_the_keys_of_the_aws_client() -> None:
    keys = {"client.access-key-id": "k", "client.secret-access-key": "s", "client.region": "eu-1"}
    found = form({**REST, "rest.sigv4-enabled": "true", "rest.signing-name": "glue", **keys})
    assert found == {
        **REST,
        "rest.sigv4-enabled": "true",
        "rest.signing-name": "glue",
        "rest.access-key-id": "k",
        "rest.secret-access-key": "s",
        "rest.signing-region": "eu-1",
        "s3.access-key-id": "k",
        "s3.secret-access-key": "s",
        "client.region": "eu-1",
    }


def test_hive_and_glue_have_their_own_keys() -> None:
    assert form({"uri": "thrift://h:9083", "warehouse": "file:///w", "hive.hive2-compatible": "true"}) == {
        "type": "hive",
        "uri": "thrift://h:9083",
        "warehouse": "file:///w",
    }
    glue = {"glue.id": "123", "glue.endpoint": "http://g", "glue.skip-archive": "true", "warehouse": "s3://b/w"}
    pythons = {"glue.region": "eu-1", "glue.max-retries": "4", "glue.access-key-id": "k", "glue.secret-access-key": "s"}
    assert form({"type": "glue", **glue, **pythons}) == {"type": "glue", **glue, "client.region": "eu-1"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (S3, S3_OF_JAVA),
        (
            {"s3.endpoint": "e:9000"},
            {"s3.endpoint": "https://e:9000", "s3.path-style-access": "true", "client.region": "us-east-1"},
        ),
        ({**S3, "s3.force-virtual-addressing": "True"}, {**S3_OF_JAVA, "s3.path-style-access": "false"}),
        ({**S3, "s3.path-style-access": "false"}, {**S3_OF_JAVA, "s3.path-style-access": "false"}),
        ({"client.region": "eu-2", "s3.region": "eu-1"}, {"client.region": "eu-2"}),
        ({"client.session-token": "t", "s3.session-token": "own"}, {"s3.session-token": "own"}),
        ({"s3.profile-name": "p", "s3.resolve-region": "true"}, {}),
        (
            {"client.role-arn": "arn:x", "client.role-session-name": "n", "s3.region": "eu-1"},
            {
                "client.assume-role.arn": "arn:x",
                "client.assume-role.session-name": "n",
                "client.assume-role.region": "eu-1",
                "client.factory": "org.apache.iceberg.aws.AssumeRoleAwsClientFactory",
                "client.region": "eu-1",
            },
        ),
        (
            {"s3.signer": "S3V4RestSigner", "s3.signer.uri": "http://s"},
            {"s3.remote-signing-enabled": "true", "s3.signer.uri": "http://s"},
        ),
        (
            {"s3.anonymous": "True"},
            {"client.credentials-provider": "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider"},
        ),
        (
            {"s3.connect-timeout": "1.5", "s3.request-timeout": "30", "s3.proxy-uri": "http://p:1"},
            {
                "http-client.apache.connection-timeout-ms": "1500",
                "http-client.apache.socket-timeout-ms": "30000",
                "http-client.proxy-endpoint": "http://p:1",
            },
        ),
        (
            {"s3.server-side-encryption": "aws:kms", "s3.sse-kms-key-id": "id"},
            {"s3.sse.type": "kms", "s3.sse.key": "id"},
        ),
        (
            {"gcs.oauth2.token": "t", "gcs.project-id": "p", "gcs.consistency": "md5"},
            {"gcs.oauth2.token": "t", "gcs.project-id": "p"},
        ),
        (
            {"adls.account-name": "a", "adls.account-key": "k"},
            {"adls.auth.shared-key.account.name": "a", "adls.auth.shared-key.account.key": "k"},
        ),
        (
            {"adls.account-name": "a", "adls.sas-token": "t"},
            {"adls.auth.shared-key.account.name": "a", "adls.sas-token.a.dfs.core.windows.net": "t"},
        ),
    ],
)
def test_a_store_is_written_with_the_keys_of_spark(given: dict[str, str], expected: dict[str, str]) -> None:
    assert stores.spark_store(given) == expected
    assert form({**REST, **given}) == {**REST, **expected}


@pytest.mark.parametrize("warehouse", ["s3://b/w", "s3a://b/w", "gs://b/w", "abfss://c@a.dfs.core.windows.net/w"])
def test_where_hadoop_is_the_default_a_warehouse_in_a_store_gets_its_own_client(warehouse: str) -> None:
    assert form({**SQL, "warehouse": warehouse})["io-impl"] == stores.RESOLVING
    assert "io-impl" not in form({**SQL, "warehouse": "file:///w"})
    assert "io-impl" not in form({**SQL, "warehouse": "hdfs://n/w"})
    assert form({**SQL, "warehouse": warehouse, "io-impl": "mine"})["io-impl"] == "mine"


@pytest.mark.parametrize(
    "properties",
    [
        {"type": "sql", "uri": "mysql://x"},
        {"type": "sql"},
        {"type": "sql", "uri": "postgresql:///limno?host=/run/postgresql"},
        {"type": "dynamodb"},
    ],
)
def test_a_catalog_that_spark_cannot_open_names_its_key(properties: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"catalogs\.lake"):
        spark_catalog("lake", properties)


def test_every_java_name_exists_in_the_jar_of_iceberg() -> None:
    try:
        jar = next(jar for jar in find_jars() if jar.name.startswith("iceberg-spark-runtime"))
    except EnvironmentFault as fault:
        pytest.skip(str(fault))
    derived = {
        *stores._RENAMED.values(),
        *stores._SECONDS.values(),
        *(key for key, _ in stores._MEANT.values()),
        *("client.factory", "client.assume-role.region", "s3.path-style-access", "adls.sas-token.", "io-impl"),
        *("rest.access-key-id", "rest.secret-access-key", "rest.session-token", "rest.signing-region"),
    }
    assert {name for name in derived if name.encode() not in constants(jar)} == set()


def constants(jar: Path) -> bytes:
    """Class files that hold the names of properties, one after another."""
    names = ("aws/AwsProperties", "aws/AwsClientProperties", "aws/HttpClientProperties", "aws/s3/S3FileIOProperties")
    places = (*names, "gcp/GCPProperties", "azure/AzureProperties", "CatalogProperties")
    with zipfile.ZipFile(jar) as archive:
        return b"".join(archive.read(f"org/apache/iceberg/{place}.class") for place in places)
