"""Converts PyIceberg's properties of object stores and AWS clients to Iceberg-Java's. Opens nothing.

Names on the right are constants of S3FileIOProperties, AwsClientProperties, AwsProperties, HttpClientProperties,
GCPProperties and AzureProperties of Iceberg 1.11. Properties without an equivalent (named profiles, static keys for
Glue) are left to the environment of the driver and the executors: AWS_PROFILE, AWS_ACCESS_KEY_ID and similar.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

RESOLVING = "org.apache.iceberg.io.ResolvingFileIO"
"""Chooses by the scheme of a location: S3FileIO, GCSFileIO, ADLSFileIO, else Hadoop's file systems."""
STORES = ("s3:", "s3a:", "s3n:", "gs:", "abfs:", "abfss:", "wasb:", "wasbs:")
_SAME = ("s3.", "client.", "adls.", "gcs.", "http-client.", "io-impl", "io.", "kms.", "encryption.")
_RENAMED = {
    "s3.region": "client.region",
    "client.access-key-id": "s3.access-key-id",
    "client.secret-access-key": "s3.secret-access-key",
    "client.session-token": "s3.session-token",
    "s3.role-arn": "client.assume-role.arn",
    "client.role-arn": "client.assume-role.arn",
    "s3.role-session-name": "client.assume-role.session-name",
    "client.role-session-name": "client.assume-role.session-name",
    "s3.proxy-uri": "http-client.proxy-endpoint",
    "s3.sse-kms-key-id": "s3.sse.key",
    "adls.account-name": "adls.auth.shared-key.account.name",
    "adls.account-key": "adls.auth.shared-key.account.key",
}
"""S3's own properties come first: as in PyIceberg, they override those of all AWS clients."""
_SECONDS = {
    "s3.connect-timeout": "http-client.apache.connection-timeout-ms",
    "s3.request-timeout": "http-client.apache.socket-timeout-ms",
}
_MEANT = {
    ("s3.anonymous", "true"): (
        "client.credentials-provider",
        "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider",
    ),
    ("s3.signer", "s3v4restsigner"): ("s3.remote-signing-enabled", "true"),
    ("s3.server-side-encryption", "aws:kms"): ("s3.sse.type", "kms"),
    ("s3.server-side-encryption", "aws:kms:dsse"): ("s3.sse.type", "dsse-kms"),
    ("s3.server-side-encryption", "aes256"): ("s3.sse.type", "s3"),
    ("gcs.access", "anonymous"): ("gcs.no-auth", "true"),
}
_PYTHONS_OWN = {
    *("s3.resolve-region", "s3.retry-strategy-impl", "s3.profile-name", "client.profile-name"),
    *("s3.force-virtual-addressing", "adls.account-host", "gcs.session-kwargs", "gcs.consistency"),
}
DEFAULT_REGION = "us-east-1"


def spark_store(properties: Mapping[str, str]) -> dict[str, str]:
    """Storage properties of a catalog under Iceberg-Java's names; properties already given under Java's name win."""
    plain = {key: value for key, value in properties.items() if key.startswith(_SAME)}
    found = _derived(plain)
    known = {*_RENAMED, *_SECONDS, *_PYTHONS_OWN, *(key for key, _ in _MEANT)} - {*_RENAMED.values()}
    found |= {key: value for key, value in plain.items() if key not in known}
    if endpoint := plain.get("s3.endpoint"):
        found["s3.endpoint"] = endpoint if "://" in endpoint else f"https://{endpoint}"
        # With a custom endpoint, PyArrow uses path-style requests by default, Java virtual hosts.
        virtual = _true(plain.get("s3.force-virtual-addressing", ""))
        found.setdefault("s3.path-style-access", "false" if virtual else "true")
        found.setdefault("client.region", DEFAULT_REGION)
    if "client.assume-role.arn" in found:
        found.setdefault("client.factory", "org.apache.iceberg.aws.AssumeRoleAwsClientFactory")
        found.setdefault("client.assume-role.region", found.get("client.region", DEFAULT_REGION))
    if (token := plain.get("adls.sas-token")) and (account := plain.get("adls.account-name")):
        del found["adls.sas-token"]
        found[f"adls.sas-token.{account}.dfs.{plain.get('adls.account-host', 'core.windows.net')}"] = token
    return found


def needs_resolving(properties: Mapping[str, str], places: Iterable[str]) -> bool:
    """Whether tables are in a store that Hadoop's file systems, Spark's default for most catalogs, do not support."""
    return any(place.startswith(STORES) for place in places) or any(
        key.startswith(("s3.", "gcs.", "adls.")) for key in properties
    )


def _derived(plain: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, theirs in _RENAMED.items():
        if key in plain:
            found.setdefault(theirs, plain[key])
    for key, theirs in _SECONDS.items():
        if key in plain:
            found[theirs] = _milliseconds(plain[key])
    for (key, value), (theirs, meant) in _MEANT.items():
        if plain.get(key, "").lower() == value:
            found[theirs] = meant
    return found


def _true(text: str) -> bool:
    return text.lower() in {"true", "t", "1", "yes", "y", "on"}


def _milliseconds(seconds: str) -> str:
    try:
        return str(round(float(seconds) * 1000))
    except ValueError:
        return seconds  # Spark's error message names the key
