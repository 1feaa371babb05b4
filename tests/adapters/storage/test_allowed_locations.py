"""Which locations a table may name: its metadata is hostile, and nothing is opened that nobody allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from limnograph.adapters.storage.allowed import Roots, TableStorage, table_folder
from limnograph.adapters.storage.files import FileStorage
from limnograph.adapters.storage.places import PathMap
from limnograph.domain.errors import MetadataError

S3_HOME = "s3://lake/warehouse/db/t"


def storage(home: str, *roots: str, path_map: dict[str, str] | None = None) -> TableStorage:
    return TableStorage(FileStorage(), Roots(roots, PathMap(path_map)), home)


def refused(found: TableStorage, location: str) -> bool:
    try:
        found.place(location)
    except MetadataError as error:
        return error.code == "location_refused"
    return False


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "file:/etc/passwd",
        "/etc/passwd",
        "etc/passwd",
        "FILE:///etc/passwd",
        "file:etc/passwd",
        "file://localhost/etc/passwd",
        "file:////etc/passwd",
        "//host/share/m.avro",
        "\\\\host\\share\\m.avro",
        " //host/share/m.avro",
        "s3://lake/warehouse/db/t\\m.avro",
        "s3://lake/warehouse/db/t/m.avro\x00.json",
        "s3://lake/warehouse/db/t/m\r\nHost: evil",
        "s3://lake/warehouse/db/t/../../secret/m.avro",
        "s3://lake/warehouse/db/t/..",
        "s3://lake/warehouse/db/tt/m.avro",
        "s3://lake/warehouse/db/t2",
        "s3://lake",
        "s3://lake/",
        "s3://",
        "s3:///warehouse/db/t/m.avro",
        "s3://other/warehouse/db/t/m.avro",
        "s3://Lake/warehouse/db/t/m.avro",
        "s3://127.0.0.1/warehouse/db/t/m.avro",
        "s3://2130706433/warehouse/db/t/m.avro",
        "s3://0x7f000001/warehouse/db/t/m.avro",
        "s3://[::ffff:127.0.0.1]/warehouse/db/t/m.avro",
        "s3://169.254.169.254/latest/meta-data",
        "s3://user@lake/warehouse/db/t/m.avro",
        "s3://lake@evil/warehouse/db/t/m.avro",
        "s3://lake:9000/warehouse/db/t/m.avro",
        "s3://lake#@evil/warehouse/db/t/m.avro",
        "s3://lake?/warehouse/db/t/m.avro",
        "s3://xn--lke-0na/warehouse/db/t/m.avro",
        "gs://lake/warehouse/db/t/m.avro",
        "http://lake/warehouse/db/t/m.avro",
        "https://lake/warehouse/db/t/m.avro",
        "hdfs://lake/warehouse/db/t/m.avro",
        "abfss://lake@account.dfs.core.windows.net/warehouse/db/t/m.avro",
        "hf://lake/warehouse/db/t/m.avro",
        "data:application/avro,x",
        "javascript:alert(1)",
        "",
        ".",
    ],
)
def test_a_table_on_an_object_store_may_not_name(location: str) -> None:
    assert refused(storage(S3_HOME), location)


@pytest.mark.parametrize(
    "location",
    [
        "s3://lake/warehouse/db/t/metadata/snap-1.avro",
        "s3a://lake/warehouse/db/t/metadata/snap-1.avro",
        "s3n://lake/warehouse/db/t/metadata/snap-1.avro",
        "s3://lake/warehouse/db/t//double//slash.avro",
        "s3://lake/warehouse/db/t/a=b%2F..%2Fc/m.avro",
        "s3://lake/warehouse/db/t/x?y#z .avro",
    ],
)
def test_a_table_on_an_object_store_may_name_locations_below_its_folder(location: str) -> None:
    assert not refused(storage(S3_HOME), location)


@pytest.mark.parametrize(
    ("claimed", "location"),
    [
        ("s3://elsewhere/t", "s3://elsewhere/t/metadata/m.avro"),
        ("s3a://elsewhere", "s3://elsewhere/m.avro"),
        ("s3://lake/old/t/", "s3://lake/old/t/m.avro"),
    ],
)
def test_a_claim_on_the_same_kind_of_store_is_accepted(claimed: str, location: str) -> None:
    found = storage(S3_HOME)
    assert refused(found, location)
    found.claim(claimed, {})
    assert not refused(found, location)


@pytest.mark.parametrize(
    "key", ["write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"]
)
def test_properties_that_name_locations_are_claims(key: str) -> None:
    found = storage(S3_HOME)
    found.claim(S3_HOME, {key: "s3://elsewhere/files", "comment": "s3://third"})
    assert not refused(found, "s3://elsewhere/files/m.avro")
    assert refused(found, "s3://third/m.avro")


@pytest.mark.parametrize(
    ("claimed", "location"),
    [
        ("file:///etc", "file:///etc/passwd"),
        ("/", "/etc/passwd"),
        ("gs://b", "gs://b/x"),
        ("https://evil", "https://evil/x"),
        ("s3://127.0.0.1", "s3://127.0.0.1/x"),
        ("s3://2130706433", "s3://2130706433/x"),
        ("s3://0x7f000001", "s3://0x7f000001/x"),
        ("s3://localhost", "s3://localhost/x"),
        ("s3://user:pw@host", "s3://user:pw@host/x"),
        ("s3://host:81", "s3://host:81/x"),
        ("s3://lake/a/../..", "s3://lake/x"),
        ("s3://", "s3://any/x"),
        ("//host/share", "//host/share/x"),
    ],
)
def test_a_hostile_claim_is_not_accepted(claimed: str, location: str) -> None:
    found = storage(S3_HOME)
    found.claim(claimed, {"write.data.path": claimed})
    assert refused(found, location)


def test_a_claim_of_a_table_on_disk_allows_nothing(tmp_path: Path) -> None:
    found = storage(f"file://{tmp_path}/t")
    found.claim("file:///etc", {"write.metadata.path": "s3://bucket"})
    assert refused(found, "file:///etc/passwd")
    assert refused(found, "s3://bucket/x")


def test_configured_roots_allow_other_stores_and_folders(tmp_path: Path) -> None:
    found = storage(S3_HOME, "file:///srv/archive", "gs://backup/lake", "prod")
    assert not refused(found, "file:/srv/archive/m.avro")
    assert not refused(found, "gs://backup/lake/m.avro")
    assert refused(found, "gs://backup/other")
    assert refused(found, "/srv/archives/m.avro")
    assert refused(found, f"{tmp_path}")


def test_links_and_dots_are_resolved_before_the_check(tmp_path: Path) -> None:
    (tmp_path / "t/metadata").mkdir(parents=True)
    (tmp_path / "secret").write_text("x")
    (tmp_path / "t/metadata/file").symlink_to(tmp_path / "secret")
    (tmp_path / "t/folder").symlink_to(tmp_path)
    (tmp_path / "t/inside").symlink_to(tmp_path / "t/metadata")
    found = storage(f"file:{tmp_path}/t")
    assert refused(found, f"{tmp_path}/t/metadata/file")
    assert refused(found, f"{tmp_path}/t/folder/secret")
    assert refused(found, f"{tmp_path}/t/../secret")
    assert not refused(found, f"{tmp_path}/t/inside/m.avro")
    assert not refused(found, f"{tmp_path}/t/%2e%2e/secret")
    assert str(found.place(f"{tmp_path}/t/inside/m.avro")) == f"file://{tmp_path}/t/metadata/m.avro"


def test_a_root_behind_a_link_is_the_target_of_the_link(tmp_path: Path) -> None:
    (tmp_path / "real/t").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = storage(f"file://{tmp_path}/link/t")
    assert not refused(found, f"file://{tmp_path}/link/t/m.avro")
    assert not refused(found, f"file://{tmp_path}/real/t/m.avro")


def test_mapped_prefixes_are_allowed_and_lead_nowhere_else(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    path_map = {"s3://lake/warehouse": str(copy), "data/persistent": str(copy), "//nas/share": str(copy)}
    found = storage(S3_HOME, path_map=path_map)
    assert str(found.place("s3a://lake/warehouse/db/t/m.avro")) == f"file://{copy}/db/t/m.avro"
    assert str(found.place("data/persistent/x/m.avro")) == f"file://{copy}/x/m.avro"
    assert str(found.place("//nas/share/m.avro")) == f"file://{copy}/m.avro"
    assert refused(found, "s3://lake/warehouse/../../etc/passwd")
    assert refused(found, "data/persistent/../../etc/passwd")


@pytest.mark.parametrize(
    "home", ["http://host/t", "hf://a/t", "ftp://h/t", "//host/t", "file://host/t", "s3:/t", "\x00"]
)
def test_a_table_on_an_unsupported_store_is_refused(home: str) -> None:
    with pytest.raises(MetadataError) as error:
        storage(home)
    assert error.value.code == "location_refused"


@pytest.mark.parametrize(
    ("pointer", "folder"),
    [
        ("s3://b/wh/t/metadata/v1.metadata.json", "s3://b/wh/t"),
        ("file:/wh/t/metadata/v1.metadata.json", "file:///wh/t"),
        ("s3://b/metadata/v1.metadata.json", "s3://b"),
        ("/metadata/v1.metadata.json", "file:///metadata"),
        ("/etc/x.json", "file:///etc"),
        ("s3://b/metadata/db/t/v1.metadata.json", "s3://b/metadata/db/t"),
        ("/lake/t/_delta_log/00000000000000000000.json", "file:///lake/t"),
        ("/lake/t/.hoodie/timeline/1_2.commit", "file:///lake/t"),
    ],
)
def test_the_folder_of_a_table_is_above_its_log(pointer: str, folder: str) -> None:
    assert table_folder(pointer) == folder
