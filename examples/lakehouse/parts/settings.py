"""Limnograph's settings for the lakehouse: its catalog, and limits of findings for tables of minutes, not months."""

from __future__ import annotations

from lakehouse.parts.places import KEY, REGION, SECRET, Places
from lakehouse.parts.programs import SPARK_JARS

RISKY_SMALL_FILES = 60
LIMITS = f"""\
# A lakehouse of minutes: limits that a real one reaches in days are scaled down, so that each pitfall is reached.
[findings]
small_table_bytes = 1024

[findings.snapshots_unbounded]
snapshots = 20
age_days = 0.0001

[findings.manifests_fragmented]
excess = 10
least = 20

[findings.tiny_commits]
commits = 10

[findings.deletes_not_materialized]
share = 0.1
share_days = 0.0001

[findings.high_cardinality_partitioning]
partitions = 100

[findings.cold_data]
bytes = 100_000

[forecast]
small_files = {RISKY_SMALL_FILES}

# List prices in thousandths of a dollar: what pays for terabytes must be visible on kilobytes.
[prices]
currency = "mUSD"
storage_gb_month = 23
put_1000 = 5
get_1000 = 0.4
vcpu_hour = 50
"""


def limnograph_toml(places: Places, *, alerts: bool = False) -> str:
    """The settings file. docs/settings.md has all keys. `alerts`: whether Prometheus and Alertmanager run."""
    alerted = f'[prometheus.main]\nurl = "{places.prometheus}"\n\n[alertmanager]\nurl = "{places.alertmanager}"\n\n'
    return f"""\
# Written by the reference lakehouse at every start.
[meta]
catalog = "lake"
namespace = "limnograph"

[catalogs.lake]
type = "rest"
uri = "{places.catalog}"
s3.endpoint = "{places.store}"
s3.access-key-id = "{KEY}"
s3.secret-access-key = "{SECRET}"
s3.region = "{REGION}"

[observe]
include = ["lake.**"]
exclude = ["lake.limnograph.**", "lake.aside.**"]

[pipeline]
metrics = "127.0.0.1:{places.ports.pipeline}"

{alerted if alerts else ""}[auth]
mode = "none"

[server]
host = "127.0.0.1"
port = {places.ports.server}

[spark]
master = "local[1]"
jars = "{SPARK_JARS}"

[spark.conf]
"spark.driver.memory" = "700m"
"spark.driver.extraJavaOptions" = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"spark.sql.shuffle.partitions" = "1"

{LIMITS}"""
