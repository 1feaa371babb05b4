"""The policy that a maintenance file describes, with its floors checked."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from limnograph.domain.errors import SettingsError
from limnograph.domain.ids import NO_CATALOG, Patterns
from limnograph.domain.maintenance.actions import ADVICE_ONLY, PROCEDURES
from limnograph.domain.maintenance.policy import (
    DAY_US,
    DEFAULT_ORPHAN_AGE_US,
    LEAST_KEPT,
    LEAST_ORPHAN_AGE_US,
    LEAST_RETENTION_US,
    MODES,
    LeastWorth,
    MaintenanceMode,
    MaintenancePolicy,
    OrphanRule,
    PolicyReader,
    PolicyRule,
    RetainedSnapshots,
)
from limnograph.settings.maintenance.quantities import daily_window, duration_us, older_us, size_bytes
from limnograph.settings.maintenance.sections import (
    MaintenanceSettings,
    OrphanSettings,
    PolicySettings,
    RetainSettings,
    WorthSettings,
)

_EXECUTED = frozenset(PROCEDURES) | frozenset(PROCEDURES.values())
_MOST_NAME = 100
RUNS = 3
"""Files that are removed are at least so many times as old as the longest run of a writer."""


def policy_of(settings: MaintenanceSettings, catalogs: Collection[str]) -> MaintenancePolicy:
    """The policy. `catalogs`: all that exist. Raises SettingsError, which names the key."""
    place = "maintenance"
    rules = [_rule(each, i, catalogs) for i, each in enumerate(settings.policy)]
    _check_names([each.name for each in rules])
    policy = MaintenancePolicy(
        mode=settings.mode,
        windows=tuple(daily_window(f"{place}.window[{i}]", text) for i, text in enumerate(settings.window)),
        concurrent=settings.concurrent,
        bytes_per_day=_size(f"{place}.bytes_per_day", settings.bytes_per_day),
        max_cost_per_day=settings.max_cost_per_day,
        two_people=settings.two_people,
        rules=rules,
        conflict_after_us=_above_zero(f"{place}.conflict_after", settings.conflict_after),
        expires_after_us=_above_zero(f"{place}.expires_after", settings.expires_after),
    )
    _check_two_people(settings, policy)
    return policy


def _check_two_people(settings: MaintenanceSettings, policy: MaintenancePolicy) -> None:
    if not settings.two_people:
        return
    for i, rule in enumerate(policy.rules):
        if (rule.mode or policy.mode) == "auto":
            field = "maintenance.mode" if rule.mode is None else f"maintenance.policy[{i}].mode"
            raise SettingsError(field, 'cannot be "auto" with two_people = true; write "approve"')


def _rule(policy: PolicySettings, number: int, catalogs: Collection[str]) -> PolicyRule:
    place = f"maintenance.policy[{number}]"
    _check_tables(place, policy.tables, catalogs)
    return PolicyRule(
        name=_name(place, policy, number),
        tables=Patterns(policy.tables),
        actions=None if policy.actions is None else _actions(place, policy.actions),
        mode=policy.mode,
        windows=None
        if policy.window is None
        else tuple(daily_window(f"{place}.window[{i}]", text) for i, text in enumerate(policy.window)),
        partitions_older_us=older_us(f"{place}.partitions", policy.partitions) if policy.partitions else None,
        quiet_us=duration_us(f"{place}.quiet", policy.quiet) if policy.quiet else None,
        min_payback_days=policy.min_payback_days,
        retain=None if policy.retain is None else _retain(f"{place}.retain", policy.retain),
        readers=tuple(
            PolicyReader(each.job, duration_us(f"{place}.readers[{i}].lag", each.lag))
            for i, each in enumerate(policy.readers)
        ),
        orphans=None if policy.orphans is None else _orphans(f"{place}.orphans", policy.orphans),
        max_rewrite_ratio=policy.max_rewrite_ratio,
        hold=policy.hold,
        hold_out=policy.hold_out,
        worth=_worth(f"{place}.worth", policy.worth),
    )


def _name(place: str, policy: PolicySettings, number: int) -> str:
    if not policy.name:
        more = f" and {len(policy.tables) - 1} more" if len(policy.tables) > 1 else ""
        return f"policy {number + 1} ({policy.tables[0]}{more})"
    if not (policy.name.strip() == policy.name and policy.name.isprintable() and len(policy.name) <= _MOST_NAME):
        raise SettingsError(f"{place}.name", f"is not a name of 1 to {_MOST_NAME} printable characters; write another")
    return policy.name


def _check_names(names: list[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            first = names.index(name)
            raise SettingsError(
                f"maintenance.policy[{i}].name", f"{name!r} is already used by maintenance.policy[{first}]; change one"
            )


def _check_tables(place: str, tables: tuple[str, ...], catalogs: Collection[str]) -> None:
    """A pattern that can match nothing is an error: the policy may be a hold."""
    if not tables:
        raise SettingsError(f"{place}.tables", "must not be empty; write a pattern such as lake.sales.**")
    for i, pattern in enumerate(tables):
        field, catalog = f"{place}.tables[{i}]", pattern.split(".")[0]
        if not pattern.strip() or not pattern.isprintable():
            raise SettingsError(field, "is not a pattern; write one such as lake.sales.**")
        if "*" not in catalog and catalog != NO_CATALOG and catalog not in catalogs:
            raise SettingsError(field, f"{catalog!r} is not one of [catalogs.*]{_nearest(catalog, catalogs)}")


def _actions(place: str, names: tuple[str, ...]) -> frozenset[str]:
    for i, name in enumerate(names):
        if name in ADVICE_ONLY:
            raise SettingsError(f"{place}.actions[{i}]", f"{name!r} is only recommended, never executed; remove it")
        if name not in _EXECUTED:
            hint = _nearest(name, _EXECUTED) or f"; write one of {', '.join(PROCEDURES)}"
            raise SettingsError(f"{place}.actions[{i}]", f"{name!r} is not an action{hint}")
    return frozenset(names)


def _retain(place: str, retain: RetainSettings) -> RetainedSnapshots:
    age_us = duration_us(f"{place}.age", retain.age)
    if age_us < LEAST_RETENTION_US:
        raise SettingsError(f"{place}.age", "must be at least 24h, the floor of every expiry")
    if retain.last < LEAST_KEPT:
        raise SettingsError(f"{place}.last", f"must be at least {LEAST_KEPT}, the floor of every expiry")
    return RetainedSnapshots(age_us, retain.last)


def _orphans(place: str, orphans: OrphanSettings) -> OrphanRule:
    age_us = duration_us(f"{place}.age", orphans.age)
    mode: MaintenanceMode = orphans.mode
    least_us = DEFAULT_ORPHAN_AGE_US if mode == MODES[-1] else LEAST_ORPHAN_AGE_US
    if age_us < least_us:
        days = least_us // DAY_US
        why = 'the floor in mode "auto"' if mode == MODES[-1] else "the floor of every removal of unreferenced files"
        raise SettingsError(f"{place}.age", f"must be at least {days}d, {why}")
    longest = orphans.longest_run
    return OrphanRule(age_us, mode, _above_zero(f"{place}.longest_run", longest) if longest else age_us // RUNS)


def _worth(place: str, worth: WorthSettings) -> LeastWorth:
    return LeastWorth(worth.saved_files, _size(f"{place}.freed_bytes", worth.freed_bytes), worth.paying)


def _size(field: str, size: str | int | None) -> int | None:
    return None if size is None else size_bytes(field, size)


def _above_zero(field: str, text: str) -> int:
    found = duration_us(field, text)
    if not found:
        raise SettingsError(field, "must be above 0s")
    return found


def _nearest(name: str, names: Collection[str]) -> str:
    found = difflib.get_close_matches(name, sorted(names), n=1)
    return f"; did you mean {found[0]}?" if found else ""
