"""Bodies of notifications, with the fields that we read: CloudEvents, S3 events, Debezium's change events. Unknown
fields are ignored.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from limnograph.domain.inbound.openlineage import Text


class CloudEvent(msgspec.Struct, frozen=True, kw_only=True):
    """CloudEvents 1.0 in structured mode. `name`, `namespace`, `prefix`: extensions added by catalogs."""

    specversion: Annotated[str, msgspec.Meta(pattern=r"^1\.")]
    id: Text
    source: Text
    type: Text
    subject: str | None = None
    data: Any = None
    name: str | None = None
    namespace: str | None = None
    prefix: str | None = None


class S3Bucket(msgspec.Struct, frozen=True, kw_only=True):
    """Bucket of an object."""

    name: Text


class S3Object(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An object; `key` is URL-encoded in event records."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=4_096)]
    version_id: str | None = None
    sequencer: str | None = None
    e_tag: str | None = None


class S3Entity(msgspec.Struct, frozen=True, kw_only=True):
    """`s3` of a record, and `detail` of an EventBridge event."""

    bucket: S3Bucket
    object: S3Object


class S3Record(msgspec.Struct, frozen=True, kw_only=True):
    """One change of one object."""

    s3: S3Entity
    event_name: str = msgspec.field(name="eventName", default="")


class S3Event(msgspec.Struct, frozen=True, kw_only=True):
    """AWS, MinIO, RustFS and SeaweedFS send `Records`; EventBridge `detail`; SNS wraps either as text in `Message`.

    A test event of S3 and a subscription of SNS have none of them, but `Event` or `Type`.
    """

    records: Annotated[list[S3Record], msgspec.Meta(max_length=10_000)] | None = msgspec.field(
        name="Records", default=None
    )
    detail: S3Entity | None = None
    message: str | None = msgspec.field(name="Message", default=None)
    test: str | None = msgspec.field(name="Event", default=None)
    type: str | None = msgspec.field(name="Type", default=None)
    detail_type: str = msgspec.field(name="detail-type", default="")


class CatalogRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `iceberg_tables`, the table of Iceberg's JDBC and SQL catalogs."""

    catalog_name: Text
    table_namespace: Text
    table_name: Text
    metadata_location: str | None = None


class ChangeSource(msgspec.Struct, frozen=True, kw_only=True):
    """Source of a change, with the fields we need."""

    table: str | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Debezium's envelope: the row before and after; `op` is c, u, d, r (snapshot read), t (truncate) or m."""

    op: Text
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    source: ChangeSource | None = None
