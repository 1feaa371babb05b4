"""An example of each section of the settings file; together they form a file that `load` accepts."""

from __future__ import annotations

import msgspec

from limnograph.settings.base import FrozenSettings
from limnograph.settings.findings import FindingsSettings


def _findings() -> dict[str, str]:
    """Sections of all findings with their defaults."""
    settings, found = FindingsSettings(), {"[findings]": "[findings]\nsmall_table_bytes = 1073741824\n"}
    for code in settings.__struct_fields__:
        section = getattr(settings, code)
        if isinstance(section, FrozenSettings):
            keys = msgspec.structs.asdict(section).items()
            lines = (f"{key} = {str(value).lower()}\n" for key, value in keys)
            found[f"[findings.{code}]"] = f"[findings.{code}]\n{''.join(lines)}"
    return found


EXAMPLES = {
    "[catalogs.NAME]": """
[catalogs.lake]                        # PyIceberg's property names; type sql, rest, glue or hive
type = "rest"
uri = "https://catalog.example.org"
token_file = "secrets/catalog"
warehouse = "s3://lake/warehouse"
s3.endpoint = "https://s3.example.org"
s3.access-key-id = "${S3_KEY}"
s3.secret-access-key_file = "secrets/s3"

[catalogs.local]
type = "sql"
uri = "postgresql+psycopg2://limnograph:${CATALOG_PASSWORD}@db.example.org/lake"
warehouse = "file:///srv/warehouse"
""",
    "[meta]": """
[meta]
catalog = "lake"
namespace = "limnograph"
""",
    "[observe]": """
[observe]
include = ["lake.**", "files.**"]
exclude = ["lake.*.tmp_*"]
roots = ["s3://shared/imported"]
table_deadline_seconds = 60
probes_per_second = 20
probes_at_once = 4
catalog_deadline_seconds = 10
""",
    "[observe.columns]": """
[observe.columns]
enabled = true
private = ["email", "*_name", "pii"]
bounds = ["country_code"]
""",
    "[[observe.paths]]": """
[[observe.paths]]
format = "delta"
name = "landing.events"
location = "s3://landing/events"
properties = {"s3.region" = "eu-central-1"}
""",
    "[[observe.warehouses]]": """
[[observe.warehouses]]
name = "landing"
location = "/srv/landing"
format = "hudi"
properties = {}
""",
    "[prometheus.NAME]": """
[prometheus.main]
url = "http://prometheus:9090"
public_url = "https://prometheus.example.org"
timeout_seconds = 5
max_series = 1000
bearer_token_file = "secrets/prometheus"
""",
    "[alertmanager]": """
[alertmanager]
url = "http://alertmanager:9093"
public_url = "https://alerts.example.org"
""",
    "[trino]": """
[trino]
url = "https://trino.example.org:8443"
catalog = "lake"
schema = "limnograph"
user = "limnograph"
password_file = "secrets/trino"        # or token_file
ca_certificates = "/etc/ssl/company.pem"
timeout_seconds = 6
concurrent = 4
catalogs = {iceberg = "lake"}
""",
    "[[jobs]]": """
[[jobs]]
name = "churn"
reads = ["lake.sales.customer_events"]
writes = ["lake.models.churn"]
select = {cluster = "prod"}
template = "spark_job_duration"
promql = "histogram_quantile(0.95, sum by (le) (rate(churn_duration_seconds_bucket[1h])))"
median = "histogram_quantile(0.5, sum by (le) (rate(churn_duration_seconds_bucket[1h])))"
load = "max(churn_rows_read)"
cpu = "sum(rate(churn_cpu_seconds_total[5m]))"
spill = "sum(churn_spilled_bytes)"
executors = "sum(churn_executors)"
memory = "sum(churn_memory_bytes)"
slot_lag = 'max(pg_replication_slots_pg_wal_lsn_diff{slot_name="lake"})'
prometheus = "main"
""",
    "[[readers]]": """
[[readers]]
jobs = "orders-stream"
tables = "lake.sales.*"
lag_hours = 12
""",
    "[[objectives]]": """
[[objectives]]
tables = "lake.sales.*"
freshness_seconds = 900
jobs = "churn*"
duration_seconds = 600
query_p95_seconds = 5
event_to_queryable_seconds = 300
cost_per_gb_month = 0.10
window_seconds = 600
""",
    "[[owners]]": """
[[owners]]
tables = "lake.sales.*"
owner = "team-sales"
""",
    **_findings(),
    "[forecast]": """
[forecast]
enabled = true
every_hours = 24
train = true
budget = 10
small_files = 5000
delete_files = 500
manifests = 400
reader_factor = 1.5
""",
    "[prices]": """
[prices]
currency = "EUR"
storage_gb_month = 0.021
put_1000 = 0.0048
get_1000 = 0.0004
vcpu_hour = 0.045
as_of = "2026-11-01"
""",
    "[inbox]": """
[inbox]
url = "postgresql+psycopg2://limnograph:${CATALOG_PASSWORD}@db.example.org/limnograph"
""",
    "[cache]": """
[cache]
dir = "/var/cache/limnograph"
""",
    "[pipeline]": """
[pipeline]
metrics = "127.0.0.1:9464"
""",
    "[retention]": """
[retention]
raw_days = 30
hourly_days = 400
""",
    "[server]": """
[server]
host = "0.0.0.0"
port = 8787
insecure = false
public_url = "https://limnograph.example.org"
page_cache_mb = 64
hot_mb = 1000
streams = 1000
streams_per_caller = 50
""",
    "[auth]": """
[auth]
mode = "oidc"
tokens = "/var/lib/limnograph/tokens.json"
audit = "/var/log/limnograph/audit.log"
session_hours = 12
session_key_file = "secrets/session"
open_metrics = false
""",
    "[auth.oidc]": """
[auth.oidc]
issuer = "https://idp.example.org"
client_id = "limnograph"
client_secret_file = "secrets/oidc"
scopes = ["openid", "email", "profile"]
groups_claim = "groups"
audience = "limnograph"
trust_email = false
grants = {"group:sre" = ["read", "webhook"], "domain:example.org" = ["read"]}
""",
    "[auth.proxy]": """
[auth.proxy]                           # for mode = "proxy"
addresses = ["10.0.0.0/24"]
secret_file = "secrets/proxy"
user_header = "x-forwarded-user"
groups_header = "x-forwarded-groups"
email_header = "x-forwarded-email"
grants = {"*" = ["read"]}
""",
    "[spark]": """
[spark]
master = "spark://spark.example.org:7077"
jars = "/opt/limnograph/jars"
conf = {"spark.executor.memory" = "2g"}
""",
    "[path_map]": """
[path_map]
"s3://lake/warehouse" = "/mnt/lake/warehouse"
""",
}
"""Heading -> TOML."""
