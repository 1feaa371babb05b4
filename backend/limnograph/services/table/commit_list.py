"""Commits of a table or of all tables. Newest first: from the commit index in the hot lake, from a heap in others. Most
files first: all that match are sorted.

A commit whose summary names no user has the one that a report of it names: one look-up per commit of the page, or per
commit that is compared with a filter by user.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from limnograph.domain import cursors
from limnograph.domain.answers.commits import CommitRow, CommitsPage
from limnograph.domain.errors import SourceError, SourceUnavailable
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.queries import CommitsQuery
from limnograph.domain.time import EPOCH, Micros, to_micros, to_millis
from limnograph.services.lake.columns import AT, ID, INDEX, NULL, TEXTS, Ints
from limnograph.services.lake.commit_index import CommitFilter, CommitIndex
from limnograph.services.lake.history import CommitColumns, History
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.store import HotStore, LakeView
from limnograph.services.lake.table import HotTable
from limnograph.services.reads.commit_users import NO_USERS, CommitUsers, UserLookup

_SHOWN = (
    *("snapshot_id", "parent_id", "committed_at", "operation", "engine", "app_id", "app_name", "status"),
    "user",
    *("added_data_files", "removed_data_files", "added_delete_files", "removed_delete_files"),
    *("added_records", "added_bytes", "total_data_files"),
)
_NUMBERS = [(name, INDEX[name]) for name in _SHOWN if name not in TEXTS]
_WORDS = [(name, INDEX[name]) for name in _SHOWN if name in TEXTS]
_PARENT, _SCHEMA, _ADDED, _OPERATION = (
    INDEX[name] for name in ("parent_id", "schema_id", "added_data_files", "operation")
)
_WRITER, _USER = (INDEX["app_name"], INDEX["app_id"]), INDEX["user"]


_READ = tuple(INDEX[name] for name in (*_SHOWN, "schema_id"))
_BEFORE = (ID, _SCHEMA)


class StoredCommit(NamedTuple):
    """A row as read: numbers by column, words, and whether its schema differs from its parent's."""

    numbers: dict[int, int]
    words: list[str]
    schema_changed: bool

    @property
    def at(self) -> Micros | None:
        """When it was committed."""
        at = self.numbers[AT]
        return None if at == NULL else Micros(at)

    @property
    def user(self) -> str | None:
        """The user whom the commit's own summary names."""
        code = self.numbers[_USER]
        return None if code == NULL else self.words[code]


class ListedCommit(NamedTuple):
    """A commit of a list: the index of its row, and the sort key of its list, largest first: `(committed_at, snapshot
    id)`, behind the number of its files if those decide.
    """

    history: History
    place: int
    position: tuple[int, ...]
    read: StoredCommit | None = None

    @property
    def contents(self) -> StoredCommit:
        """What its row holds."""
        return self.read or _read(self.history, self.place)


