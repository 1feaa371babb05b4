"""Settings of sources other than the lake: Prometheus, Alertmanager, Trino, and the jobs whose series are drawn."""

from __future__ import annotations

import msgspec

from limnograph.settings.base import AtLeastOne, Deadline, FrozenSettings, Secret


class PrometheusSettings(FrozenSettings, frozen=True, kw_only=True):
    """A Prometheus server."""

    url: str
    """`http://host:port`, with a path if it is served below one."""
    public_url: str = ""
    """Address for browsers, used in links to a lane's query; default `url`."""
    timeout_seconds: Deadline = 5.0
    """Total deadline per query in seconds, including redirects and the body."""
    max_series: AtLeastOne = 1_000
    """Maximum number of series in a response; larger responses are truncated and marked."""
    bearer_token: Secret = ""
    """Sent with each query; default none."""


class AlertmanagerSettings(FrozenSettings, frozen=True, kw_only=True):
    """The Alertmanager that alerts link to; it is also queried for alerts that no webhook delivered."""

    url: str
    """`http://host:port`."""
    public_url: str = ""
    """Address for browsers, used in links to alerts and silences; default `url`."""


class TrinoSettings(FrozenSettings, frozen=True, kw_only=True):
    """The Trino coordinator that reads rows older than two days, and names in the events that Trino sends. Without a
    coordinator, or when it fails, polars reads the rows.
    """

    url: str = ""
    """`http://host:port`; https is required with a password or token. Empty: Trino reads no rows."""
    catalog: str = ""
    """Name of the meta catalog in Trino; required with `url`."""
    catalogs: dict[str, str] = msgspec.field(default_factory=dict)
    """Names of `[catalogs.*]` by Trino's names, for its events: `{ iceberg = "lake" }`. Only those that differ."""
    schema: str = ""
    """Name of the meta namespace in Trino, if it differs."""
    user: str = "limnograph"
    """User that queries run as."""
    password: Secret = ""
    """Password of that user; default none."""
    token: Secret = ""
    """A JWT instead of a password; default none."""
    ca_certificates: str = ""
    """Path of a PEM file with the CA certificates that verify the coordinator; default: the public authorities."""
    timeout_seconds: Deadline = 6.0
    """Total deadline per query in seconds, after which it is cancelled."""
    concurrent: AtLeastOne = 4
    """Maximum number of concurrent queries."""


class JobSettings(FrozenSettings, frozen=True, kw_only=True):
    """A job that reads or writes tables. Not needed for jobs that declare their tables by labels or runs."""

    name: str
    """Job name, as in label `job_name`."""
    reads: tuple[str, ...] = ()
    """Tables, `catalog.namespace.table`."""
    writes: tuple[str, ...] = ()
    """Tables, `catalog.namespace.table`."""
    select: dict[str, str] = msgspec.field(default_factory=dict)
    """Label values that select its series."""
    template: str = "spark_job_duration"
    """Named query for its duration. This version has only one."""
    promql: str = ""
    """PromQL for its duration in seconds; replaces the template."""
    median: str = ""
    """PromQL for the duration of its median run in seconds, drawn as a thin line; default: computed from the latest
    runs.
    """
    load: str = ""
    """PromQL for its load (rows or bytes read, any unit), by which Explain distinguishes more work from slower work."""
    cpu: str = ""
    """PromQL for the number of busy cores; default: Spark's `metrics_executor_*` of the application with its name."""
    spill: str = ""
    """PromQL for the bytes that it spills to disk. Spark's own endpoint does not export them."""
    executors: str = ""
    """PromQL for its number of executors; default as for `cpu`."""
    memory: str = ""
    """PromQL for the bytes of memory that it uses; default as for `cpu`: the storage memory of its executors."""
    slot_lag: str = ""
    """PromQL for the bytes that its source keeps until the job has read them, such as the WAL that a PostgreSQL
    replication slot holds; drawn as lane `slot_lag`.
    """
    prometheus: str = ""
    """The server of `[prometheus.*]` that has its series, if there are several."""
