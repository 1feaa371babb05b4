"""`limnograph serve` as a process over a small lake whose watcher has seen it, where tokens say who may ask."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

PROGRAM = [sys.executable, "-m", "limnograph"]
SEEN_S = 150
ROWS = pa.table({"id": [1, 2]})


class Served(NamedTuple):
    """Its address, a token with every scope, and the ids of the snapshots of `lake.sales.orders`, oldest first."""

    url: str
    token: str
    snapshots: list[str]

    def get(self, path: str) -> Any:
        """The answer to a caller who may read."""
        request = urllib.request.Request(self.url + path, headers={"authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def small_lake(folder: Path, settings: str = "", commits: int = 1) -> SqlCatalog:
    """Catalog `lake` with `sales.orders`, and `limnograph.toml` with it and more `settings`."""
    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/wh"}
    catalog = SqlCatalog("lake", **properties)
    catalog.create_namespace("sales")
    orders = catalog.create_table("sales.orders", ROWS.schema)
    for _ in range(commits):
        orders.append(ROWS)
    lines = "".join(f'{key} = "{value}"\n' for key, value in {"type": "sql", **properties}.items())
    (folder / "limnograph.toml").write_text(f"[catalogs.lake]\n{lines}{settings}")
    return catalog


@contextmanager
def served(folder: Path, settings: str = "") -> Iterator[Served]:
    """Stopped at the end; what it logged is then in `folder/log`. `settings`: more of them."""
    catalog = small_lake(folder, f'[auth]\nmode = "tokens"\n{settings}', commits=2)
    config = ["--config", str(folder / "limnograph.toml")]
    made = subprocess.run(
        [*PROGRAM, "token", "create", "all", "--scope", "read,annotate,webhook,maintain", *config],
        capture_output=True,
        text=True,
        check=True,
    )
    with (folder / "log").open("w") as log:
        child = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0", *config], stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        url = child.stdout.readline().rsplit(" ", 1)[-1].strip()
        found = Served(
            url, made.stdout.strip(), [str(s.snapshot_id) for s in catalog.load_table("sales.orders").snapshots()]
        )
        _seen(found)
        yield found
    finally:
        child.terminate()
        child.wait(60)
        child.stdout.close()


def _seen(server: Served) -> None:
    """Until the watcher has told of both commits."""
    end = time.monotonic() + SEEN_S
    while time.monotonic() < end:
        try:
            if len(server.get("/api/v1/tables/lake/sales/orders/commits")["rows"]) == 2:
                return
        except urllib.error.HTTPError:
            pass
        time.sleep(0.2)
    raise TimeoutError("the watcher never told of the lake")
