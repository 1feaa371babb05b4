"""Sections of the maintenance file, as it is written: durations and sizes are texts."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from limnograph.settings.base import AtLeastOne, FrozenSettings
from limnograph.settings.maintenance.quantities import DurationText, OlderText, SizeText, WindowText

Mode = Literal["off", "advise", "approve", "auto"]
_Share = Annotated[float, msgspec.Meta(ge=0, le=0.5)]
_Positive = Annotated[float, msgspec.Meta(gt=0, le=1_000_000)]
_Text = Annotated[str, msgspec.Meta(min_length=1)]


class WorthSettings(FrozenSettings, frozen=True, kw_only=True):
    """From which saving an action is due. Without this section, the rules' own thresholds hold
    ([maintenance](maintenance.md#rules)).
    """

    saved_files: AtLeastOne | None = None
    """Files that a rewrite saves, at least. Default: 20, and 2 % of the live files."""
    freed_bytes: SizeText | None = None
    """Bytes that an expiry or a removal of unreferenced files frees, at least. Default: 1 GiB, and 5 % of the live
    bytes.
    """
    paying: bool = True
    """Whether a rewrite must save more than it costs."""


class RetainSettings(FrozenSettings, frozen=True, kw_only=True):
    """Snapshots that an expiry keeps. The table's own retention holds too: a snapshot that either keeps stays."""

    age: DurationText = "24h"
    """Age up to which snapshots are kept; at least 24h."""
    last: int = 2
    """Newest snapshots of each branch that are kept, at least 2."""


class PolicyReaderSettings(FrozenSettings, frozen=True, kw_only=True):
    """Jobs that continue from a snapshot that they read before, such as streams. Snapshots as old as their lag stay."""

    job: _Text
    """Name of the job, or a pattern."""
    lag: DurationText
    """How far the job may be behind."""


class OrphanSettings(FrozenSettings, frozen=True, kw_only=True):
    """Removal of files that no snapshot references. A policy without this section removes none."""

    age: DurationText = "7d"
    """Age from which files are removed; at least 3d, and 7d in mode `auto`."""
    mode: Mode = "approve"
    """Mode of this action, if it is stricter than that of the policy."""
    longest_run: DurationText = ""
    """How long a run of any writer of the tables lasts at most. Files younger than three times that stay; a longer run
    that is reported counts instead. Default: a third of `age`.
    """


class PolicySettings(FrozenSettings, frozen=True, kw_only=True):
    """What may be done with the tables that match. Of several policies that match, the last one applies alone: nothing
    is inherited from the others. Each decision names its policy.
    """

    name: str = ""
    """Name in decisions and in the history of plans. Default: number and patterns, as in `policy 1 (lake.sales.**)`."""
    tables: tuple[str, ...]
    """Patterns over `catalog.namespace.table`, as in `[observe]`."""
    actions: tuple[str, ...] | None = None
    """Rules or procedures that may run, such as `compact` or `expire_snapshots`. Default: all."""
    mode: Mode | None = None
    """Default: that of `[maintenance]`."""
    window: tuple[WindowText, ...] | None = None
    """Parts of the day in which actions may start. Default: those of `[maintenance]`."""
    partitions: OlderText = ""
    """Rewrites take up only partitions whose last commit is older. Default: the quiet time decides."""
    quiet: DurationText = ""
    """Partitions that were written within it are left out of rewrites. Default: 15m, or three times the median gap
    between commits if that is longer.
    """
    min_payback_days: _Positive | None = None
    """Days within which a rewrite must have saved what it costs. Default: 30."""
    retain: RetainSettings | None = None
    readers: tuple[PolicyReaderSettings, ...] = ()
    orphans: OrphanSettings | None = None
    worth: WorthSettings = WorthSettings()
    max_rewrite_ratio: _Positive = 2.0
    """Bytes that rewrites may read within 7 days, for each live byte of the table."""
    hold: bool = False
    """Legal hold: no snapshot expires, and no file is deleted."""
    hold_out: _Share = 0.0
    """Share of due tables, drawn by chance, whose actions wait for 7 days: a control group, so that effects can be
    compared.
    """


class MaintenanceSettings(FrozenSettings, frozen=True, kw_only=True):
    """What `limnograph maintain` may do. The server never reads this file."""

    mode: Mode = "advise"
    """`"advise"` executes nothing, `"approve"` what a user approved, `"auto"` what a policy allows; `"off"` does not
    even plan.
    """
    window: tuple[WindowText, ...] = ()
    """Parts of the day in which actions may start. Default: any time."""
    concurrent: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    """Actions at the same time, over all tables; on one table there is never more than one."""
    bytes_per_day: SizeText | None = None
    """Bytes that rewrites may read on one UTC day. Default: unlimited."""
    max_cost_per_day: _Positive | None = None
    """Cost of the actions of one UTC day, in the currency of `[prices]`. Default: unlimited."""
    two_people: bool = False
    """Whether a plan needs the approval of another user than the one who proposed it. Mode `"auto"` is then not
    permitted.
    """
    conflict_after: DurationText = "15m"
    """Delay after a conflict; it doubles with each further one, up to 24h."""
    expires_after: DurationText = "7d"
    """When a plan that no one decided on expires, and an approved one that could not run."""
    master: str = ""
    """Spark master URL. Default: that of `[spark]` in the settings."""
    spark: dict[str, str] = msgspec.field(default_factory=dict)
    """Spark configuration, added to `[spark] conf` of the settings."""
    catalogs: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    """Catalogs in which this program may write, by name. The properties are laid over those of `[catalogs.NAME]` in the
    settings; a catalog that the settings do not have needs all its properties. A catalog without a section here is
    never written, so a section may be empty. `files` stands for Delta tables without a catalog: its properties are laid
    over those of their paths and warehouses, and `delta.commits` (`conditional-put`, or `dynamodb:TABLE`) says what
    keeps two writers on S3 from overwriting each other's commit.
    """
    policy: tuple[PolicySettings, ...] = ()


class MaintenanceFile(FrozenSettings, frozen=True, kw_only=True):
    """The file, without the sections of the settings that it may contain."""

    maintenance: MaintenanceSettings
