"""Put the Spark jars of `jars.lock` into .tools/jars, resolved by Spark's own Ivy, each checked by SHA-256.

`python deploy/setup/jars.py` does nothing when all jars are there and right. `--s3` makes .tools/jars-s3 of them and
of what tables on S3 need (60 MB more; `[spark] jars` names it). `--update` writes new locks after a version changed.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETUP = Path(__file__).parent
JARS = ROOT / ".tools" / "jars"
COORDINATES = (
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
    "org.xerial:sqlite-jdbc:3.50.3.0",
    "org.postgresql:postgresql:42.7.8",
)
S3 = ("org.apache.iceberg:iceberg-aws-bundle:1.11.0",)


def main() -> int:
    """Exit 0 when the folders hold exactly what the locks say."""
    update = "--update" in sys.argv
    failed = install(COORDINATES, SETUP / "jars.lock", JARS, update=update)
    if not failed and ("--s3" in sys.argv or update):
        with_s3 = JARS.with_name("jars-s3")
        failed = install(S3, SETUP / "jars-s3.lock", with_s3, update=update)
        for jar in JARS.glob("*.jar") if not failed and not update else ():
            shutil.copy2(jar, with_s3 / jar.name)
    return failed


def install(coordinates: tuple[str, ...], lock: Path, into: Path, *, update: bool) -> int:
    """One folder; 1 when a jar is missing or has another checksum."""
    wanted = {} if update else dict(reversed(line.split()) for line in lock.read_text().splitlines())
    if wanted and all((into / name).is_file() and _sha256(into / name) == digest for name, digest in wanted.items()):
        return 0
    print(f"resolving {len(coordinates)} Spark packages with Ivy (once, about 60 MB) …", flush=True)
    found = _resolve(coordinates)
    if update:
        lock.write_text("".join(f"{_sha256(jar)}  {jar.name}\n" for jar in sorted(found)))
        return 0
    into.mkdir(parents=True, exist_ok=True)
    for name, digest in wanted.items():
        jar = next((one for one in found if one.name == name), None)
        if jar is None or _sha256(jar) != digest:
            print(f"{name}: {'not resolved' if jar is None else f'checksum differs from {lock.name}'}", file=sys.stderr)
            return 1
        shutil.copy2(jar, into / name)
    print(f"{len(wanted)} jars in {into.relative_to(ROOT)}, checksums right")
    return 0


def _resolve(coordinates: tuple[str, ...]) -> list[Path]:
    from pyspark.sql import SparkSession

    from limnograph.adapters.spark.session import prepare_environment

    prepare_environment()  # the same search for a JDK 17 as the pipeline's
    ivy = ROOT / ".tools" / "ivy"
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.jars.packages", ",".join(coordinates))
        .config("spark.jars.ivy", str(ivy))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.stop()
    names = {f"{artifact}-{version}.jar" for _, artifact, version in (c.split(":") for c in coordinates)}
    for jar in (ivy / "jars").glob("*.jar"):
        # Ivy writes `group_artifact-version.jar`; the file name that Maven knows is the part after the group.
        plain = next((name for name in names if jar.name.endswith(f"_{name}")), None)
        if plain:
            jar.rename(jar.with_name(plain))
    return [ivy / "jars" / name for name in sorted(names) if (ivy / "jars" / name).is_file()]


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
