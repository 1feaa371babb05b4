"""An S3 endpoint (s3proxy) on loopback: objects are plain files of a folder, so they outlive it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from limnograph.adapters.spark.java import java_home
from postgres import free_port
from spark_cluster import wait_for

KEY, SECRET, REGION = "reader", "kept-out-of-every-log", "us-east-1"
LOGBACK = """<configuration><appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %level %logger{0} %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="OUT"/></root></configuration>"""


@contextmanager
def s3_endpoint(jars: Path, folder: Path, *buckets: str) -> Iterator[dict[str, str]]:
    """Properties of a catalog whose tables lie there, by PyIceberg's names."""
    for bucket in buckets:
        (folder / "data" / bucket).mkdir(parents=True)
    url = f"http://127.0.0.1:{free_port()}"
    settings = {
        "s3proxy.endpoint": url,
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.identity": KEY,
        "s3proxy.credential": SECRET,
        "s3proxy.ignore-unknown-headers": "true",
        "jclouds.provider": "filesystem-nio2",
        "jclouds.filesystem.basedir": str(folder / "data"),
    }
    (folder / "s3.conf").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    (folder / "logback.xml").write_text(LOGBACK)
    options = [f"-Dlogback.configurationFile={folder}/logback.xml", "-Xmx300m", "-XX:+UseSerialGC", "-cp", f"{jars}/*"]
    command = [f"{java_home()}/bin/java", *options, "org.gaul.s3proxy.Main", "--properties", str(folder / "s3.conf")]
    with (folder / "s3.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
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
