"""The contracts of catalogs, meta store and upkeep, over a real REST catalog: on disk, upkeep also on S3."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from pyiceberg.catalog import load_catalog

from limnograph.adapters.iceberg.catalogs.catalog import observed_catalog
from limnograph.adapters.spark.housekeeping import SparkUpkeep
from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.ports.meta_store import MetaStore
from test_catalog import *  # noqa: F403 - each suite runs again over the fixtures below
from test_catalog import World
from test_meta_store import *  # noqa: F403
from test_meta_upkeep import *  # noqa: F403
from test_meta_upkeep import Kept

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Catalogs = dict[str, dict[str, str]]


@pytest.fixture
def world(rest_catalogs: Catalogs) -> World:
    writer = load_catalog("disk", **rest_catalogs["disk"])
    for identifier in [found for namespace in writer.list_namespaces() for found in writer.list_tables(namespace)]:
        writer.drop_table(identifier)
    return World(observed_catalog("disk", rest_catalogs["disk"]), writer)


@pytest.fixture
def stores(rest_catalogs: Catalogs, rest_spark: SparkSession) -> Callable[[], MetaStore]:
    namespace = f"meta_{uuid4().hex[:8]}"
    return lambda: SparkMetaStore(rest_spark, lambda: load_catalog("disk", **rest_catalogs["disk"]), namespace)


@pytest.fixture(params=["disk", "s3"])
def kept(request: pytest.FixtureRequest, rest_catalogs: Catalogs, rest_spark: SparkSession) -> Kept:
    catalog, namespace = load_catalog(request.param, **rest_catalogs[request.param]), f"meta_{uuid4().hex[:8]}"
    store = SparkMetaStore(rest_spark, lambda: catalog, namespace)
    store.ensure()
    return Kept(
        store,
        SparkUpkeep(rest_spark, lambda: catalog, namespace),
        lambda: SparkUpkeep(rest_spark, lambda: catalog, namespace),
    )