class CommitLists:
    """Pages of commits. Immutable after construction."""

    def __init__(self, store: HotStore, users: CommitUsers) -> None:
        self._store, self._users, self._index = store, users, CommitIndex()
        store.listeners.append(self._arrived)

    def _arrived(self, lake: Lake) -> None:
        """Called before a lake is published: its commits are sorted now, not on request."""
        self._index.update(lake.listed, lake.floor)

    async def page(self, query: CommitsQuery) -> CommitsPage:
        """Raises NotFound (table), InvalidInput (cursor), SourceError if the range could not be read."""
        question = cursors.of_commits(query)
        after = None
        if query.cursor is not None:
            parts = 2 if query.sort == "newest" else 3
            after = tuple(int(part) for part in cursors.decode(question, query.cursor, (int,) * parts))
        reading = self._store.reading
        if reading.error is not None and not reading.lake.histories:
            raise SourceUnavailable("meta", reading.error.detail)
        known = reading.lake.find(query.table) if query.table else None
        uuids = (known.uuid,) if known else ()
        if not reading.lake.reaches(to_micros(query.start), *uuids):
            reading = await self._store.reach(to_micros(query.start), uuids, (*_SHOWN, "schema_id"))
            if reading.partial and reading.error is not None:
                raise reading.error  # a list without its older part would look complete
        found = self._found(reading, query, await self._users_of(query), uuids, after)
        page, more = await asyncio.to_thread(_page, found, query.limit)
        users = await self._users_of_page(page)
        watermark = self._store.watermark
        return CommitsPage(
            rows=await asyncio.to_thread(lambda: [_shown(one, users) for one in page]),
            next_cursor=cursors.encode(question, list(more)) if more else None,
            watermark=to_millis(watermark),
        )

    async def _users_of(self, query: CommitsQuery) -> UserLookup:
        """Reported users to compare with a filter: a list without some of its commits would look complete."""
        start, end = to_micros(query.start), to_micros(query.end)
        if query.user is None or self._users.is_in_memory(start):
            return self._users.in_memory
        return await self._store.reads.ask(self._users.between, start, end)

    async def _users_of_page(self, page: Sequence[ListedCommit]) -> UserLookup:
        """Reported users of the commits of a page; those in memory if the others cannot be read."""
        rows = [one.contents for one in page]
        times = [row.at for row in rows if row.user is None and row.at is not None]
        if not times or not self._users.is_complete or self._users.is_in_memory(min(times)):
            return self._users.in_memory
        try:
            return await self._store.reads.ask(self._users.between, min(times), Micros(max(times) + 1))
        except SourceError:
            return self._users.in_memory

    def _found(
        self,
        reading: LakeView,
        query: CommitsQuery,
        users: UserLookup,
        uuids: Sequence[str],
        after: tuple[int, ...] | None,
    ) -> Iterator[ListedCommit]:
        lake = reading.lake
        tables = [lake.tables[uuid] for uuid in uuids] if query.table else lake.listed
        if query.sort == "files":
            return most_files_first(tables, query, after, users)
        if query.table or lake is not self._store.reading.lake:
            return newest_first(tables, query, after, users)
        return _from_index(self._index, lake, query, after, users)


def _page(found: Iterator[ListedCommit], limit: int) -> tuple[list[ListedCommit], tuple[int, ...] | None]:
    """Commits of a page with the contents of their rows, and the position of the last one if more follow."""
    first = list(itertools.islice(found, limit + 1))
    page = [one._replace(read=one.contents) for one in first[:limit]]
    return page, first[limit - 1].position if len(first) > limit else None


def _from_index(
    index: CommitIndex, lake: Lake, query: CommitsQuery, after: tuple[int, ...] | None, users: UserLookup
) -> Iterator[ListedCommit]:
    """Matching commits of all tables in one order. O(commits of the range) comparisons of columns, plus the rows of the
    tables that are shown.
    """
    end = to_micros(query.end) if after is None else min(to_micros(query.end), Micros(after[0]) + 1)
    wanted = CommitFilter(
        to_micros(query.start), end, query.min_added_data_files, query.operation, query.schema_changed
    )
    for at, tables in itertools.groupby(index.newest(lake.listed, lake.floor, wanted), lambda found: found[1]):
        together = [one for table, _ in tables for one in _read_at(History(table), at)]
        together.sort(key=lambda one: one.position, reverse=True)
        yield from (one for one in together if (after is None or one.position < after) and _fits(one, query, users))


def _read_at(history: History, at: Micros) -> Iterator[ListedCommit]:
    """Commits of a table at an instant, with the contents of their rows."""
    for place in history.table.rows.places_at(at):
        read = _read(history, place)
        yield ListedCommit(history, place, (at, read.numbers[ID]), read)


