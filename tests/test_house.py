"""The layout and the names of the house: sizes of folders and files, import cycles, class names, mirrored tests. Layers
and floors: import-linter.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from product_syntax import BACKEND, syntax_of

ROOT = Path(__file__).parents[1]
DASHBOARD = ROOT / "frontend" / "src"
MOST_FILES = 25
MOST_LINES = 400

LONGER = frozenset({"adapters/avro/kernel.py"})
"""One loop over bytes that numba compiles as a whole, and whose cache is bound to its path (docs/adr/0009)."""

BARE_PARTICIPLES = frozenset(
    (  # noqa: SIM905
        "Accepted Arrived Asked Asking Attempted Beginning Carried Changed Chosen Compared Competing Counted Current "
        "Damaged Draining Extracted Failed Fetched Fetching Found Frozen Given Grouped Grown Heard Incoming Inspected "
        "Keeping Kept Known Labelled Left Listed Loaded Looked Lost Made Measured Moved Named Naming Normalised "
        "Notified Observed Opened Parsing Placed Probed Ranked Read Reading Refused Retained Rolled Said Scanned Seen "
        "Selected Settled Shared Slotted Standing Started Swept Taken Told Tried Unended "
        "Unmetered Unread Verified Wanted Written"
    ).split()
)
"""A class is a noun. A participle may qualify one (`ListedCommit`), but a bare one says what was done, not what it
is.
"""

NOUNS = frozenset({"domain/metadata/content.Reading"})
"""`Reading` of a table's metadata is a noun: what an instrument shows."""


def _product_folders() -> dict[str, int]:
    counts: Counter[str] = Counter()
    for path in BACKEND.rglob("*.py"):
        if path.name != "__init__.py" and "_dashboard" not in path.parts:
            counts[str(path.parent.relative_to(ROOT))] += 1
    for path in DASHBOARD.rglob("*"):
        if path.is_file() and ".test." not in path.name:
            counts[str(path.parent.relative_to(ROOT))] += 1
    return dict(counts)


@cache
def _classes() -> list[tuple[str, str]]:
    found = []
    for path in sorted(BACKEND.rglob("*.py")):
        module = str(path.relative_to(BACKEND).with_suffix(""))
        found += [(module, node.name) for node in ast.walk(syntax_of(path)) if isinstance(node, ast.ClassDef)]
    return found


def test_no_folder_of_product_code_holds_more_than_25_files() -> None:
    assert {folder: count for folder, count in _product_folders().items() if count > MOST_FILES} == {}


def test_no_module_of_the_backend_is_longer_than_400_lines() -> None:
    lengths = {
        str(path.relative_to(BACKEND)): len(path.read_text(encoding="utf-8").splitlines())
        for path in BACKEND.rglob("*.py")
    }
    assert {name for name, lines in lengths.items() if lines > MOST_LINES} == LONGER


def test_modules_of_the_backend_have_no_import_cycles() -> None:
    """Imports that run when a module is loaded: neither those for the type checker nor those inside functions."""
    modules = {_module_name(path): path for path in BACKEND.rglob("*.py")}
    assert _circles({name: _imports(name, path, modules.keys()) for name, path in modules.items()}) == []


def _module_name(path: Path) -> str:
    parts = path.relative_to(BACKEND.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(own: str, path: Path, modules: Collection[str]) -> set[str]:
    """Modules of the backend that a module imports when it is loaded."""
    found: set[str] = set()
    for node in _loaded(syntax_of(path).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in modules}
        elif node.module in modules:
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in modules else str(node.module) for name in inside}
    return found - {own}


