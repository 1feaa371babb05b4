"""PostgreSQL of the lakehouse: the shop's database with logical decoding, and the database of the catalog."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from lakehouse.parts.places import SECRET, Places
from limnograph.demo.processes.children import Program
from limnograph.domain.errors import EnvironmentFault

PLACES = ("usr/lib/postgresql/*", "opt/homebrew/opt/postgresql@*", "usr/local/opt/postgresql@*")
OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "wal_level": "logical",
    "max_replication_slots": "4",
    "max_slot_wal_keep_size": "512MB",  # a reader that stopped must not fill the disk
    "shared_buffers": "64MB",
    "fsync": "off",  # an example may lose its data with the machine; a shop may not
}


def program(name: str) -> str:
    """Path of a program of PostgreSQL. Raises EnvironmentFault."""
    found = sorted(str(path) for place in PLACES for path in Path("/").glob(f"{place}/bin/{name}"))
    path = shutil.which(name) or (found[-1] if found else None)
    if path is None:
        raise EnvironmentFault(f"{name} of PostgreSQL was not found; `make system` installs it")
    return path


def server(places: Places) -> Program:
    """The server, after its folder was made. As root it runs as user postgres, which PostgreSQL demands."""
    data = places.database / "data"
    if not data.exists():
        _make(places, data)
    options = [part for key, value in OPTIONS.items() for part in ("-c", f"{key}={value}")]
    command = [program("postgres"), "-D", str(data), "-p", str(places.ports.postgres), "-k", ""]
    return Program("postgres", [*_as_postgres(), *command, *options])


def _make(places: Places, data: Path) -> None:
    places.database.mkdir(parents=True, exist_ok=True)
    secret = places.database / "password"
    secret.write_text(SECRET)
    if _as_postgres():
        for path in (places.database, secret):
            shutil.chown(path, "postgres")
    command = [program("initdb"), "-D", str(data), "-A", "scram-sha-256", "-U", "lake", f"--pwfile={secret}"]
    done = subprocess.run(
        [*_as_postgres(), *command, "-E", "UTF8", "--locale=C"], capture_output=True, text=True, check=False, cwd="/"
    )
    if done.returncode:
        raise EnvironmentFault(
            f"initdb refused {data}: {done.stderr.strip()[-300:]} Choose a folder (--dir) that user postgres may enter."
        )


@cache
def _as_postgres() -> tuple[str, ...]:
    """`setpriv` replaces itself by the program, so that signals reach the server. The user may enter folders that only
    root may enter, such as a checkout in root's home, where the system lets root give that away.
    """
    if os.geteuid() != 0:
        return ()
    # A change of the user forgets that the server ends with this process, so that it is said again.
    plain = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=TERM")
    entering = (*plain, "--inh-caps=+dac_override", "--ambient-caps=+dac_override")
    is_given = subprocess.run([*entering, "true"], capture_output=True, check=False, cwd="/").returncode == 0
    return entering if is_given else plain


def is_ready(places: Places) -> bool:
    """Whether the server accepts connections."""
    import psycopg2

    try:
        psycopg2.connect(**places.dsn("postgres"), connect_timeout=2).close()
    except psycopg2.OperationalError:
        return False
    return True


def connect(places: Places, database: str = "shop") -> Any:
    """A connection that commits each statement by itself."""
    import psycopg2

    connection = psycopg2.connect(**places.dsn(database))
    connection.autocommit = True
    return connection


def create_databases(places: Places, *names: str) -> None:
    """Create databases that do not exist."""
    connection = connect(places, "postgres")
    with connection.cursor() as cursor:
        cursor.execute("select datname from pg_database")
        known = {row[0] for row in cursor.fetchall()}
        for name in names:
            if name not in known:
                cursor.execute(f'create database "{name}"')
    connection.close()