def _fits(found: ListedCommit, query: CommitsQuery, users: UserLookup) -> bool:
    read = found.contents
    added, operation = read.numbers[_ADDED], read.numbers[_OPERATION]
    return (
        (query.min_added_data_files is None or NULL != added >= query.min_added_data_files)
        and (query.operation is None or (operation != NULL and read.words[operation] == query.operation))
        and (query.schema_changed is None or read.schema_changed == query.schema_changed)
        and (query.writer is None or _names(read, _WRITER, query.writer))
        and (query.user is None or query.user.casefold() in (_user_of(found, users) or "").casefold())
    )


def _user_of(found: ListedCommit, users: UserLookup) -> str | None:
    """Whom its summary names, else a report of it."""
    read = found.contents
    return read.user or users.of(found.history, read.numbers[ID], read.at)


def _names(read: StoredCommit, columns: Sequence[int], part: str) -> bool:
    """Whether one of these columns contains a text, in any case."""
    names = [read.words[read.numbers[column]] for column in columns if read.numbers[column] != NULL]
    return any(part.casefold() in name.casefold() for name in names)


def _by_text(query: CommitsQuery) -> bool:
    """Whether a filter needs the texts of each row."""
    return query.writer is not None or query.user is not None


def most_files_first(
    tables: Sequence[HotTable], query: CommitsQuery, after: tuple[int, ...] | None, users: UserLookup = NO_USERS
) -> Iterator[ListedCommit]:
    """Matching commits by the data files that they added or removed, whichever are more; an unknown number is the
    smallest. O(commits of the range) comparisons of columns, plus the rows that are read.
    """
    start, least = to_micros(query.start), query.min_added_data_files
    histories = [
        History(table) for table in tables if table.last_at >= start and (least is None or table.most_added >= least)
    ]
    columns = [_sizes(history, query) for history in histories]
    if not columns:
        return
    files, times, ids, places = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    owners = np.repeat(np.arange(len(histories)), [len(part[0]) for part in columns])
    for i in np.lexsort((ids, times, files))[::-1].tolist():
        position = int(files[i]), int(times[i]), int(ids[i])
        if after is None or position < after:
            found = ListedCommit(histories[int(owners[i])], int(places[i]), position)
            if not _by_text(query) or _fits(found, query, users):
                yield found


def _sizes(history: History, query: CommitsQuery) -> tuple[Ints, Ints, Ints, Ints]:
    """Of the matching commits of a table, whoever wrote them: files added or removed, instant, id, index of the row."""
    commits, places = _matching(history, query)
    numbers = [commits.numbers(name)[places] for name in ("added_data_files", "removed_data_files")]
    files = np.maximum(*(np.where(column == NULL, -1, column) for column in numbers))
    times, ids = commits.numbers("committed_at")[places], commits.numbers("snapshot_id")[places]
    return files, times, ids, commits.first + places


def newest_first(
    tables: Sequence[HotTable], query: CommitsQuery, after: tuple[int, ...] | None, users: UserLookup = NO_USERS
) -> Iterator[ListedCommit]:
    """Matching commits of several tables in one order. O(tables) comparisons, plus the rows of the opened tables."""
    start, end = to_micros(query.start), to_micros(query.end)
    if after is not None:
        end = min(end, Micros(after[0]) + 1)
    least = query.min_added_data_files
    waiting = [
        (min(table.last_at, end - 1), place)
        for place, table in enumerate(tables)
        if table.last_at >= start and (least is None or table.most_added >= least)
    ]
    waiting.sort()
    heap: list[tuple[tuple[int, int], int, ListedCommit, Iterator[ListedCommit]]] = []

    def advance(place: int, commits: Iterator[ListedCommit]) -> None:
        found = next(commits, None)
        if found is not None:
            heapq.heappush(heap, ((-found.position[0], -found.position[1]), place, found, commits))

    while waiting or heap:
        if waiting and (not heap or waiting[-1][0] >= -heap[0][0][0]):
            _, place = waiting.pop()
            advance(place, _newest(History(tables[place]), query, after, users))
            continue
        _, place, found, commits = heapq.heappop(heap)
        yield found
        advance(place, commits)


