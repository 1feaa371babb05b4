"""Loads settings from one TOML file: read, fill in, convert, check."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from limnograph.domain.errors import SettingsError
from limnograph.settings.checks import checked
from limnograph.settings.filled import filled
from limnograph.settings.lines import line_of
from limnograph.settings.located import UNKNOWN, locate
from limnograph.settings.nearest import meant
from limnograph.settings.whole import Settings

CONFIG_ENV = "LIMNOGRAPH_CONFIG"


def load(path: str | Path | None, env: Mapping[str, str] = os.environ) -> Settings:
    """Load settings from `path`, or from the file that LIMNOGRAPH_CONFIG names. Raises SettingsError."""
    given = path or env.get(CONFIG_ENV)
    if not given:
        raise SettingsError("--config", f"no settings file; pass --config FILE or set {CONFIG_ENV}")
    file = Path(given)
    text, document = read_toml(file, "--config")
    try:
        return parse(document, base=file.absolute().parent, env=env, file=file.absolute())
    except SettingsError as error:
        line = line_of(text, error.field)
        raise error.at(f"{file}:{line}" if line else str(file)) from error


def read_toml(file: Path, option: str) -> tuple[str, dict[str, Any]]:
    """Text and content of a file. Raises SettingsError, which names the option that chose it."""
    try:
        text = file.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise SettingsError(option, f"cannot read {file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(option, f"{file} is not valid TOML: {error}") from error


def parse(
    document: dict[str, Any], base: Path, env: Mapping[str, str] = os.environ, file: Path | None = None
) -> Settings:
    """Settings from a parsed TOML document; relative files resolve against `base`. Raises SettingsError.

    From then on, this process masks its secrets in every text.
    """
    for own in ("base", "file"):
        if own in document:
            raise SettingsError(own, "is not a setting but the location of the settings file")
    if "maintenance" in document:
        raise SettingsError(
            "maintenance",
            "belongs in a file of its own: limnograph maintain --maintenance FILE; the server never reads it",
        )
    resolved = filled(document, base, env)
    try:
        settings = msgspec.convert({**resolved, "base": str(base), "file": str(file or "")}, Settings)
    except msgspec.ValidationError as error:
        field, said = locate(str(error), resolved)
        raise SettingsError(field, said + (meant(field) if said == UNKNOWN else "")) from error
    return checked(settings)


def reread_catalogs(settings: Settings, env: Mapping[str, str] = os.environ) -> dict[str, dict[str, str]]:
    """Read the properties of the catalogs again from the settings file and its files of secrets, so that passwords and
    tokens can be rotated while a program runs. On an error the previous values remain; the set of catalogs never
    changes.
    """
    if not settings.file:
        return settings.catalogs
    try:
        now = load(settings.file, env).catalogs
    except SettingsError:
        return settings.catalogs
    return {name: now.get(name, properties) for name, properties in settings.catalogs.items()}
