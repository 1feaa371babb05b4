"""Settings of our own programs: where the server listens and what it holds, inbox, caches, pipeline, Spark."""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.settings.base import AtLeastOne, FrozenSettings, Port

DEFAULT_PORT = 8787


class ServerSettings(FrozenSettings, frozen=True, kw_only=True):
    """Where the server listens, and how much it holds in memory."""

    host: str = "127.0.0.1"
    """Address. Any but loopback needs `[auth]`, or `insecure = true`."""
    port: Port | None = None
    """Default 8787, or a free one when that is taken; a port that is given must be free."""
    insecure: bool = False
    """Nobody is asked who they are, on whatever address."""
    public_url: str = ""
    """Where people's browsers find it, when that is not the address it listens on; without a path."""
    page_cache_mb: Annotated[int, msgspec.Meta(ge=0)] = 64
    """Finished pages in memory, MB; 0 keeps none."""
    hot_mb: AtLeastOne = 1_000
    """What the last 48 hours may take in memory, MB. Beyond it the older hours of tables that nobody looked at lately
    are read from the meta tables.
    """
    streams: AtLeastOne = 1_000
    """Live streams that are open at once."""
    streams_per_caller: AtLeastOne = 50
    """The same for one caller."""


class InboxSettings(FrozenSettings, frozen=True, kw_only=True):
    """Where what other programs push lies until the pipeline has it."""

    url: str = ""
    """SQLAlchemy URL, SQLite or PostgreSQL; default `.limnograph/inbox.db` beside the settings file."""


class PipelineSettings(FrozenSettings, frozen=True, kw_only=True):
    """The pipeline as a long-running program."""

    metrics: str = ""
    """`host:port` where the stream serves its own numbers to Prometheus; default nowhere."""

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Host and port, as checked; port 0 is any that is free."""
        host, _, port = self.metrics.rpartition(":")
        return (host.strip("[]"), int(port)) if self.metrics else None


class CacheSettings(FrozenSettings, frozen=True, kw_only=True):
    """Rebuildable caches: losing them costs time, never truth."""

    dir: str = ""
    """Their folder; default `.limnograph/cache` beside the settings file."""


class SparkSettings(FrozenSettings, frozen=True, kw_only=True):
    """The session that the pipeline runs in."""

    master: str = "local[*]"
    """Spark's master."""
    jars: str = ""
    """Folder of jars; default `.tools/jars` of a checkout, else `limnograph/jars` in the user's cache folder, which
    `limnograph setup` or the first start of the pipeline fills.
    """
    conf: dict[str, str] = msgspec.field(default_factory=dict)
    """Entries of Spark's configuration, as they are."""
