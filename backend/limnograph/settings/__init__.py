"""Settings: one TOML file, parsed once into frozen structs. Knows names, defaults and secrets, opens nothing else.

`${ENV}` inside any string is replaced from the environment; a key `x_file` is replaced by key `x` with that file's
content (secrets). Unknown keys are errors that name the key. Relative state paths are relative to the file. Every key
is documented in docs/settings.md, which `reference.py` generates from the structs.
"""

from limnograph.settings.auth import AuthSettings, OidcSettings, ProxySettings
from limnograph.settings.base import FILES
from limnograph.settings.lake import MetaSettings, ObserveSettings, PathSettings, RetentionSettings, WarehouseSettings
from limnograph.settings.loading import CONFIG_ENV, load, parse, reread_catalogs
from limnograph.settings.server import (
    DEFAULT_PORT,
    CacheSettings,
    InboxSettings,
    PipelineSettings,
    ServerSettings,
    SparkSettings,
)
from limnograph.settings.sources import AlertmanagerSettings, JobSettings, PrometheusSettings, TrinoSettings
from limnograph.settings.whole import Settings, needs_insecure, unused

__all__ = [
    "CONFIG_ENV",
    "DEFAULT_PORT",
    "FILES",
    "AlertmanagerSettings",
    "AuthSettings",
    "CacheSettings",
    "InboxSettings",
    "JobSettings",
    "MetaSettings",
    "ObserveSettings",
    "OidcSettings",
    "PathSettings",
    "PipelineSettings",
    "PrometheusSettings",
    "ProxySettings",
    "RetentionSettings",
    "ServerSettings",
    "Settings",
    "SparkSettings",
    "TrinoSettings",
    "WarehouseSettings",
    "load",
    "needs_insecure",
    "parse",
    "reread_catalogs",
    "unused",
]
