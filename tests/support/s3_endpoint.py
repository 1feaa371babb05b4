"""The object store of docker-compose.yml (s3proxy) on loopback: objects are files of a folder, so they outlive it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from limnograph.adapters.spark.java import java_home
from postgres import free_port
from spark_cluster import wait_for

ROOT = Path(__file__).parents[2]
KEY, SECRET, REGION = "reader", "kept-out-of-every-log", "us-east-1"


@contextmanager
def s3_endpoint(jars: Path, folder: Path, *buckets: str) -> Iterator[dict[str, str]]:
    """Properties of a catalog whose tables lie there, by PyIceberg's names."""
    url = f"http://127.0.0.1:{free_port()}"
    variables = {
        "JAVA": f"{java_home()}/bin/java",
        "STACK": str(jars.parent),
        "CONFIG": str(ROOT / "deploy" / "compose"),
        "STORE_ENDPOINT": url,
        "STORE_KEY": KEY,
        "STORE_SECRET": SECRET,
        "STORE_BUCKETS": " ".join(buckets),
        "STORE_DATA": str(folder / "data"),
        "TMPDIR": str(folder),
    }
    folder.mkdir(parents=True, exist_ok=True)
    command = ["sh", str(ROOT / "deploy" / "images" / "neighbours.sh"), "store"]
    with (folder / "s3.log").open("w") as log:
        process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=log, stderr=log)
    try:
        wait_for(lambda: answers(url), "the S3 endpoint")
        yield {"s3.endpoint": url, "s3.access-key-id": KEY, "s3.secret-access-key": SECRET, "s3.region": REGION}
    finally:
        process.kill()
        process.wait(20)


def answers(url: str) -> bool:
    """Whether somebody speaks HTTP there."""
    try:
        httpx.get(url, timeout=2)
    except httpx.HTTPError:
        return False
    return True
