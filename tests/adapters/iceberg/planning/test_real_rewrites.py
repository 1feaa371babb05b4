"""Plans of real tables, executed by their own statements on Spark: files and bytes are as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lakes import Lake
from real_rewrites import RewriteCase, RewriteResult, executed, stratified

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LARGE = (20_000, 100_000)
"""Rows of a file: up to some MB."""


def checked(results: dict[str, tuple[RewriteCase, RewriteResult]]) -> None:
    """Files that a plan takes up are exact. Those that it leaves are Iceberg's expectation: Spark writes one more where
    merged pages are larger than before, which happens only below the target's own size.
    """
    inside, exact = 0, 0
    for case, result in results.values():
        predicted = result.plan.predicted
        assert result.files_in == predicted.files_in, case
        assert predicted.files_out is not None
        assert predicted.files_out <= result.files_out <= max(predicted.files_out, 1.35 * predicted.files_out + 1), case
        assert case.target or result.files_out == predicted.files_out, case
        exact += result.files_out == predicted.files_out
        inside += result.bounds.low <= result.bytes_out <= result.bounds.high
    assert exact >= 0.9 * len(results), _outside(results)
    assert inside >= 0.9 * len(results), _outside(results)


def _outside(results: dict[str, tuple[RewriteCase, RewriteResult]]) -> list[tuple[RewriteCase, int, object, int]]:
    return [(case, one.bytes_out, one.bounds, one.files_out) for case, one in results.values()]


def run(spark: SparkSession, lake: Lake, cases: list[RewriteCase]) -> None:
    results = {case.name: (case, result) for case in cases if (result := executed(spark, lake, case)) is not None}
    assert len(results) == len(cases), "a table of this set has nothing to rewrite"
    checked(results)


def test_files_and_bytes_of_rewrites_are_as_predicted(spark: SparkSession, shared_lake: Lake) -> None:
    run(spark, shared_lake, stratified(12, seed=5))


@pytest.mark.nightly
def test_files_and_bytes_of_many_rewrites_are_as_predicted(spark: SparkSession, shared_lake: Lake) -> None:
    run(spark, shared_lake, [*stratified(40, seed=6), *stratified(6, seed=7, sizes=LARGE)])
