"""Settings of what is asked beside the lake: Prometheus, Alertmanager, Trino, and the jobs whose series are drawn."""

from __future__ import annotations

import msgspec

from limnograph.settings.base import AtLeastOne, Deadline, FrozenSettings, Secret


class PrometheusSettings(FrozenSettings, frozen=True, kw_only=True):
    """A Prometheus server."""

    url: str
    """`http://host:port`, with a path where it is served below one."""
    public_url: str = ""
    """Where browsers find it, for links to a lane's question; default `url`."""
    timeout_seconds: Deadline = 5.0
    """Total deadline of one answer, redirects and body included, seconds."""
    max_series: AtLeastOne = 1_000
    """An answer with more series is cut and says so."""
    bearer_token: Secret = ""
    """Sent with each question; default none."""


class AlertmanagerSettings(FrozenSettings, frozen=True, kw_only=True):
    """The Alertmanager that alerts link back to, and that is asked about those which were not told."""

    url: str
    """`http://host:port`."""
    public_url: str = ""
    """Where browsers find it, for links to alerts and silences; default `url`."""


class TrinoSettings(FrozenSettings, frozen=True, kw_only=True):
    """The Trino coordinator for rows older than two days; polars reads them without it, and when it fails."""

    url: str
    """`http://host:port`; https where a password or token is sent."""
    catalog: str
    """Trino's name of the meta catalog."""
    schema: str = ""
    """Trino's name of the meta namespace, when it is another one."""
    user: str = "limnograph"
    """Whom queries run as."""
    password: Secret = ""
    """Of that user; default none."""
    token: Secret = ""
    """A JWT instead of a password; default none."""
    ca_certificates: str = ""
    """Path of a PEM file with the certificates that the coordinator is proved by; default the usual authorities."""
    timeout_seconds: Deadline = 6.0
    """Total deadline of a query, seconds; then it is cancelled."""
    concurrent: AtLeastOne = 4
    """Queries at once."""


class JobSettings(FrozenSettings, frozen=True, kw_only=True):
    """A job that reads or writes tables. Jobs that tell their tables by labels or runs need none."""

    name: str
    """As in label `job_name`."""
    reads: tuple[str, ...] = ()
    """Tables, `catalog.namespace.table`."""
    writes: tuple[str, ...] = ()
    """Tables, `catalog.namespace.table`."""
    select: dict[str, str] = msgspec.field(default_factory=dict)
    """Values of labels that narrow its series."""
    template: str = "spark_job_duration"
    """Named query for its duration. This version has no other one."""
    promql: str = ""
    """PromQL of its duration in seconds, instead of the template."""
    median: str = ""
    """PromQL of its median run in seconds, drawn thin beside the duration; without it the newest runs tell it."""
    load: str = ""
    """PromQL of how much it had to do (rows or bytes read, any unit): by it Explain tells more work from slow work."""
    cpu: str = ""
    """PromQL of the cores it keeps busy; default Spark's own `metrics_executor_*` of the application of its name."""
    spill: str = ""
    """PromQL of the bytes that it spills to disk. Spark's own endpoint does not tell them."""
    executors: str = ""
    """PromQL of how many executors it has; default as for `cpu`."""
    prometheus: str = ""
    """The server of `[prometheus.*]` that has its series, when several may."""
