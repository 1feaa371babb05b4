"""What the argument of `limnograph advise` names: a location, or a table of the settings."""

from __future__ import annotations

from pathlib import Path


def is_location(text: str) -> bool:
    """Whether it is a place rather than `catalog.namespace.table`: it has a slash, or something of that name exists."""
    return "/" in text or text.endswith((".json", ".json.gz")) or text in {".", ".."} or Path(text).exists()
