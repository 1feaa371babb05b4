"""What came of warnings: the track record that pages show beside forecasts. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.finding_limits import HOUR
from limnograph.domain.forecasts.pages import TrackRecord
from limnograph.domain.time import Micros, to_millis

WarningOutcome = Literal["came_true", "did_not", "acted_upon", "pending"]


class TrackedForecast(msgspec.Struct, frozen=True):
    """What the track record needs of a forecast over seven days that warned or came true."""

    table_uuid: str
    metric: str
    as_of: Micros
    alert: bool | None
    warned_at: Micros | None
    crossed: bool | None
    crossed_at: Micros | None
    maintained: bool | None


TRACKED_COLUMNS = TrackedForecast.__struct_fields__


class TrackedWarning(NamedTuple):
    """An uninterrupted warning about one metric of a table. `crossed_at`: None unless it came true."""

    table_uuid: str
    metric: str
    warned_at: Micros
    outcome: WarningOutcome
    crossed_at: Micros | None


class TrackedWarnings:
    """Warnings of the past and crossings that were not foreseen. Immutable after construction."""

    def __init__(self, forecasts: Iterable[TrackedForecast], since: Micros | None = None) -> None:
        self.since = since
        warned: dict[tuple[str, str, Micros], list[TrackedForecast]] = defaultdict(list)
        crossed: dict[tuple[str, str, Micros], bool] = {}
        for each in forecasts:
            if each.alert and each.warned_at is not None:
                warned[each.table_uuid, each.metric, each.warned_at].append(each)
            if each.crossed and each.crossed_at is not None:
                key = each.table_uuid, each.metric, each.crossed_at
                crossed[key] = crossed.get(key, False) or bool(each.alert)
        self.warnings: Sequence[TrackedWarning] = [_warning(key, group) for key, group in sorted(warned.items())]
        self.unforeseen: Sequence[tuple[str, str, Micros]] = [
            key for key, was_warned in sorted(crossed.items()) if not was_warned
        ]

    def record(self, table_uuid: str | None = None) -> TrackRecord:
        """Counts, of one table or of all. O(warnings)."""
        mine = [each for each in self.warnings if table_uuid in {None, each.table_uuid}]
        counts = {outcome: sum(each.outcome == outcome for each in mine) for outcome in _OUTCOMES}
        notices = [(each.crossed_at - each.warned_at) / HOUR for each in mine if each.crossed_at is not None]
        return TrackRecord(
            since=None if self.since is None else to_millis(self.since),
            warnings=len(mine),
            median_notice_hours=round(median(notices), 1) if notices else None,
            not_foreseen=sum(table_uuid in {None, uuid} for uuid, *_ in self.unforeseen),
            **counts,
        )


_OUTCOMES: tuple[WarningOutcome, ...] = ("came_true", "did_not", "acted_upon", "pending")


def _warning(key: tuple[str, str, Micros], group: Sequence[TrackedForecast]) -> TrackedWarning:
    """Maintenance after the warning decides before the crossing does: what would have happened without it is unknown,
    and a crossing in spite of it came true.
    """
    crossings = [each.crossed_at for each in group if each.crossed and each.crossed_at is not None]
    if crossings:
        return TrackedWarning(*key, "came_true", min(crossings))
    if any(each.maintained for each in group):
        return TrackedWarning(*key, "acted_upon", None)
    if all(each.crossed is False for each in group):
        return TrackedWarning(*key, "did_not", None)
    return TrackedWarning(*key, "pending", None)
