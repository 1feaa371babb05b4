"""Fills in variables, secrets and flat properties of a parsed TOML document, independent of its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from limnograph.domain import secrecy
from limnograph.domain.errors import SettingsError


def filled(document: dict[str, Any], base: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """The document with `${NAME}` in any string replaced from the environment, and each key `x_file` replaced by `x`
    with the content of that file, relative to `base`. From then on, this process masks its secrets in every text.
    Raises SettingsError.
    """
    found: dict[str, Any] = _resolve(document, "", base, env)
    _flatten_properties(found)
    _keep_secrets(found)
    return found


def _resolve(value: Any, where: str, base: Path, env: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda match: _variable(match[1], where, env), value)
    if isinstance(value, list):
        return [_resolve(item, f"{where}[{i}]", base, env) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for key, item in value.items():
        place = f"{where}.{key}" if where else key
        if key.endswith("_file") and isinstance(item, str):
            secret = _secret(base / _resolve(item, place, base, env), place)
            secrecy.keep([secret])
            found[key.removesuffix("_file")] = secret
        else:
            found[key] = _resolve(item, place, base, env)
    return found


def _variable(name: str, where: str, env: Mapping[str, str]) -> str:
    if name not in env:
        raise SettingsError(where, f"environment variable {name} is not set")
    return env[name]


def _secret(file: Path, where: str) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise SettingsError(where, f"cannot read {file}: {error.strerror}") from error


def _flatten_properties(document: dict[str, Any]) -> None:
    """Flatten nested tables into PyIceberg's properties, whose names contain dots: TOML parses an unquoted `s3.endpoint
    = "…"` as a table.
    """
    catalogs = document.get("catalogs")
    if not isinstance(catalogs, dict):
        return
    for name, properties in catalogs.items():
        if isinstance(properties, dict):
            catalogs[name] = dict(flat(properties))


def flat(properties: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Properties with the names of nested tables joined by dots."""
    for key, value in properties.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _keep_secrets(value: Any) -> None:
    """Register the secrets of a document for masking: by key, and inside URLs."""
    if isinstance(value, dict):
        secrecy.keep(secrecy.secrets_of({key: item for key, item in value.items() if isinstance(item, str)}))
        for item in value.values():
            _keep_secrets(item)
    elif isinstance(value, list):
        for item in value:
            _keep_secrets(item)
