"""A real Trino over a REST catalog whose tables lie in an object store: the same contract, by the file that
docker-compose.yml mounts.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from test_trino import World, engine, lake

import trino_server
from query_engine_contract import *  # noqa: F403  # the tests of the contract
from query_engine_contract import Made

pytestmark = pytest.mark.skipif(not trino_server.installed(), reason="Trino is not installed (make stack)")


@pytest.fixture(scope="module")
def world(rest_catalogs: dict[str, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("trino-rest")
    properties = rest_catalogs["s3"]
    with trino_server.running(folder / "trino", trino_server.rest_catalog(properties), "far") as url:
        yield World(url, properties, folder, "far")


@pytest.fixture
def made(world: World) -> Made:
    tables = lake(world)
    return Made(engine(world, tables), tables.fill, tables.roll)
