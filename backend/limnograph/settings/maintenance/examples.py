"""An example of each section of the maintenance file; together they form a file that `load_maintenance` accepts."""

from __future__ import annotations

EXAMPLES = {
    "[maintenance]": """
[maintenance]
mode = "advise"                        # for tables whose policy has no mode
window = ["22:00-05:00 UTC"]
concurrent = 1
bytes_per_day = "2 TiB"
max_cost_per_day = 20.0
two_people = false
conflict_after = "15m"
expires_after = "7d"
master = "local[2]"
""",
    "[maintenance.spark]": """
[maintenance.spark]
"spark.driver.memory" = "4g"
""",
    "[maintenance.catalogs.NAME]": """
[maintenance.catalogs.lake]            # laid over [catalogs.lake] of the settings; may be empty
token_file = "secrets/lake-writer"
""",
    "[[maintenance.policy]]": """
[[maintenance.policy]]
name = "sales"
tables = ["lake.sales.**"]
actions = ["compact", "compact_deletes", "position_deletes", "manifests", "expire", "orphans"]
mode = "auto"
window = ["22:00-05:00 UTC", "12:00-13:00 UTC"]
partitions = "older than 1d"
quiet = "15m"
min_payback_days = 30
max_rewrite_ratio = 2.0
hold = false
hold_out = 0.1
""",
    "[maintenance.policy.retain]": """
[maintenance.policy.retain]            # or in one line: retain = {age = "7d", last = 20}
age = "7d"
last = 20
""",
    "[[maintenance.policy.readers]]": """
[[maintenance.policy.readers]]
job = "churn"
lag = "36h"
""",
    "[maintenance.policy.orphans]": """
[maintenance.policy.orphans]
age = "7d"
mode = "approve"
longest_run = "12h"
""",
    "[maintenance.policy.worth]": """
[maintenance.policy.worth]
saved_files = 50
freed_bytes = "1 GiB"
paying = true
""",
}
"""Sections of a policy follow it, before the next `[[maintenance.policy]]`."""
