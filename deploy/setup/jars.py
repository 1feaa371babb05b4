"""Write the checksums of Spark's jars again, after one of their versions changed in adapters/spark/jars.py.

The jars themselves are fetched by `limnograph setup`.
"""

import sys
import tempfile
from pathlib import Path

from limnograph.adapters.spark import ivy
from limnograph.adapters.spark.jars import S3, USUAL, sha256


def main() -> int:
    """Exit 0 when both locks are written."""
    for jars in (USUAL, S3):
        with tempfile.TemporaryDirectory() as work:
            found = ivy.resolver(jars.coordinates, {}, print, jars.megabytes)(Path(work))
            jars.lock.write_text("".join(f"{sha256(file)}  {name}\n" for name, file in sorted(found.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
