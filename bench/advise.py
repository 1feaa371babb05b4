"""Rows `advise.*`: how plans compare with Iceberg's planner and with real rewrites, advice on a large table, and pages
of many.
"""

from __future__ import annotations

from typing import Any

from rows import Bench, Measure, Row, taken

from metadata_records import list_line
from metadata_writer import File, Manifest, MetadataTable

COMMITS, FILES = 1_000, 100
SECONDS, MEMORY = 10.0, 600.0
TABLES, QUEUE_MS = 5_000, 5.0
PARITY_TABLES, REWRITES = 300, 40
LEAST_SHARE = 0.005
"""Stands for no miss at all: a ratio needs a number above 0."""


def advise_plans(bench: Bench) -> list[Row]:
    """Shares of misses. Iceberg's planner must agree on every table; nine of ten rewrites lie within the bounds."""
    tables, rewrites = (PARITY_TABLES, REWRITES) if bench.full else (PARITY_TABLES // 10, REWRITES // 10)
    wrong, done, outside = taken("advise_on_spark", tables, rewrites).value
    parity, bytes_out = max(wrong / tables, LEAST_SHARE), max(outside / done, LEAST_SHARE)
    note = (
        f"share of {tables} random tables whose plan differs from Iceberg's; limit of the goal, {LEAST_SHARE} is none"
    )
    other = f"share of {done} rewrites with bytes outside the bounds; limit of the goal, {LEAST_SHARE} is none"
    return [
        Row("advise.planner_parity", parity, 0.01, "share", 2, note),
        Row("advise.rewrite_bytes", bytes_out, 0.1, "share", 1, other),
    ]


def advise_large(bench: Bench) -> list[Row]:
    """1,000 commits of 100 small files each, all of them live and retained; in CI a quarter, in half the time."""
    commits, seconds = (COMMITS, SECONDS) if bench.full else (COMMITS // 4, SECONDS / 2)
    table = LongTable(bench.scratch / "long")
    for _ in range(commits):
        table.append(*(table.file(("eu", "us", "ap")[i % 3], size=1 << 20) for i in range(FILES)))
        table.forget()
    location = MetadataTable.write(table)
    found = taken("advise_large", location)
    planned, peak, cpu_s = found.value
    if planned != commits * FILES:
        raise SystemExit(f"{planned} files are planned of {commits * FILES}")
    note = f"{commits:,} snapshots, {commits * FILES:,} live files; limit of the goal"
    return [
        Row("advise.large_table_seconds", cpu_s, seconds, "s", 1, f"{note}, CPU of both processes"),
        Row("advise.large_table_memory", peak, MEMORY, "MB", 1, f"{note}, peak of the parser"),
    ]


def advise_queue(_bench: Bench) -> list[Row]:
    """A page of 50 plans, of all and of the tables that have a text in their name."""
    rows = []
    for name, text, matching in (("queue_page", "", 2 * TABLES), ("queue_search", "n1.", 2 * TABLES // 50)):
        found = taken("advise_queue", TABLES, text)
        if found.value != [50, matching]:
            raise SystemExit(f"{name}: {found.value} instead of {[50, matching]}")
        note = f"limit of the goal; 50 of {matching:,} plans of {TABLES:,} tables, from memory; CPU, best run"
        rows.append(Row(f"advise.{name}", found.cpu_s * 1e3, QUEUE_MS, "ms", 1, note))
    return rows


_LINES: dict[str, dict[str, Any]] = {}
"""Lines of manifest lists by the manifest's path: each list repeats those before."""


class LongTable(MetadataTable):
    """Writes its metadata once, at the end, and remembers only the files of its head."""

    def write(self) -> str:
        return self.metadata_location

    def _next_manifests(
        self,
        kept: list[Manifest],
        add: list[File],
        gone: set[tuple[str, str | None]],  # noqa: ARG002 - a commit only adds files
        snapshot_id: int,
        sequence: int,
        *,
        rewrite: bool,  # noqa: ARG002
    ) -> list[Manifest]:
        """One more manifest: what others hold does not change."""
        return [*super()._next_manifests([], add, set(), snapshot_id, sequence, rewrite=False), *kept]

    @staticmethod
    def line(manifest: Manifest) -> dict[str, Any]:
        if manifest.path not in _LINES:
            _LINES[manifest.path] = list_line(manifest)
        return _LINES[manifest.path]

    def forget(self) -> None:
        """Of all snapshots but the head, what they hold."""
        head = self.head() or 0
        self.live, self.manifests = {head: self.live[head]}, {head: self.manifests[head]}
        self.added, self.removed = {head: []}, {head: []}


MEASURES: dict[str, Measure] = {
    "advise_plans": advise_plans,
    "advise_large": advise_large,
    "advise_queue": advise_queue,
}
