"""Patterns and warehouses of the settings that match no table: a typing error there hides tables without an error."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from limnograph.domain.ids import matches
from limnograph.settings import FILES, Settings

ALL = "**"


def observed_patterns(settings: Settings) -> Iterator[tuple[str, str]]:
    """Every pattern of `observe.include` after its key; that of a warehouse is of the tables below it."""
    yield from patterns_of("observe.include", settings.observe.include)
    for i, warehouse in enumerate(settings.observe.warehouses):
        yield f"observe.warehouses[{i}]", f"{FILES}.{warehouse.name}.{ALL}"


def patterns_of(key: str, patterns: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each pattern but `**`, after its key."""
    return ((f"{key}[{i}]", pattern) for i, pattern in enumerate(patterns) if pattern != ALL)


def unmatched(patterns: Iterable[tuple[str, str]], names: Collection[str]) -> list[str]:
    """Those that match none of the names, as `observe.include[0] 'lake.slaes.**'`. O(patterns x names) at worst."""
    return [f"{key} {pattern!r}" for key, pattern in patterns if not any(matches(pattern, name) for name in names)]
