"""Install services from Maven into .tools: those of `make test-stack` into `stack` (a REST catalog, an S3 endpoint),
with `--stream` those of the lakehouse's stream into `stream` (Kafka, Debezium, Spark's Kafka source), with `--drill`
those of its drill into `drill` (a newer Iceberg).

One folder of jars for each `NAME.xml` of the set, resolved by Maven into the checkout, checked against `NAME.lock`
(SHA-256). Does nothing when all are there and right. `--update` writes new locks after a version changed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = ROOT / ".tools" / "m2"
SETS = ("stream", "drill")
GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def main() -> int:
    """Exit 0 when every folder holds exactly what its lock says."""
    update, chosen = "--update" in sys.argv, next((each for each in SETS if f"--{each}" in sys.argv), "stack")
    poms = sorted(Path(__file__).with_name(chosen).glob("*.xml"))
    return max(install(pom, pom.with_suffix(".lock"), ROOT / ".tools" / chosen, update=update) for pom in poms)


def install(pom: Path, lock: Path, place: Path, *, update: bool) -> int:
    """One folder of jars; 1 when a jar is missing or has another checksum."""
    into = place / pom.stem
    wanted = {} if update else dict(reversed(line.split()) for line in lock.read_text().splitlines())
    if wanted and _sums(into) == wanted:
        return 0
    print(f"{pom.stem}: resolving with Maven (once) …", flush=True)
    shutil.rmtree(into, ignore_errors=True)
    command = ["mvn", "-q", "-B", "-ntp", "-f", str(pom), f"-Dmaven.repo.local={REPOSITORY}", GOAL]
    subprocess.run([*command, f"-DoutputDirectory={into}", "-DincludeScope=runtime"], check=True)
    found = _sums(into)
    if update:
        lock.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(found.items())))
        return 0
    differing = sorted(name for name in {*wanted, *found} if wanted.get(name) != found.get(name))
    for name in differing:
        print(f"{pom.stem}/{name}: checksum differs from {lock.name}, or one has no such jar", file=sys.stderr)
    if not differing:
        print(f"{pom.stem}: {len(found)} jars, checksums right")
    return int(bool(differing))


def _sums(folder: Path) -> dict[str, str]:
    return {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in folder.glob("*.jar")}


if __name__ == "__main__":
    sys.exit(main())
