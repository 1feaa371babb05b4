"""Generates `docs/settings.md` from the structs: `python -m limnograph.settings.reference`. CI compares it with the
file.
"""

from __future__ import annotations

import ast
import datetime as dt
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from limnograph.settings.base import FrozenSettings
from limnograph.settings.examples import EXAMPLES
from limnograph.settings.whole import Settings

INTRODUCTION = """# Settings

Generated from `backend/limnograph/settings`: change it there, then run `make types`.

One TOML file: `--config FILE`, or environment variable `LIMNOGRAPH_CONFIG`. Only `[catalogs.*]` is required. An unknown
key, or a value outside its bounds, is an error that names the key.

- **Environment**: `${NAME}` inside any text is the value of that variable; one that is not set is an error.
- **Secrets from files**: any text value can be read from a file by appending `_file` to its key, such as `password_file
= "/run/secrets/trino"`: the file's content without surrounding white space. A relative path is relative to the settings
file. Credentials of catalogs are re-read while the programs run. Secrets are never written to a log, a page or an
error.
- **State** (inbox, cache, checkpoint, tokens, audit log) is stored in `.limnograph/` next to the settings file, unless
a setting changes that.

Together, the examples below form one settings file, which a test loads.
"""
_BOUNDS = {"gt": "above {}", "ge": "at least {}", "le": "at most {}", "lt": "below {}"}
_SPELLED: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    dt.date: "date",
}
_OWN = frozenset({"base", "file"})
"""Fields that are not settings: the location of the file."""


class Setting(NamedTuple):
    """A key of a section, as its row in the table shows it."""

    key: str
    type: str
    default: str
    meaning: str


def document() -> str:
    """The whole page as Markdown. Raises LookupError for a setting without a docstring."""
    return "\n".join((INTRODUCTION, *(_section(name, struct) for name, struct in sections())))


def sections() -> Iterator[tuple[str, type[FrozenSettings] | None]]:
    """Headings in TOML syntax with their structs; None for a section with arbitrary keys."""
    told = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    yield "[catalogs.NAME]", None
    for name, kind in told.items():
        if name in _OWN | {"catalogs", "path_map"}:
            continue
        struct = _struct_of(kind)
        many = {
            "prometheus": "[prometheus.NAME]",
            "jobs": "[[jobs]]",
            "objectives": "[[objectives]]",
            "readers": "[[readers]]",
            "owners": "[[owners]]",
        }
        yield many.get(name, f"[{name}]"), struct
        yield from below(name, struct)
    yield "[path_map]", None


def below(name: str, struct: type[FrozenSettings]) -> Iterator[tuple[str, type[FrozenSettings]]]:
    """Subsections of a section."""
    for field in msgspec.structs.fields(struct):
        if nested := _find_struct(field.type):
            place = f"{name}.{field.name}"
            yield (f"[[{place}]]" if get_origin(field.type) is tuple else f"[{place}]"), nested


def settings_of(struct: type[FrozenSettings]) -> Iterator[Setting]:
    """Keys of the section, without its subsections."""
    found, hints = meanings(struct), get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        if _find_struct(field.type):
            continue
        if field.name not in found:
            raise LookupError(f"{struct.__name__}.{field.name} has no docstring")
        hint = hints[field.name]
        secret = f" Secret: prefer `{field.name}_file`." if _is_secret(hint) else ""
        yield Setting(field.name, _spell(hint), _default(field), found[field.name] + secret)


def _section(name: str, struct: type[FrozenSettings] | None) -> str:
    about = struct or meanings(Settings)["catalogs" if "catalogs" in name else "path_map"]
    return described(name, about, EXAMPLES[name])


def described(name: str, about: type[FrozenSettings] | str, example: str, hidden: frozenset[str] = frozenset()) -> str:
    """A section of the page: its struct as a table, or the text of one with arbitrary keys. `hidden`: keys that have
    sections of their own.
    """
    parts = [f"## `{name}`\n"]
    if isinstance(about, str):
        parts.append(f"{about}\n")
    else:
        parts.append(f"{_one_line(inspect.getdoc(about) or '')}\n")
        shown = (each for each in settings_of(about) if each.key not in hidden)
        rows = (f"| `{s.key}` | {s.type} | {s.default} | {s.meaning} |\n" for s in shown)
        parts.append("| key | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows))
    return "\n".join((*parts, f"```toml\n{example.strip()}\n```\n"))


def meanings(struct: type[FrozenSettings]) -> dict[str, str]:
    """The docstring below each field, read from the source because Python discards it."""
    found: dict[str, str] = {}
    for base in struct.__bases__:
        if issubclass(base, FrozenSettings) and base is not FrozenSettings:
            found |= meanings(base)
    body = ast.parse(textwrap.dedent(inspect.getsource(struct))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101  # the source of a class is a class
    for field, text in zip(body.body, body.body[1:], strict=False):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found[field.target.id] = _one_line(str(text.value.value)).replace("|", "\\|")
    return found


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _spell(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _spell_bounded(arguments[0], arguments[1])
    if origin in {Union, UnionType}:
        return _spell(next(argument for argument in arguments if argument is not NoneType))
    if origin is Literal:
        return " or ".join(f'`"{value}"`' for value in arguments if value)
    if origin is tuple:
        return f"list of {_spell(arguments[0])}"
    if origin is dict:
        return f"table of {_spell(arguments[1]).replace('list of', 'lists of')}"
    return _SPELLED[kind]


def _spell_bounded(kind: Any, bounds: msgspec.Meta) -> str:
    if spelled := (bounds.extra or {}).get("spelled"):
        return str(spelled)
    given = ((words, getattr(bounds, name)) for name, words in _BOUNDS.items())
    limits = [words.format(bound) for words, bound in given if bound is not None]
    return ", ".join((_spell(kind), *limits))


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "**required**"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    if value is None or value in ("", (), {}):
        return ""
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{item}"' for item in value) + "]`"
    if isinstance(value, str):
        return f'`"{value}"`'
    return f"`{value:g}`" if isinstance(value, float) else f"`{str(value).lower()}`"


def _is_secret(kind: Any) -> bool:
    return get_origin(kind) is Annotated and bool((kind.__metadata__[0].extra or {}).get("secret"))


def _find_struct(kind: Any) -> type[FrozenSettings] | None:
    """The struct that a type is or contains."""
    for one in (kind, *get_args(kind)):
        if isinstance(one, type) and issubclass(one, FrozenSettings):
            return one
    return None


def _struct_of(kind: Any) -> type[FrozenSettings]:
    found = _find_struct(kind)
    if found is None:
        raise LookupError(f"{kind} is not a section")
    return found


if __name__ == "__main__":
    sys.stdout.write(document())
