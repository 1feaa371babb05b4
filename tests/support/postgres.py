"""A private PostgreSQL on loopback for tests: its own data folder, its own port, gone afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def program(name: str) -> str | None:
    """Path of a PostgreSQL server program: on PATH, else where Debian and Homebrew keep it."""
    places = ("/usr/lib/postgresql/*", "/opt/homebrew/opt/postgresql@*", "/usr/local/opt/postgresql@*")
    found = sorted(str(path) for place in places for path in Path("/").glob(f"{place[1:]}/bin/{name}"))
    return shutil.which(name) or (found[-1] if found else None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(user: str, password: str, database: str) -> Iterator[str]:
    """Start a server, yield `host:port`, stop it. As root it runs as user postgres, which PostgreSQL demands.

    Its folder is none of pytest's, which every pytest that starts closes to other users again.
    """
    folder = Path(tempfile.mkdtemp(prefix="limnograph-postgres-"))
    try:
        with _running(folder, user, password, database) as address:
            yield address
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(folder: Path, user: str, password: str, database: str) -> Iterator[str]:
    data, port = folder / "data", free_port()
    secret = folder / "password"
    secret.write_text(password)
    as_root = os.geteuid() == 0
    if as_root:
        for path in (folder, secret):
            shutil.chown(path, "postgres")
        for parent in folder.parents:
            if parent.stat().st_uid == 0:
                parent.chmod(parent.stat().st_mode | 0o011)

    def run(*command: str | Path) -> None:
        prefix = ("runuser", "-u", "postgres", "--") if as_root else ()
        subprocess.run([*prefix, *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/")

    control = program("pg_ctl") or "pg_ctl"
    run(
        program("initdb") or "initdb", "-D", data, "-A", "scram-sha-256", "-U", user, f"--pwfile={secret}", "-E", "UTF8"
    )
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    run(control, "-D", data, "-o", options, "-l", folder / "log", "-w", "start")
    try:
        # `createdb` would need the password on its command line; the driver takes it as a value.
        import psycopg2

        connection = psycopg2.connect(host="127.0.0.1", port=port, user=user, password=password, dbname="postgres")
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f'create database "{database}"')
        connection.close()
        yield f"127.0.0.1:{port}"
    finally:
        run(control, "-D", data, "-m", "immediate", "-w", "stop")
