"""SQL for Trino: whatever a caller sends is a bound value, and nobody builds SQL out of it anywhere."""

import ast
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limnograph.adapters.trino.statement import quoted, select
from limnograph.ports.query_engine import MetaQuery

PACKAGE = Path(__file__).parents[3] / "backend" / "limnograph"
ODD = ["'", "''", '"', "`", "--", "/*", ";", "\\", "\x00", "\u2019", "\uff07", "\u02bc", "?", "x' OR 1=1 --", "\n", "%"]
HOSTILE = st.one_of(st.sampled_from(ODD), st.text(max_size=40), st.tuples(st.sampled_from(ODD), st.text()).map("".join))
OWN_NAMES = {
    "adapters/iceberg/sums/cache_file.py",
    "adapters/inbox/schema.py",
    "adapters/spark/store.py",
    "demo/check/advice.py",
    "demo/check/maintained.py",
    "demo/lab/jobs.py",
    "demo/lab/tables.py",
    "demo/processes/live_job.py",
    "demo/lake/spark_steps.py",
}
"""They put names of tables and columns of their own, or of the settings, into text; nobody can send one."""
ASKING = {"execute", "executemany", "executescript", "exec_driver_sql", "sql", "text"}


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(HOSTILE, min_size=1, max_size=3))
def test_the_text_of_a_query_does_not_depend_on_its_values(values: list[str]) -> None:
    def asked(uuids: list[str]):
        query = MetaQuery(table="changes", columns=("at",), table_uuids=tuple(uuids), kinds=tuple(uuids), start=0)
        return select(query, ["at", "table_uuid", "kind"], ("lake", "limnograph"), 7)

    found = asked(values)
    assert found.sql == asked(["x"] * len(values)).sql
    assert found.parameters[1:] == [*values, *values]
    assert found.sql.count("?") == len(found.parameters)


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_an_identifier_ends_where_it_should(name: str) -> None:
    text = quoted(name)
    assert (text[0], text[-1]) == ('"', '"')
    assert text[1:-1].replace('""', "").count('"') == 0
    assert text[1:-1].replace('""', '"') == name


def built(call: ast.Call) -> bool:
    """Whether the first argument is text that is put together where it is used."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Call):
        return isinstance(first.func, ast.Attribute) and first.func.attr in {"format", "replace"}
    return isinstance(first, ast.JoinedStr) or (isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mod))


def test_no_sql_is_built_at_its_call_site() -> None:
    found, asked = set(), 0
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKING:
                asked += 1
                if built(node):
                    found.add(str(file.relative_to(PACKAGE)))
    assert asked > 20, "the walk finds no query any more"
    assert found <= OWN_NAMES
