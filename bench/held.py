"""Row `advise.held_bytes`: which bytes old snapshots hold, over the whole history of a table."""

from __future__ import annotations

from rows import Bench, Measure, Row, same, taken

from metadata_writer import MetadataTable

SNAPSHOTS, FILES = 200, 10


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


MEASURES: dict[str, Measure] = {"held": held}
