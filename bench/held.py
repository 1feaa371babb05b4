"""Rows `advise.held_*`: bytes that old snapshots hold over a table's whole history, beside PyIceberg's entries."""

from __future__ import annotations

from rows import Bench, Measure, Row, same, taken

from metadata_writer import MetadataTable

SNAPSHOTS, FILES = 200, 10
HISTORIES = 200
LEAST_SHARE = 0.005
"""Stands for no miss at all: a ratio needs a number above 0."""


def held(bench: Bench) -> list[Row]:
    """A history of appends and overwrites that is compacted every 50 commits."""
    table = MetadataTable(bench.scratch / "history")
    for number in range(SNAPSHOTS):
        files = [table.file(("eu", "us")[i % 2], size=1_000 + number) for i in range(FILES)]
        if number % 50 == 49:
            table.compact(*table.files())
        elif number % 10 == 5:
            table.overwrite(files, table.files()[:FILES])
        else:
            table.append(*files)
    ours, peer = taken("held_ours", table.metadata_location), taken("held_pyiceberg", table.metadata_location)
    same(ours, peer)
    note = f"set difference of pyiceberg's entries; {SNAPSHOTS} snapshots of {FILES} files; CPU, best run"
    return [Row("advise.held_bytes", ours.cpu_s * 1e3, peer.cpu_s * 1e3, "ms", 20, note)]


def held_parity(bench: Bench) -> list[Row]:
    """Live bytes, held bytes, bytes that an expiry frees, and those of each branch and tag."""
    histories = HISTORIES if bench.full else HISTORIES // 10
    wrong = taken("held_parity", bench.scratch, histories).value
    note = (
        f"share of {histories} histories by PyIceberg, with branches, tags and rollbacks, whose bytes differ from the "
        f"set difference; limit of the goal, {LEAST_SHARE} is none"
    )
    return [Row("advise.held_parity", max(wrong / histories, LEAST_SHARE), 0.01, "share", 2, note)]


MEASURES: dict[str, Measure] = {"held": held, "held_parity": held_parity}
