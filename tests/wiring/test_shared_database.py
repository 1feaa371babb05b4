"""SQLite holds leases only on a local disk that server and maintainer share."""

from pathlib import Path

import pytest

from limnograph.domain.errors import SettingsError
from limnograph.settings import load
from limnograph.wiring.doctor.checks import checks
from limnograph.wiring.shared_database import file_system, require_shared_database

MOUNTS = """\
overlay / overlay rw,relatime 0 0
/dev/sda1 /srv ext4 rw 0 0
nas:/share /srv/nas nfs4 rw 0 0
//nas/share /srv/cifs cifs rw 0 0
user@host:/ /srv/a\\040b fuse.sshfs rw 0 0
/dev/sdb1 /srv/twice nfs rw 0 0
/dev/sdb2 /srv/twice xfs rw 0 0
short
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    (tmp_path / "mounts").write_text(MOUNTS)
    return tmp_path / "mounts"


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("/srv/inbox.db", "ext4"),
        ("/srv/nas/state/inbox.db", "nfs4"),
        ("/srv/nasty/inbox.db", "ext4"),
        ("/srv/a b/inbox.db", "fuse.sshfs"),
        ("/srv/nas/../inbox.db", "ext4"),
        ("/srv/twice/inbox.db", "xfs"),
        ("/inbox.db", "overlay"),
    ],
)
def test_the_file_system_of_a_file_is_that_of_the_innermost_mount(mounts: Path, file: str, kind: str) -> None:
    assert file_system(Path(file), mounts) == kind


def test_a_link_to_a_network_file_system_does_not_hide_it(mounts: Path, tmp_path: Path) -> None:
    (tmp_path / "state").symlink_to("/srv/nas")
    assert file_system(tmp_path / "state" / "inbox.db", mounts) == "nfs4"
    assert file_system(tmp_path, tmp_path / "missing") == ""


@pytest.mark.parametrize("folder", ["nas", "cifs", "a b"])
def test_sqlite_on_a_network_file_system_is_refused_with_the_remedy(mounts: Path, folder: str) -> None:
    with pytest.raises(SettingsError, match=r"^inbox\.url: is SQLite on .*leases do not hold.*use PostgreSQL"):
        require_shared_database(f"sqlite:////srv/{folder}/inbox.db", mounts=mounts)


@pytest.mark.parametrize("master", ["spark://m:7077", "k8s://https://m:6443", "yarn"])
def test_a_remote_master_needs_a_disk_that_is_known_to_be_local(mounts: Path, tmp_path: Path, master: str) -> None:
    require_shared_database("sqlite:////srv/inbox.db", master, mounts)
    with pytest.raises(SettingsError, match=r"one container, and Spark's master is \w+: .*use PostgreSQL") as refused:
        require_shared_database("sqlite:////var/inbox.db", master, mounts)
    assert "m:" not in str(refused.value).replace("psycopg2:", "")
    with pytest.raises(SettingsError, match="not known"):
        require_shared_database("sqlite:////srv/inbox.db", master, tmp_path / "missing")


def test_postgresql_and_a_local_disk_are_accepted(mounts: Path) -> None:
    require_shared_database("postgresql+psycopg2://u@h/db", "k8s://https://m", mounts)
    require_shared_database("sqlite:////srv/inbox.db", mounts=mounts)
    require_shared_database("sqlite:////var/inbox.db", "local[2]", mounts)
    require_shared_database("nonsense", mounts=mounts)
    with pytest.raises(SettingsError, match="in memory"):
        require_shared_database("sqlite://", mounts=mounts)


def test_doctor_refuses_a_database_that_cannot_hold_leases(tmp_path: Path) -> None:
    file = tmp_path / "limnograph.toml"
    file.write_text('[catalogs.lake]\ntype = "sql"\nuri = "sqlite:///x.db"\n[inbox]\nurl = "sqlite:///:memory:"\n')
    (inbox,) = [check for check in checks(load(str(file))) if check.name == "inbox"]
    with pytest.raises(SettingsError, match=r"^inbox\.url: is SQLite in memory"):
        inbox.ask()
