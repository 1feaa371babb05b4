"""The queries of `docs/cookbook.md`. Tests run each of them on every engine that it lists."""

from limnograph.domain.facts.cookbook.activity import ACTIVITY
from limnograph.domain.facts.cookbook.query import DUCKDB, SPARK, TRINO, ExampleQuery
from limnograph.domain.facts.cookbook.structure import STRUCTURE

EXAMPLES = (*STRUCTURE, *ACTIVITY)

__all__ = ["ACTIVITY", "DUCKDB", "EXAMPLES", "SPARK", "STRUCTURE", "TRINO", "ExampleQuery"]
