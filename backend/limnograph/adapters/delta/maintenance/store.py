"""Where deltalake finds a table, with which options of its store, and whether commits are safe there (H16).

Two writers of a Delta log must not overwrite each other's commit. Local disks, Azure and Google Cloud Storage refuse
that. S3 does only if all writers of the table use conditional puts, or all use a lock: a user has to say which one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from limnograph.adapters.storage.places import place_of
from limnograph.domain.errors import InvalidInput

COMMITS = "delta.commits"
"""Property of a table's store: `conditional-put`, or `dynamodb:TABLE`."""
CONDITIONAL, LOCK = "conditional-put", "dynamodb:"
_ALWAYS_SAFE = frozenset({"file", "abfs", "az", "gs"})
_NAMES = {
    "s3.endpoint": "AWS_ENDPOINT_URL",
    "s3.access-key-id": "AWS_ACCESS_KEY_ID",
    "s3.secret-access-key": "AWS_SECRET_ACCESS_KEY",
    "s3.session-token": "AWS_SESSION_TOKEN",
    "s3.region": "AWS_REGION",
    "s3.force-virtual-addressing": "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
    "client.access-key-id": "AWS_ACCESS_KEY_ID",
    "client.secret-access-key": "AWS_SECRET_ACCESS_KEY",
    "client.session-token": "AWS_SESSION_TOKEN",
    "client.region": "AWS_REGION",
    "adls.account-name": "AZURE_STORAGE_ACCOUNT_NAME",
    "adls.account-key": "AZURE_STORAGE_ACCOUNT_KEY",
    "adls.sas-token": "AZURE_STORAGE_SAS_TOKEN",
    "adls.tenant-id": "AZURE_STORAGE_TENANT_ID",
    "adls.client-id": "AZURE_STORAGE_CLIENT_ID",
    "adls.client-secret": "AZURE_STORAGE_CLIENT_SECRET",
}
"""deltalake's options by the names that PyIceberg uses."""


class DeltaPlace(NamedTuple):
    """Folder of a table, and the properties of its store with PyIceberg's names."""

    location: str
    properties: Mapping[str, str] = {}


def address(resolved: str) -> str:
    """How deltalake names a resolved location."""
    place = place_of(resolved)
    if (path := place.local) is not None:
        return str(path)
    return f"{place.family}://{place.authority}{place.path}"


def store_options(place: DeltaPlace) -> dict[str, str]:
    """Options of deltalake. The environment's own credentials apply where none are given."""
    found = {_NAMES[name]: value for name, value in place.properties.items() if name in _NAMES}
    if found.get("AWS_ENDPOINT_URL", "").startswith("http://"):
        found["AWS_ALLOW_HTTP"] = "true"
    if "AWS_ENDPOINT_URL" in found:
        found.setdefault("AWS_REGION", "us-east-1")
    commits = place.properties.get(COMMITS, "").strip()
    if commits == CONDITIONAL:
        found["AWS_CONDITIONAL_PUT"] = "etag"
    elif commits.startswith(LOCK):
        found |= {"AWS_S3_LOCKING_PROVIDER": "dynamodb", "DELTA_DYNAMO_TABLE_NAME": commits.removeprefix(LOCK)}
    return found


def has_exclusive_puts(place: DeltaPlace, resolved: str) -> bool:
    """Whether no writer's commit can overwrite another one, as far as the settings say."""
    commits = place.properties.get(COMMITS, "").strip()
    is_told = commits == CONDITIONAL or (commits.startswith(LOCK) and commits != LOCK)
    return is_told or place_of(resolved).family in _ALWAYS_SAFE


def require_safe_commits(place: DeltaPlace, resolved: str) -> None:
    """Raises InvalidInput if another writer's commit could be overwritten."""
    if has_exclusive_puts(place, resolved):
        return
    raise InvalidInput(
        "table",
        f"is on {place_of(resolved).family}, where two writers can overwrite each other's commit (H16): set the "
        f"property `{COMMITS}` of its store to `{CONDITIONAL}` if all writers use conditional puts, or to "
        f"`{LOCK}TABLE` if all use that DynamoDB table",
    )
