"""Settings of Limnograph's own programs: server, inbox, caches, pipeline, Spark."""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.settings.base import AtLeastOne, FrozenSettings, Port

DEFAULT_PORT = 8787


class ServerSettings(FrozenSettings, frozen=True, kw_only=True):
    """The address of the server, and how much memory it uses."""

    host: str = "127.0.0.1"
    """Address to listen on. Anything other than loopback requires `[auth]` or `insecure = true`."""
    port: Port | None = None
    """Default 8787, or any free port if that is in use. A port that is set here must be free."""
    insecure: bool = False
    """Serve without authentication on any address."""
    public_url: str = ""
    """Address for browsers, if it differs from the address the server listens on; without a path."""
    page_cache_mb: Annotated[int, msgspec.Meta(ge=0)] = 64
    """Size of the page cache, MB; 0 disables it."""
    hot_mb: AtLeastOne = 1_000
    """Memory limit for the last 48 hours of facts, MB. Above it, older hours of tables that were not viewed recently
    are evicted and read from the meta tables.
    """
    streams: AtLeastOne = 1_000
    """Maximum number of concurrent live streams."""
    streams_per_caller: AtLeastOne = 50
    """Maximum number of concurrent live streams per client."""


class InboxSettings(FrozenSettings, frozen=True, kw_only=True):
    """Durable queue of pushed runs, alerts, labels and reports, which the pipeline drains."""

    url: str = ""
    """SQLAlchemy URL, SQLite or PostgreSQL; default `.limnograph/inbox.db` next to the settings file."""


class PipelineSettings(FrozenSettings, frozen=True, kw_only=True):
    """The long-running pipeline."""

    metrics: str = ""
    """`host:port` at which the stream exposes its own metrics to Prometheus; default: not exposed."""

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Host and port, already checked; port 0 means any free one."""
        host, _, port = self.metrics.rpartition(":")
        return (host.strip("[]"), int(port)) if self.metrics else None


class CacheSettings(FrozenSettings, frozen=True, kw_only=True):
    """Rebuildable caches: losing them costs time, never data."""

    dir: str = ""
    """Folder of the caches; default `.limnograph/cache` next to the settings file."""


class SparkSettings(FrozenSettings, frozen=True, kw_only=True):
    """The Spark session of the pipeline."""

    master: str = "local[*]"
    """Spark master URL."""
    jars: str = ""
    """Folder of jars; default `.tools/jars` of a checkout, or `limnograph/jars` in the user's cache folder, which
    `limnograph setup` or the first start of the pipeline fills.
    """
    conf: dict[str, str] = msgspec.field(default_factory=dict)
    """Additional Spark configuration."""
