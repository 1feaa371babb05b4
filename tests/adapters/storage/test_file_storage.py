"""Files and listings: local disk for real, spelling and limits; Arrow's path of every kind of store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from limnograph.adapters.storage.files import FileStorage
from limnograph.adapters.storage.places import PathMap, place_of
from limnograph.domain.errors import MetadataError


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x" * len(name))


def names(folder: str, *, deep: bool = False) -> list[tuple[str, int]]:
    return [(found.name, found.size) for found in FileStorage().list(folder, deep=deep)]


def test_a_listing_contains_the_files_of_a_folder_by_name(tmp_path: Path) -> None:
    fill(tmp_path, "b", "a%20.json", "sub/c")
    assert names(f"file://{tmp_path}") == [("a%20.json", 9), ("b", 1)]


def test_a_deep_listing_contains_the_files_below_too(tmp_path: Path) -> None:
    fill(tmp_path, "b", "sub/c", "sub/deeper/d")
    assert [name for name, _ in names(str(tmp_path), deep=True)] == ["b", "sub/c", "sub/deeper/d"]


def test_a_listing_of_a_path_that_is_not_a_folder_is_empty(tmp_path: Path) -> None:
    fill(tmp_path, "file")
    assert names(f"{tmp_path}/nowhere") == names(f"{tmp_path}/file") == []


def test_a_deep_listing_enters_no_linked_folder(tmp_path: Path) -> None:
    fill(tmp_path, "table/a", "elsewhere/secret")
    (tmp_path / "table/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "table/circle").symlink_to(tmp_path / "table")
    assert names(f"{tmp_path}/table", deep=True) == [("a", 7)]


def test_a_file_longer_than_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(2**40)
    with pytest.raises(MetadataError) as refused:
        FileStorage().read(f"{tmp_path}/huge", 1000)
    assert refused.value.code == "file_too_large"


def test_a_named_pipe_is_not_a_file_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MetadataError) as refused:
        FileStorage().read(f"{tmp_path}/pipe", 1000)
    assert refused.value.code == "file_missing"


@pytest.mark.parametrize(
    ("location", "wanted"),
    [
        ("s3a://lake/a/x.json", "/copy/x.json"),
        ("s3://lake/a/b/x.json", "/deep/x.json"),
        ("s3://lake/ab/x.json", "/all/ab/x.json"),
        ("s3://lake", "/all"),
        ("rel/dir/x", "/rel/x"),
        ("./rel/dir/x", "/rel/x"),
        ("file:/old/x", "/new/x"),
    ],
)
def test_the_longest_prefix_is_mapped_whatever_the_order(location: str, wanted: str) -> None:
    prefixes = {
        "s3://lake": "/all",
        "s3://lake/a/": "/copy/",
        "s3a://lake/a/b": "file:///deep",
        "rel/dir": "/rel",
        "file:///old": "/new",
    }
    for order in (list(prefixes), list(reversed(prefixes))):
        assert PathMap({old: prefixes[old] for old in order}).resolve(location) == f"file://{wanted}"


def test_an_unmapped_location_is_kept_and_relative_ones_are_made_absolute() -> None:
    assert PathMap({"s3://lake": "/all"}).resolve("s3a://lakes/x/") == "s3://lakes/x"
    assert PathMap().resolve("a/b") == f"file://{Path('a/b').absolute()}"


def test_nothing_in_a_path_is_decoded() -> None:
    place = place_of("s3://bucket/a%2F#b?c d")
    assert (place.authority, place.path, str(place)) == ("bucket", "/a%2F#b?c d", "s3://bucket/a%2F#b?c d")