def _loaded(body: Sequence[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when a module is loaded, in classes and branches too."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _loaded(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "handlers", "finalbody"):
                inner = getattr(node, part, [])
                for each in inner if isinstance(inner, list) else []:
                    yield from _loaded(each.body if isinstance(each, ast.ExceptHandler) else [each])


def _circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Modules that remain when those that import none of the rest, or are imported by none of it, are taken away."""
    rest = set(imports)
    while True:
        imported = set().union(*(imports[name] for name in rest)) if rest else set()
        ends = {name for name in rest if not imports[name] & rest or name not in imported}
        if not ends:
            return [[name, *sorted(imports[name] & rest)] for name in sorted(rest)]
        rest -= ends


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("import limnograph.b", {"limnograph.b"}),
        ("from limnograph import b", {"limnograph.b"}),
        ("from limnograph.b import Thing", {"limnograph.b"}),
        ("if TYPE_CHECKING:\n    import limnograph.b", set()),
        ("def late():\n    import limnograph.b", set()),
        ("try:\n    import limnograph.b\nexcept ImportError:\n    pass", {"limnograph.b"}),
    ],
)
def test_imports_that_run_on_load_are_found(tmp_path: Path, lines: str, found: set[str]) -> None:
    module = tmp_path / "a.py"
    module.write_text(lines)
    assert _imports("limnograph.a", module, {"limnograph", "limnograph.a", "limnograph.b"}) == found


def test_an_import_cycle_is_named_by_its_modules_only() -> None:
    assert _circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [["b", "c"], ["c", "b"]]


def test_class_names_are_unique() -> None:
    """In the whole backend a public name means one thing; within services a private one does, too."""
    places = defaultdict(set)
    for module, name in _classes():
        if not name.startswith("_") or module.startswith("services/"):
            places[name].add(module)
    twice = {name: sorted(modules) for name, modules in places.items() if len(modules) > 1}
    assert {name: modules for name, modules in twice.items() if name not in SHARED} == {}


SHARED = frozenset({"Job"})
"""`JobRun` of `limnograph.spark_metrics` and names of specifications that two wire formats share."""


def test_a_class_is_named_by_a_noun() -> None:
    bare = [f"{module}.{name}" for module, name in _classes() if name.lstrip("_") in BARE_PARTICIPLES]
    assert sorted(set(bare) - NOUNS) == []


def test_every_module_has_a_docstring_that_states_its_purpose() -> None:
    modules = BACKEND.rglob("*.py")
    silent = [str(path.relative_to(BACKEND)) for path in modules if not ast.get_docstring(syntax_of(path))]
    assert silent == []


@pytest.mark.parametrize("layer", ["services", "domain", "api", "adapters", "demo"])
def test_folders_of_tests_mirror_those_of_the_backend(layer: str) -> None:
    rooms = {
        str(path.parent.relative_to(ROOT / "tests" / layer)) for path in (ROOT / "tests" / layer).rglob("test_*.py")
    }
    missing = {room for room in rooms if not (BACKEND / layer / room).is_dir()}
    assert missing == set()


def test_every_path_that_a_document_names_exists() -> None:
    """Paths of modules in backticks, as `services/fleet/page.py`; a star stands for any name."""
    layers = "services|domain|api|adapters|analysis|ports|demo|jobs|cli|wiring|settings"
    named = re.compile(rf"`((?:{layers})/[\w/*.,-]+\.py)`")
    texts = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *BACKEND.rglob("*.py")]
    lost = [
        f"{text.relative_to(ROOT)}: {path}"
        for text in texts
        for path in named.findall(text.read_text())
        if not any(BACKEND.glob(path)) and not any((ROOT / "tests").glob(path))
    ]
    assert lost == []


def _expanded(path: str) -> list[str]:
    """`a/{b,c}/` as `a/b/` and `a/c/`."""
    found = re.search(r"\{([^}]*)\}", path)
    return [path.replace(found[0], part) for part in found[1].split(",")] if found else [path]


def test_every_path_of_where_to_change_what_exists() -> None:
    """In backticks, with a slash: of the backend package or of the checkout. A star stands for any name."""
    table = (ROOT / "ARCHITECTURE.md").read_text().split("## Where to change what")[1]
    paths = [path for named in re.findall(r"`([\w{][\w.,{}*/-]*/[\w.,{}*/-]*)`", table) for path in _expanded(named)]
    assert len(paths) > 50
    assert [path for path in paths if not any(BACKEND.glob(path)) and not any(ROOT.glob(path))] == []
