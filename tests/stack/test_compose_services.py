"""Object store and REST catalog by the environments that docker-compose.yml gives them, and the settings beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import yaml
from pyiceberg.catalog import load_catalog

from iceberg_rest import iceberg_rest
from limnograph.settings import load
from s3_endpoint import s3_endpoint

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def properties_of(environment: dict[str, object], given: dict[str, str]) -> dict[str, str]:
    """Of the catalog behind the REST server, as its program reads them; `given`: values that compose fills in."""
    found = {}
    for name, value in environment.items():
        if name.startswith("CATALOG_") and name != "CATALOG_REST_PORT":
            key = name.removeprefix("CATALOG_").lower().replace("__", "-").replace("_", ".")
            found[key] = re.sub(r"\$\{(\w+):-\}|(http://object-store:9000)|(/data)", lambda f: given[f[0]], str(value))
    return found


def test_a_table_made_through_the_services_of_the_profile_is_read_by_its_settings(stack: Path, tmp_path: Path) -> None:
    bucket = str(COMPOSE["object-store"]["environment"]["STORE_BUCKETS"])
    with s3_endpoint(stack / "s3", tmp_path / "s3", bucket) as store:
        given = {
            "${LIMNOGRAPH_STORE_KEY:-}": store["s3.access-key-id"],
            "${LIMNOGRAPH_STORE_SECRET:-}": store["s3.secret-access-key"],
            "http://object-store:9000": store["s3.endpoint"],
            "/data": str(tmp_path),
        }
        behind = properties_of(COMPOSE["rest-catalog"]["environment"], given)
        jars = [stack / "rest", stack.parent / "jars-s3"]
        with iceberg_rest(jars, tmp_path / "rest", behind.pop("warehouse"), behind) as url:
            settings = load(
                ROOT / "deploy" / "compose" / "limnograph-stack.toml",
                {
                    "LIMNOGRAPH_CATALOG_HOST": "catalog:5432",
                    "LIMNOGRAPH_CATALOG_PASSWORD": "unused",
                    "LIMNOGRAPH_WAREHOUSE": "file:///warehouse",
                    "LIMNOGRAPH_STATE": str(tmp_path),
                    "LIMNOGRAPH_PROMETHEUS_URL": "http://prometheus:9090",
                    "LIMNOGRAPH_TRINO_URL": "http://trino:8080",
                    "LIMNOGRAPH_REST_URL": url,
                    "LIMNOGRAPH_STORE_URL": store["s3.endpoint"],
                    "LIMNOGRAPH_STORE_KEY": store["s3.access-key-id"],
                    "LIMNOGRAPH_STORE_SECRET": store["s3.secret-access-key"],
                },
            )
            far = load_catalog("far", **settings.catalogs["far"])
            far.create_namespace("sales")
            rows = pa.table({"id": [1, 2, 3]})
            far.create_table("sales.orders", rows.schema).append(rows)
            assert far.load_table("sales.orders").scan().to_arrow().num_rows == 3
            assert far.load_table("sales.orders").location().startswith(f"s3://{bucket}/warehouse")
    assert list((tmp_path / "s3" / "data" / bucket / "warehouse").rglob("*.parquet"))
