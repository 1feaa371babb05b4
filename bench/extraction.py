"""Rows `extract.*`: entries, whole tables, one new commit, idle passes, metadata files."""

from __future__ import annotations

import gzip
import sqlite3

import lake
from rows import Bench, Measure, Row, Taken, same, taken

TENTH = 10
LIVE_FILES = 1_000_000
SNAPSHOTS = 2_000
NEW_SNAPSHOTS = 25
TABLES = 5_000
BOMB_BYTES = 2 * 2**30


def entries(bench: Bench) -> list[Row]:
    """10,000 entries of 20 columns in both block layouts."""
    found, files = [], lake.Files()
    for layout, goal in (("java", 25), ("py", 8)):
        path = bench.scratch / f"entries-{layout}.avro"
        path.write_bytes(files.manifest(range(10_000), 5, one_a_block=layout == "py"))
        ours, peer = taken("decode_ours", path), taken("decode_fastavro", path)
        same(ours, peer)
        each = 1e6 / 10_000
        note = "fastavro; 10,000 entries, 20 columns; CPU, best run"
        found.append(
            Row(f"extract.entry_decode_{layout}", ours.cpu_s * each, peer.cpu_s * each, "µs/entry", goal, note)
        )
    return found


def full_table(bench: Bench) -> list[Row]:
    """A million live files, read once without a cache."""
    location = lake.wide_table(bench.scratch / "wide", LIVE_FILES)
    ours = taken("full_ours", location)
    if ours.value != LIVE_FILES:
        raise SystemExit(f"{ours.value} files of {LIVE_FILES}")
    if bench.full:
        peer, law = taken("full_pyiceberg", location), "at full size"
        same(ours, peer)
    else:
        small = taken("full_pyiceberg", lake.wide_table(bench.scratch / "tenth", LIVE_FILES // TENTH))
        none = taken("full_pyiceberg", lake.wide_table(bench.scratch / "one", 1))
        peer, law = _scaled(small, TENTH, none.peak_mb), "at a tenth, both linear in files"
    walls = f"wall {ours.wall_s:.1f} s against {peer.wall_s:.0f} s"
    return [
        Row("extract.full_1m_time", ours.cpu_s, peer.cpu_s, "s", 50, f"inspect.files() {law}; CPU; {walls}"),
        Row("extract.full_1m_memory", ours.peak_mb, peer.peak_mb, "MB", 10, f"inspect.files() {law}; peak resident"),
    ]


def one_new_snapshot(bench: Bench) -> list[Row]:
    """One new commit on a history of 2,000, from its metadata file to its numbers."""
    folder = bench.scratch / "long"
    locations = lake.long_history(folder, SNAPSHOTS, NEW_SNAPSHOTS)
    ours = taken("one_new_ours", bench.scratch / "cache", *locations)
    if bench.full:
        peer, law = taken("all_manifests_pyiceberg", locations[0]), "at full size"
    else:
        (small,) = lake.long_history(bench.scratch / "short", SNAPSHOTS // TENTH)
        peer, law = _scaled(taken("all_manifests_pyiceberg", small), TENTH**2), "at a tenth, quadratic in snapshots"
    milliseconds = ours.cpu_s * 1e3
    note = f"inspect.all_manifests() {law}; CPU, best of {NEW_SNAPSHOTS} commits; wall {ours.wall_s * 1e3:.0f} ms"
    return [
        Row("extract.one_new_snapshot_of_2000", milliseconds, peer.cpu_s * 1e3, "ms", 1_000, note),
        Row("extract.one_new_snapshot_ms", milliseconds, 15, "ms", 1, "limit of the goal; CPU"),
    ]


def idle_pass(bench: Bench) -> list[Row]:
    """5,000 tables of an SQL catalog, none of them moved."""
    folder = bench.scratch / "idle"
    _catalog(folder)
    ours = taken("idle_ours", folder)
    tables = TABLES if bench.full else TABLES // TENTH
    peer = _scaled(taken("idle_pyiceberg", folder, tables), TABLES // tables)
    law = "at full size" if bench.full else "at a tenth, linear in tables"
    note = f"load_table of tables of 100 snapshots {law}; CPU"
    return [Row("extract.idle_pass_5000_tables", ours.cpu_s * 1e3, peer.cpu_s * 1e3, "ms", 1_000, note)]


def metadata_files(bench: Bench) -> list[Row]:
    """Long histories, and a decompression bomb."""
    ten = bench.scratch / "10k.metadata.json"
    hundred = bench.scratch / "100k.metadata.json"
    bomb = bench.scratch / "bomb.gz.metadata.json"
    ten.write_bytes(lake.history_document(10_000))
    hundred.write_bytes(lake.history_document(100_000))
    with gzip.open(bomb, "wb", compresslevel=9) as stream:
        for _ in range(BOMB_BYTES // 2**24):
            stream.write(b" " * 2**24)
    # A truthful trailer is refused without decompression: this one is false, to measure the limits themselves.
    with bomb.open("r+b") as stream:
        stream.seek(-4, 2)
        stream.write((1_000).to_bytes(4, "little"))
    ours, peer = taken("metadata_ours", ten, 7), taken("metadata_pyiceberg", ten)
    same(ours, peer)
    long, refused = taken("metadata_ours", hundred, 1), taken("gzip_bomb", bomb)
    if refused.value != "file_too_large":
        raise SystemExit(f"the bomb was {refused.value}")
    size = f"{hundred.stat().st_size / 1e6:.0f} MB of JSON"
    note = f"{bomb.stat().st_size / 1e6:.1f} MB that inflate to 2 GB; limit of the goal"
    return [
        Row("extract.metadata_10k_snapshots", ours.cpu_s * 1e3, peer.cpu_s * 1e3, "ms", 7, "pyiceberg's model; CPU"),
        Row("extract.metadata_100k_seconds", long.wall_s, 3, "s", 1, f"{size}; limit of the goal"),
        Row("extract.metadata_100k_memory", long.peak_mb, 300, "MB", 1, f"{size}; limit of the goal, peak resident"),
        Row("extract.gzip_bomb", refused.wall_s, 1, "s", 1, note),
    ]


def _scaled(small: Taken, factor: float, base_mb: float = 0) -> Taken:
    """The same measurement at a larger size, scaled by the law in the note."""
    peak = base_mb + (small.peak_mb - base_mb) * factor
    return Taken(small.value, small.cpu_s * factor, small.wall_s * factor, peak)


def _catalog(folder: lake.Path) -> None:
    """An SQL catalog whose tables share one metadata file of 100 snapshots."""
    from pyiceberg.catalog.sql import SqlCatalog

    location = lake.write(folder / "shared.metadata.json", lake.history_document(100))
    SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}").create_namespace("sales")
    rows = [("lake", "sales", f"t{number:05d}", location, "TABLE") for number in range(TABLES)]
    with sqlite3.connect(folder / "catalog.db") as database:
        database.executemany(
            "insert into iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) "
            "values (?, ?, ?, ?, ?)",
            rows,
        )


MEASURES: dict[str, Measure] = {
    "entries": entries,
    "metadata": metadata_files,
    "idle": idle_pass,
    "new": one_new_snapshot,
    "full": full_table,
}
