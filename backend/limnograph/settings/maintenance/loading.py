"""Loads the file of `limnograph maintain`, and the settings that it is laid over."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from limnograph.domain.errors import SettingsError
from limnograph.domain.ids import NO_CATALOG
from limnograph.domain.maintenance.policy import MaintenancePolicy
from limnograph.settings.checks import checked
from limnograph.settings.filled import filled, flat
from limnograph.settings.lake import ObserveSettings
from limnograph.settings.lines import line_of
from limnograph.settings.loading import CONFIG_ENV, load, parse, read_toml
from limnograph.settings.located import UNKNOWN, locate
from limnograph.settings.maintenance.policies import policy_of
from limnograph.settings.maintenance.sections import MaintenanceFile, MaintenanceSettings
from limnograph.settings.nearest import meant
from limnograph.settings.whole import Settings

OPTION = "--maintenance"
SECTION = "maintenance"
_PAGE = "docs/maintenance-settings.md"


class MaintainSettings(NamedTuple):
    """Everything that `limnograph maintain` needs to know.

    policy    what it may do
    settings  with the credentials that may write; they are not read again while the program runs
    catalogs  names of the catalogs in which it may write
    spark     Spark configuration: that of the settings with that of the maintenance file
    master    Spark master URL
    file      the maintenance file
    """

    policy: MaintenancePolicy
    settings: Settings
    catalogs: frozenset[str]
    spark: dict[str, str]
    master: str
    file: Path


def load_maintenance(
    path: str | Path, settings_path: str | Path | None = None, env: Mapping[str, str] = os.environ
) -> MaintainSettings:
    """Load the maintenance file, and the settings: from `settings_path`, else from the file that LIMNOGRAPH_CONFIG
    names, else from the sections of the settings in the maintenance file itself. Raises SettingsError with file and
    line.
    """
    file = Path(path).absolute()
    text, document = read_toml(file, OPTION)
    try:
        maintenance = _converted(filled({SECTION: _section(document)}, file.parent, env)).maintenance
    except SettingsError as error:
        raise _located(error, file, text) from error
    settings = _settings(file, text, document, settings_path or env.get(CONFIG_ENV), env)
    try:
        return _joined(maintenance, settings, file)
    except SettingsError as error:
        raise _located(error, file, text) from error


def _section(document: dict[str, Any]) -> Any:
    """The program's own section, taken out of the document."""
    if SECTION not in document:
        raise SettingsError(SECTION, f"is missing; a maintenance file has a section [{SECTION}] ({_PAGE})")
    return document.pop(SECTION)


def _located(error: SettingsError, file: Path, text: str) -> SettingsError:
    line = line_of(text, error.field)
    return error.at(f"{file}:{line}" if line else str(file))


def _converted(document: dict[str, Any]) -> MaintenanceFile:
    section = document[SECTION]
    if isinstance(section, dict):
        for name in ("catalogs", "spark"):
            if isinstance(section.get(name), dict):
                section[name] = _flattened(section[name], by_name=name == "catalogs")
    try:
        return msgspec.convert(document, MaintenanceFile)
    except msgspec.ValidationError as error:
        field, said = locate(str(error), document, MaintenanceFile)
        raise SettingsError(field, said + (meant(field, MaintenanceFile, _PAGE) if said == UNKNOWN else "")) from error


def _flattened(properties: dict[str, Any], *, by_name: bool) -> dict[str, Any]:
    """Properties whose names contain dots, which TOML parses as tables if they are unquoted."""
    if not by_name:
        return dict(flat(properties))
    return {name: dict(flat(each)) if isinstance(each, dict) else each for name, each in properties.items()}


def _settings(
    file: Path, text: str, document: dict[str, Any], config: str | Path | None, env: Mapping[str, str]
) -> Settings:
    """The settings. `document`: what the maintenance file contains besides its own section."""
    if config and Path(config).absolute() != file:
        if document:
            key = next(iter(document))
            error = SettingsError(key, f"belongs in {config}, the settings file in use; move it there")
            raise _located(error, file, text)
        return load(config, env)
    if not document:
        raise SettingsError(
            "--config",
            f"no settings; pass --config FILE, set {CONFIG_ENV}, or add [catalogs.NAME] and others to {file}",
        )
    try:
        return parse(document, base=file.parent, env=env, file=file)
    except SettingsError as error:
        raise _located(error, file, text) from error


def _joined(maintenance: MaintenanceSettings, settings: Settings, file: Path) -> MaintainSettings:
    catalogs = dict(settings.catalogs)
    for name, properties in maintenance.catalogs.items():
        if name == NO_CATALOG:
            continue
        if name not in catalogs and "type" not in properties:
            known = ", ".join(catalogs)
            raise SettingsError(
                f"{SECTION}.catalogs.{name}",
                f"is none of the settings' catalogs ({known}); a new one needs type and uri",
            )
        catalogs[name] = catalogs.get(name, {}) | properties
    # Without a file, credentials are not read again from the settings, which have those that may only read.
    observe = _written_without_catalog(settings.observe, maintenance.catalogs.get(NO_CATALOG, {}))
    joined = msgspec.structs.replace(
        settings,
        catalogs=catalogs,
        observe=observe,
        meta=msgspec.structs.replace(settings.meta, catalog=settings.meta_catalog),
        file="",
    )
    try:
        checked(joined)
    except SettingsError as error:
        raise SettingsError(f"{SECTION}.{error.field}", error.detail) from error
    policy = policy_of(maintenance, catalogs)
    _check_writable(policy, maintenance)
    return MaintainSettings(
        policy=policy,
        settings=joined,
        catalogs=frozenset(maintenance.catalogs),
        spark={**settings.spark.conf, **maintenance.spark},
        master=maintenance.master or settings.spark.master,
        file=file,
    )


def _written_without_catalog(observe: ObserveSettings, properties: dict[str, str]) -> ObserveSettings:
    """Paths and warehouses with the properties of `[maintenance.catalogs.files]`."""
    replace = msgspec.structs.replace
    return replace(
        observe,
        paths=tuple(replace(path, properties=path.properties | properties) for path in observe.paths),
        warehouses=tuple(replace(each, properties=each.properties | properties) for each in observe.warehouses),
    )


def _check_writable(policy: MaintenancePolicy, maintenance: MaintenanceSettings) -> None:
    modes = {policy.mode} | {rule.mode for rule in policy.rules}
    if modes & {"approve", "auto"} and not maintenance.catalogs:
        raise SettingsError(
            f"{SECTION}.catalogs", "is missing: name each catalog that may be written, as [maintenance.catalogs.lake]"
        )
