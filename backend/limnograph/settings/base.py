"""Base of all settings: frozen structs that reject unknown keys, and types that several of them use."""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.ids import NO_CATALOG

FILES = NO_CATALOG
"""Catalog name of tables that have none."""
MAX_DEADLINE_SECONDS = 3600
MAX_PORT = 65_535
MIN_SECRET = 16

Deadline = Annotated[float, msgspec.Meta(gt=0, le=MAX_DEADLINE_SECONDS)]
"""A total deadline, seconds."""
Port = Annotated[int, msgspec.Meta(ge=0, le=MAX_PORT)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Secret = Annotated[str, msgspec.Meta(extra={"secret": True})]
"""A credential; docs/settings.md marks it as one that may be read from a file."""


class FrozenSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all settings structs. The docstring of each field is its row in docs/settings.md."""
