"""Settings: one TOML file, parsed once into frozen structs. Opens no other files than it and those with secrets.

`${ENV}` in any string is replaced from the environment; a key `x_file` becomes key `x` with the content of that file
(secrets). An unknown key is an error that names it. Relative paths of state are relative to the file. docs/settings.md,
which `reference.py` generates from the structs, documents every key.
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
