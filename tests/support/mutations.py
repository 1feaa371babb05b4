"""Seeded damage for files of Iceberg tables: bytes, JSON documents, Avro records and headers, hostile locations."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

import fastavro

LOCATIONS = (
    "file:///etc/passwd",
    "/etc/passwd",
    "file:/etc/passwd",
    "file://remotehost/etc/passwd",
    "//remotehost/share/x",
    "{home}/../../../../../../etc/passwd",
    "{home}/metadata/../../../etc/hostname",
    "s3://127.0.0.1/bucket/x.avro",
    "s3://169.254.169.254/latest/meta-data",
    "http://127.0.0.1:1/x",
    "https://example.invalid/x",
    "gs://b/x",
    "hf://x/y",
    "data:text/plain,x",
    "\\\\host\\share",
    "file:///dev/zero",
    "file:///proc/self/mem",
    "{home}/metadata",
    "{home}",
    "",
    " ",
    "%2e%2e/%2e%2e/etc/passwd",
    "{home}/metadata/\u0000x",
    "{home}/metadata/" + "a" * 5_000,
    "{home}/" + "d/" * 3_000 + "x",
    "\ud800",
    "relative/path.avro",
)
NUMBERS = (0, -1, 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**70, 10**400, 1e308, -0.0, 1.5)
VALUES: tuple[Any, ...] = (
    *(None, True, False, "", "x" * 10_000, "0", "-1", "٣", [], {}, [[]], [None], {"": None}, [{}] * 3),
    *NUMBERS,
)


def hostile_value(chance: Random, home: str) -> Any:
    """Something that does not belong where it will stand."""
    kind = chance.random()
    if kind < 0.3:
        return chance.choice(LOCATIONS).replace("{home}", home)
    if kind < 0.35:
        return nested(chance.choice([10, 300, 5_000]), chance.choice(["[", '{"a":']))
    return chance.choice(VALUES)


class Raw(str):
    """JSON text that is put into a document as it stands."""

    __slots__ = ()


def nested(depth: int, opening: str) -> Raw:
    """Lists or objects inside one another."""
    return Raw(opening * depth + "1" + ("]" if opening == "[" else "}") * depth)


def mutated_json(content: bytes, chance: Random, home: str) -> bytes:
    """A metadata document with one to four wrong places."""
    document = json.loads(content)
    for _ in range(chance.randint(1, 4)):
        _break_one(document, chance, home)
    return dumped(document)


def dumped(document: Any) -> bytes:
    """JSON of a document in which raw texts stand."""
    raws: list[str] = []

    def mark(value: Any) -> Any:
        if isinstance(value, Raw):
            raws.append(str(value))
            return f"@raw{len(raws) - 1}@"
        if isinstance(value, dict):
            return {key: mark(item) for key, item in value.items()}
        return [mark(item) for item in value] if isinstance(value, list) else value

    text = json.dumps(mark(document))
    return re.sub(r'"@raw(\d+)@"', lambda match: raws[int(match[1])], text).encode("utf-8", "surrogatepass")


def _break_one(document: dict[str, Any], chance: Random, home: str) -> None:
    places = _places(document)
    holder, key = chance.choice(places)
    # Lists of snapshots are long: the few keys at the top would hardly ever be hit.
    if chance.random() < 0.4:
        holder, key = document, chance.choice(sorted(document))
    act = chance.random()
    if act < 0.15:
        del holder[key]
    elif act < 0.25 and isinstance(holder, list):
        holder.append(holder[key])
    elif act < 0.35 and isinstance(holder, dict):
        holder[chance.choice(sorted(holder)) + chance.choice(["", " ", "-x"])] = holder.pop(key)
    elif act < 0.5 and document.get("snapshots") and isinstance(document["snapshots"], list):
        _tangle(document["snapshots"], chance)
    else:
        holder[key] = hostile_value(chance, home)


def _tangle(snapshots: list[Any], chance: Random) -> None:
    """Parents in a circle, ids twice, times that run backwards."""
    known = [snapshot for snapshot in snapshots if isinstance(snapshot, dict) and "snapshot-id" in snapshot]
    if known:
        one, other = chance.choice(known), chance.choice(known)
        key = chance.choice(["parent-snapshot-id", "snapshot-id", "timestamp-ms", "sequence-number", "manifest-list"])
        one[key] = other.get("snapshot-id" if key == "parent-snapshot-id" else key, chance.choice(NUMBERS))


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        holder = stack.pop()
        if isinstance(holder, dict):
            items: Any = holder.items()
        elif isinstance(holder, list):
            items = enumerate(holder)
        else:
            continue
        for key, item in items:
            found.append((holder, key))
            stack.append(item)
    return found


def mutated_avro(content: bytes, chance: Random, home: str) -> bytes:
    """A manifest list or manifest whose records say something else, in a container that is whole."""
    reader = fastavro.reader(io.BytesIO(content))
    records, schema = [dict(record) for record in reader], reader.writer_schema
    header = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
    for _ in range(chance.randint(1, 3)):
        if not records:
            break
        record = chance.choice(records)
        holder = record["data_file"] if "data_file" in record and chance.random() < 0.7 else record
        key = chance.choice(sorted(holder))
        old = holder[key]
        if isinstance(old, str):
            holder[key] = chance.choice([*LOCATIONS, "x", old + "x"]).replace("{home}", home)
        elif isinstance(old, int):
            holder[key] = chance.choice([-1, 0, 3, 2**31 - 1, -(2**31), 2**62, -(2**63)])
        elif isinstance(old, dict):
            holder[key] = dict.fromkeys(old)
    if chance.random() < 0.3 and header:
        header[chance.choice(sorted(header))] = chance.choice(["", "{}", "[]", "[[[", "null", "9", "-1", "\x00"])
    out = io.BytesIO()
    try:
        fastavro.writer(out, schema, records, codec=chance.choice(["null", "deflate"]), metadata=header)
    except (ValueError, OverflowError, TypeError, UnicodeError):
        return mutated_bytes(content, chance, home)  # Avro itself cannot hold this one
    return out.getvalue()


def mutated_schema(content: bytes, chance: Random, home: str) -> bytes:
    """An Avro header that says something else than the blocks behind it; of the same length, so that they are met."""
    words = (b'"long"', b'"int"', b'"string"', b'"bytes"', b'"null"', b'"array"', b"field-id", b'"double"', b'"fixed"')
    old = chance.choice(words)
    at = [match.start() for match in re.finditer(re.escape(old), content[:20_000])]
    if not at:
        return mutated_bytes(content, chance, home)
    place, new = chance.choice(at), chance.choice(words)[: len(old)].ljust(len(old))
    return content[:place] + new + content[place + len(old) :]


def mutated_bytes(content: bytes, chance: Random, _home: str) -> bytes:
    """Bits flipped, pieces cut, doubled, zeroed or put elsewhere; or another file altogether."""
    data = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 8])):
        if not data:
            break
        at, length = chance.randrange(len(data)), chance.choice([1, 1, 2, 7, 64, 1_000])
        act = chance.randrange(7)
        if act == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif act == 1:
            del data[at:]
        elif act == 2:
            del data[at : at + length]
        elif act == 3:
            data[at:at] = data[at : at + length]
        elif act == 4:
            data[at : at + length] = bytes(min(length, len(data) - at))
        elif act == 5:
            data[at : at + length] = b"\xff" * min(length, len(data) - at)
        else:
            data[at:at] = bytes(chance.randrange(256) for _ in range(length))
    if chance.random() < 0.05:
        return chance.choice([b"", b"{}", b"[]", b"Obj\x01", b"PAR1", gzip.compress(bytes(3_000_000)), b"\x1f\x8b\x08"])
    return bytes(data)


Mutation = Callable[[bytes, Random, str], bytes]


def mutation_for(name: str, chance: Random) -> Mutation:
    """A kind of damage that a file of that name can take."""
    if name.endswith(".json"):
        return chance.choice([mutated_json, mutated_json, mutated_json, mutated_bytes])
    return chance.choice([mutated_avro, mutated_avro, mutated_schema, mutated_bytes])
