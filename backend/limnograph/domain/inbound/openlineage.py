"""OpenLineage's RunEvent (spec 2-0-2), with the fields that we read. Unknown fields are ignored, and a malformed facet
is treated as absent. A facet is parsed only when it is needed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

import msgspec

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Facets = dict[str, msgspec.Raw]
EventType = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]
_S = TypeVar("_S", bound=msgspec.Struct)


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base: wire names are in camel case."""


class Run(Wire, frozen=True, kw_only=True):
    """One execution of a job."""

    run_id: Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
    facets: Facets | None = None


class Job(Wire, frozen=True, kw_only=True):
    """A recurring process; unique in its namespace."""

    namespace: Annotated[str, msgspec.Meta(max_length=2_000)]
    name: Text
    facets: Facets | None = None


class Dataset(Wire, frozen=True, kw_only=True):
    """A dataset that is read or written. Namespace and name follow the dataset naming rules."""

    namespace: Annotated[str, msgspec.Meta(max_length=2_000)]
    name: Text
    facets: Facets | None = None
    input_facets: Facets | None = None
    output_facets: Facets | None = None


class RunEvent(Wire, frozen=True, kw_only=True):
    """A transition of a run. A run's events accumulate: a later one need not repeat the contents of an earlier one."""

    event_time: str
    run: Run
    job: Job
    event_type: EventType | None = None
    inputs: Annotated[list[Dataset], msgspec.Meta(max_length=10_000)] | None = None
    outputs: Annotated[list[Dataset], msgspec.Meta(max_length=10_000)] | None = None


class Static(Wire, frozen=True, kw_only=True):
    """JobEvent and DatasetEvent: they concern no run."""

    schema_url: Annotated[str, msgspec.Meta(pattern="(JobEvent|DatasetEvent)$")] = msgspec.field(name="schemaURL")


class SymlinkFacet(Wire, frozen=True, kw_only=True):
    """Element of the facet `symlinks`."""

    namespace: str
    name: str
    type: str = ""


class SymlinksFacet(Wire, frozen=True, kw_only=True):
    """Other names of a dataset: for a folder, that of the table in its catalog."""

    identifiers: list[SymlinkFacet] = []


class CatalogFacet(Wire, frozen=True, kw_only=True):
    """Catalog of a dataset. `uri`, or `metadata_uri` and `warehouse_uri` in later versions."""

    name: str
    uri: str | None = None
    metadata_uri: str | None = None
    warehouse_uri: str | None = None


class VersionFacet(Wire, frozen=True, kw_only=True):
    """Version of a dataset; for Iceberg the snapshot id, as text."""

    dataset_version: str


class Transformation(Wire, frozen=True, kw_only=True):
    """How an output column depends on an input column. `masking`: the value is fully masked."""

    type: str | None = None
    subtype: str | None = None
    masking: bool | None = None


class InputField(Wire, frozen=True, kw_only=True):
    """An input column that an output column is derived from."""

    namespace: str
    name: str
    field: str
    transformations: list[Transformation] = []


class OutputField(Wire, frozen=True, kw_only=True):
    """The lineage of an output column. `transformation_type`, of older versions: `IDENTITY` or `MASKED`."""

    input_fields: list[InputField] = []
    transformation_type: str | None = None


class ColumnLineageFacet(Wire, frozen=True, kw_only=True):
    """`columnLineage`: by column of the output."""

    fields: dict[str, OutputField] = {}


class EngineFacet(Wire, frozen=True, kw_only=True):
    """`processing_engine`."""

    version: str
    name: str | None = None


class ApplicationFacet(Wire, frozen=True, kw_only=True):
    """`spark_applicationDetails`; sent with START only."""

    application_id: str | None = None


class ErrorFacet(Wire, frozen=True, kw_only=True):
    """`errorMessage`."""

    message: str


class ParentRun(Wire, frozen=True, kw_only=True):
    """The run of a ParentFacet."""

    run_id: str


class ParentFacet(Wire, frozen=True, kw_only=True):
    """`parent`: the run that this one is a part of."""

    run: ParentRun


class ScanReportFacet(Wire, frozen=True, kw_only=True):
    """`icebergScanReport` of an input. Durations in milliseconds."""

    snapshot_id: Any = None
    filter: str | None = None
    schema_id: Any = None
    projected_field_names: list[str] | None = None
    scan_metrics: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


class InputStatisticsFacet(Wire, frozen=True, kw_only=True):
    """`inputStatistics` of an input. `size`: bytes that the run read from it; Spark writes the largest long for a
    relation whose size it does not know, so that number is malformed.
    """

    size: Annotated[int, msgspec.Meta(ge=0, lt=2**63 - 1)] | None = None


class CommitReportFacet(Wire, frozen=True, kw_only=True):
    """`icebergCommitReport` of an output. Durations in milliseconds."""

    snapshot_id: Any = None
    sequence_number: Any = None
    operation: str | None = None
    commit_metrics: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None


def facet(facets: Facets | None, name: str, kind: type[_S]) -> _S | None:
    """A facet by its name; None if it is missing or malformed."""
    raw = (facets or {}).get(name)
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
