"""What all settings share: frozen structs without unknown keys, and the bounds that several of them have."""

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
"""Seconds that something may take in all."""
Port = Annotated[int, msgspec.Meta(ge=0, le=MAX_PORT)]
AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]
Secret = Annotated[str, msgspec.Meta(extra={"secret": True})]
"""A credential: the page of settings says how it comes from a file."""


class FrozenSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all settings structs. The docstring of each field is its row in docs/settings.md."""
