"""Limnograph's maintainer, with a file of its own: the policy, and in which catalog it may write."""

from __future__ import annotations

from typing import Any

from lakehouse.parts import programs
from lakehouse.parts.places import Places
from limnograph.demo.processes.children import Program

LONGEST_S = 400.0
POLICY = """\
# Written by the reference lakehouse. Limnograph's server never reads this file.
[maintenance]
mode = "advise"                        # tables without a policy of their own

[maintenance.catalogs.lake]            # may be written, with the credentials of the settings

[[maintenance.policy]]
name = "lab"
tables = ["lake.lab.old_*"]
actions = ["compact", "manifests", "expire"]
mode = "auto"
# Every reader is named: none continues from where it was more than an hour ago.
readers = [{ job = "*", lag = "1h" }]
# An expiry pays from 1 GiB on; here it must be visible on kilobytes.
worth = { freed_bytes = "1 KiB" }
"""
WATCHED = """\
# Written by the reference lakehouse. Limnograph's server never reads this file.
[maintenance]
mode = "advise"                        # tables without a policy of their own
master = "local[1]"

[maintenance.spark]
"spark.driver.memory" = "512m"
"spark.driver.extraJavaOptions" = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

[maintenance.catalogs.lake]            # may be written, with the credentials of the settings

[[maintenance.policy]]
name = "medallion"
tables = ["lake.bronze.*", "lake.silver.*"]
actions = ["compact", "manifests"]
mode = "auto"
quiet = "5s"                           # a day passes each minute
worth = { saved_files = 10, paying = false }
"""
"""What the maintainer may do while the lakehouse is only watched."""


def watching(places: Places) -> Program:
    """The maintainer as a program that runs until it is stopped."""
    file = places.root / "maintenance.toml"
    file.write_text(WATCHED)
    return programs.limnograph("maintain", places, "--maintenance", str(file), "--watch")


def maintain_once(places: Places) -> dict[str, Any]:
    """One round: everything that is due under the policy. Returns its report. Raises EnvironmentFault."""
    file = places.root / "maintenance.toml"
    file.write_text(POLICY)
    program = programs.limnograph("maintain", places, "--maintenance", str(file), "--once", "--json")
    report: dict[str, Any] = programs.report_of(program, places, LONGEST_S, codes=(0, 1))
    return report