def _newest(
    history: History, query: CommitsQuery, after: tuple[int, ...] | None, users: UserLookup
) -> Iterator[ListedCommit]:
    """Matching commits of one table, newest first."""
    commits, places = _matching(history, query)
    times, ids = commits.numbers("committed_at")[places], commits.numbers("snapshot_id")[places]
    for i in np.lexsort((ids, times))[::-1].tolist():
        position = Micros(times[i]), int(ids[i])
        if after is None or position < after:
            found = ListedCommit(history, commits.first + int(places[i]), position)
            if not _by_text(query) or _fits(found, query, users):
                yield found


def _matching(history: History, query: CommitsQuery) -> tuple[CommitColumns, Ints]:
    """Commits of one table in the range, and the indexes among them of those that match in all but writer and user."""
    commits = history.between(to_micros(query.start), to_micros(query.end))
    fits = np.ones(len(commits), np.bool_)
    if query.operation is not None:
        fits &= commits.are(query.operation)
    if query.min_added_data_files is not None:
        added = commits.numbers("added_data_files")
        fits &= (added != NULL) & (added >= query.min_added_data_files)
    if query.schema_changed is not None:
        fits &= history.schemas_changed(commits.first, commits.last) == query.schema_changed
    return commits, np.flatnonzero(fits)


def _read(history: History, place: int) -> StoredCommit:
    rows = history.table.rows
    block, row = rows.holding(place)
    own = dict(zip(_READ, block.cells(row, _READ), strict=True))
    words = block.texts()
    if place:
        block, row = (block, row - 1) if row else rows.holding(place - 1)
        before, schema = block.cells(row, _BEFORE)
        if before == own[_PARENT]:
            return StoredCommit(own, words, NULL not in (own[_SCHEMA], schema) and own[_SCHEMA] != schema)
    return StoredCommit(own, words, bool(history.schemas_changed(place, place + 1)[0]))


def _shown(found: ListedCommit, users: UserLookup) -> CommitRow:
    """A row in memory in the format of lists; only the columns of lists are read."""
    history, (numbers, words, changed) = found.history, found.contents
    values: dict[str, Any] = {name: numbers[at] if numbers[at] != NULL else None for name, at in _NUMBERS}
    values |= {name: words[numbers[at]] if numbers[at] != NULL else None for name, at in _WORDS}
    values["user"] = _user_of(found, users)
    told = SnapshotFact(table_uuid=history.uuid, **values)
    return _row(history, told, on_main=history.is_on_main(found.place), changed=changed)


def schema_changed(history: History, row: SnapshotFact) -> bool:
    """Whether the commit has a different schema than its parent; false if either is unknown."""
    parent = history.snapshots.get(row.parent_id) if row.parent_id is not None else None
    known = parent is not None and parent.schema_id is not None and row.schema_id is not None
    return known and parent is not None and parent.schema_id != row.schema_id


def commit_row(history: History, row: SnapshotFact) -> CommitRow:
    """A commit in the format of lists."""
    on_main = row.snapshot_id in history.main_ancestors
    return _row(history, row, on_main=on_main, changed=schema_changed(history, row))


def _row(history: History, row: SnapshotFact, *, on_main: bool, changed: bool) -> CommitRow:
    return CommitRow(
        snapshot_id=str(row.snapshot_id),
        parent_id=None if row.parent_id is None else str(row.parent_id),
        **history.name.plain._asdict(),
        t=to_millis(row.committed_at or EPOCH),
        operation=row.operation,
        on_main=on_main,
        engine=row.engine,
        app_id=row.app_id,
        app_name=row.app_name,
        user=row.user,
        added_data_files=row.added_data_files,
        removed_data_files=row.removed_data_files,
        added_delete_files=row.added_delete_files,
        removed_delete_files=row.removed_delete_files,
        added_records=row.added_records,
        added_bytes=row.added_bytes,
        total_data_files=row.total_data_files,
        schema_changed=changed,
        status=row.status or "ok",
        provisional=row.snapshot_id in history.provisional,
    )
