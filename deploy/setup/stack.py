"""Install the services of `make test-stack` into .tools/stack: a REST catalog and an S3 endpoint, from Maven.

One folder of jars for each `stack/NAME.xml`, resolved by Maven into the checkout, checked against `stack/NAME.lock`
(SHA-256). Does nothing when all are there and right. `--update` writes new locks after a version changed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
POMS = Path(__file__).with_name("stack")
STACK = ROOT / ".tools" / "stack"
REPOSITORY = ROOT / ".tools" / "m2"
GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def main() -> int:
    """Exit 0 when every folder holds exactly what its lock says."""
    update = "--update" in sys.argv
    return max(install(pom, pom.with_suffix(".lock"), update=update) for pom in sorted(POMS.glob("*.xml")))


def install(pom: Path, lock: Path, *, update: bool) -> int:
    """One folder of jars; 1 when a jar is missing or has another checksum."""
    into = STACK / pom.stem
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
