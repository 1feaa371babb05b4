"""Base of the sections `[findings.CODE]`, and the types of their thresholds."""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.settings.base import FrozenSettings

Count = Annotated[int, msgspec.Meta(ge=1)]
Bytes = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Factor = Annotated[float, msgspec.Meta(gt=1, le=1_000)]
Days = Annotated[float, msgspec.Meta(gt=0, le=30)]


class FindingSettings(FrozenSettings, frozen=True, kw_only=True):
    """A finding without thresholds."""

    enabled: bool = True
    """Whether the finding is evaluated. An open one of a disabled code is withdrawn."""
