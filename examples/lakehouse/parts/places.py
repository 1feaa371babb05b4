"""Where everything is: one folder of state, one port for each program, secrets that are good for loopback only."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from limnograph.demo.processes.tools import free_port, is_free
from limnograph.domain.errors import Conflict, InvalidInput

CHECKOUT = Path(__file__).resolve().parents[3]
TOOLS = CHECKOUT / ".tools"
KEY, SECRET, REGION = "lakehouse", "only-on-loopback", "us-east-1"
PORT_ENV = "LAKEHOUSE_PORT_"
BUCKET = "lake"


class Ports(NamedTuple):
    """Ports on 127.0.0.1. The numbers are the usual ones."""

    postgres: int = 9532
    store: int = 9501
    catalog: int = 9502
    standby: int = 9512
    standby_store: int = 9511
    prometheus: int = 9590
    alertmanager: int = 9598
    jobs: int = 9408
    trino: int = 9580
    server: int = 8797
    pipeline: int = 9464
    broker: int = 9592
    controller: int = 9593
    worker: int = 9583

    @classmethod
    def choose(cls, environment: Mapping[str, str] = os.environ) -> Ports:
        """The ports that LAKEHOUSE_PORT_<NAME> names, else the usual ones, else free ones. Raises InvalidInput."""
        return cls(*(_port(name, usual, environment) for name, usual in cls._field_defaults.items()))


def _port(name: str, usual: int, environment: Mapping[str, str]) -> int:
    variable = f"{PORT_ENV}{name.upper()}"
    given = environment.get(variable, "")
    if not given:
        return usual if is_free(usual) else free_port()
    if not given.isdecimal() or not is_free(int(given)):
        raise InvalidInput(variable, f"{given} is not a free port of 127.0.0.1; name another, or none for any")
    return int(given)


class Places:
    """Paths below the folder of the lakehouse, and addresses. `objects`: buckets of the object store, if elsewhere.
    Immutable after construction.
    """

    def __init__(self, root: Path, ports: Ports, objects: Path | None = None) -> None:
        self.root, self.ports = root.absolute(), ports
        self.logs = self.root / "logs"
        self.database = self.root / "postgres"
        self.objects = objects or self.root / "objects"
        self.trino = self.root / "trino"
        self.classes = self.root / "classes"
        self.alerts = self.root / "alerts"
        self.backup = self.root / "backup"
        self.clicks = self.root / "clicks"
        self.kafka = self.root / "kafka"
        self.connect = self.root / "connect"
        self.checkpoints = self.root / "checkpoints"
        self.settings = self.root / "limnograph.toml"
        self.rules = self.root / "access-rules.json"

    @property
    def store(self) -> str:
        return f"http://127.0.0.1:{self.ports.store}"

    @property
    def catalog(self) -> str:
        return f"http://127.0.0.1:{self.ports.catalog}"

    @property
    def server(self) -> str:
        return f"http://127.0.0.1:{self.ports.server}"

    @property
    def prometheus(self) -> str:
        return f"http://127.0.0.1:{self.ports.prometheus}"

    @property
    def alertmanager(self) -> str:
        return f"http://127.0.0.1:{self.ports.alertmanager}"

    @property
    def broker(self) -> str:
        return f"127.0.0.1:{self.ports.broker}"

    @property
    def worker(self) -> str:
        """Kafka Connect."""
        return f"http://127.0.0.1:{self.ports.worker}"

    @property
    def click_log(self) -> Path:
        return self.clicks / "clicks-0.ndjson"

    def standing_by(self) -> Places:
        """The second place of the drill: other addresses, and objects of the backup."""
        ports = self.ports._replace(catalog=self.ports.standby, store=self.ports.standby_store)
        return Places(self.root, ports, self.backup / "objects")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder until the block ends. Raises Conflict if another lakehouse has it."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Conflict(f"a lakehouse is running in {self.root}; stop it, or pass another --dir") from None
            yield

    def clear(self) -> None:
        """Delete all state but logs and settings."""
        for path in (*self._own(), self.classes):
            if path != self.logs:
                shutil.rmtree(path, ignore_errors=True)

    def renew(self) -> None:
        """Delete the state of an earlier run, and only that."""
        for path in self._own():
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.logs, self.clicks, self.backup, self.objects / BUCKET):
            path.mkdir(parents=True, exist_ok=True)

    def _own(self) -> tuple[Path, ...]:
        folders = (self.logs, self.database, self.objects, self.trino, self.backup, self.clicks, self.alerts)
        return (
            *folders,
            self.kafka,
            self.connect,
            self.checkpoints,
            self.root / ".limnograph",
            self.root / "cache",
        )

    def dsn(self, database: str = "shop") -> dict[str, str | int]:
        """Arguments of a connection."""
        return {
            "host": "127.0.0.1",
            "port": self.ports.postgres,
            "user": "lake",
            "password": SECRET,
            "dbname": database,
        }

    def iceberg(self, uri: str = "") -> dict[str, str]:
        """Properties of the catalog, by PyIceberg's names."""
        return {
            "type": "rest",
            "uri": uri or self.catalog,
            "s3.endpoint": self.store,
            "s3.access-key-id": KEY,
            "s3.secret-access-key": SECRET,
            "s3.region": REGION,
        }
