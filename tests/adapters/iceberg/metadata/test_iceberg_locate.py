"""Which metadata file of a folder is the table, whoever named it: Hadoop, catalogs, Snowflake, hints true and stale."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from limnograph.adapters.iceberg.metadata.locate import newest_metadata
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import InvalidInput

CASES = {
    "a hint is a number": (["v1.metadata.json", "v01.metadata.json"], "1", "v1.metadata.json"),
    "a hint that lags behind": (["v1.metadata.json", "v2.metadata.json"], "1\n", "v2.metadata.json"),
    "a hint that names nothing": (["v1.metadata.json", "v2.metadata.json"], "7", "v2.metadata.json"),
    "a hint with a uuid": (["00001-a.metadata.json", "00001-b.metadata.json"], "00001-a", "00001-a.metadata.json"),
    "a hint with the ending": (["2-a.metadata.json", "2-b.metadata.json"], "2-a.metadata.json", "2-a.metadata.json"),
    "a hint with a folder": (["2-a.metadata.json", "2-b.metadata.json"], "s3://x/2-a", "2-a.metadata.json"),
    "a hint that is no text": (["v1.metadata.json"], "\x00\xff", "v1.metadata.json"),
    "a hint without a version": (
        ["00001-a.metadata.json", "current.metadata.json"],
        "current",
        "current.metadata.json",
    ),
    "names without a version": (["current.metadata.json"], None, "current.metadata.json"),
    "versions of 19 digits": (
        ["v1704068112338000000.metadata.json", "v1704068112338000001.metadata.json"],
        None,
        "v1704068112338000001.metadata.json",
    ),
    "gzip before": (["v1.metadata.json", "v2.gz.metadata.json"], "2", "v2.gz.metadata.json"),
    "gzip behind": (["00001-a.metadata.json", "00002-a.metadata.json.gz"], None, "00002-a.metadata.json.gz"),
    "numbers and not letters": (["v9.metadata.json", "v10.metadata.json"], None, "v10.metadata.json"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("below", ["", "/", "/metadata", "/metadata/"])
def test_the_newest_metadata_is_found(tmp_path: Path, case: str, below: str) -> None:
    names, hint, newest = CASES[case]
    folder = tmp_path / "metadata"
    folder.mkdir()
    for name in (*names, "snap-9.avro", "stats.puffin"):
        (folder / name).write_text("{}")
    if hint is not None:
        (folder / "version-hint.text").write_text(hint, "latin-1")
    assert newest_metadata(f"{tmp_path}{below}", FileStorage()) == f"{folder}/{newest}"


def test_the_file_written_last_of_one_version_is_the_table(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    for name, at in (("00002-b", 1_000), ("00002-a", 2_000)):
        path = tmp_path / "metadata" / f"{name}.metadata.json"
        path.write_text("{}")
        os.utime(path, (at, at))
    assert newest_metadata(str(tmp_path), FileStorage()).endswith("/00002-a.metadata.json")


def test_a_folder_without_metadata_is_not_a_table(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    with pytest.raises(InvalidInput, match="not an Iceberg table"):
        newest_metadata(str(tmp_path / "metadata"), FileStorage())
