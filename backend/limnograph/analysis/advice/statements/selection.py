"""The condition that selects the partitions of a plan and no other: a disjunction of conjunctions. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from limnograph.analysis.advice.statements.atoms import Atom, ValueRange, atoms_of, excludes
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField, label
from limnograph.analysis.advice.statements.subject import NoStatement
from limnograph.analysis.advice.statements.words import shown

Conjunction = tuple[Atom, ...]
MOST_CONJUNCTIONS = 100
"""Maximum number of alternatives in a condition, after adjacent periods were joined."""


def select(choice: PartitionChoice) -> list[Conjunction]:
    """The alternatives of the condition. Raises NoStatement: it would select another partition, or is too long."""
    if not choice.chosen:
        raise NoStatement("The plan names no partition.")
    others = _by_spec(choice)
    conjunctions: list[Conjunction] = []
    for scope in dict.fromkeys(choice.chosen):
        atoms, distinct = atoms_of(scope)
        for fields, partitions in others.items():
            if distinct and atoms and fields == scope.fields:
                continue
            for other, conditions in partitions:
                if not _excluded(atoms, conditions):
                    raise NoStatement(_not_exact(scope, other))
        conjunctions.append(tuple(atoms))
    if not all(conjunctions):
        raise NoStatement("The files have no partition values: only a statement for the whole table selects them.")
    merged = joined(conjunctions)
    if len(merged) > MOST_CONJUNCTIONS:
        raise NoStatement(f"A condition for {len(choice.chosen):,} partitions is too long to be checked.")
    return merged


def _by_spec(choice: PartitionChoice) -> dict[tuple[ScopeField, ...], list[tuple[PartitionScope, list[Atom]]]]:
    """The other partitions with their conditions, by the fields of their spec."""
    chosen = set(choice.chosen)
    found: dict[tuple[ScopeField, ...], list[tuple[PartitionScope, list[Atom]]]] = defaultdict(list)
    for other in choice.others:
        if other not in chosen:
            found[other.fields].append((other, atoms_of(other)[0]))
    return found


def _excluded(atoms: Sequence[Atom], others: Sequence[Atom]) -> bool:
    return any(excludes(atom, other) for atom in atoms for other in others if atom.path == other.path)


def _not_exact(scope: PartitionScope, other: PartitionScope) -> str:
    spec = "" if other.fields == scope.fields else ", which has another partition spec"
    return f"A condition for partition {shown(label(scope))} also selects partition {shown(label(other))}{spec}."


def joined(conjunctions: Sequence[Conjunction]) -> list[Conjunction]:
    """Adjacent ranges as one, if all else is equal."""
    found: list[Conjunction] = []
    ranges: dict[tuple[object, ...], list[ValueRange]] = defaultdict(list)
    for conjunction in dict.fromkeys(conjunctions):
        spans = [atom for atom in conjunction if isinstance(atom, ValueRange)]
        if len(spans) == 1:
            at = conjunction.index(spans[0])
            ranges[spans[0].path, spans[0].type, conjunction[:at], conjunction[at + 1 :]].append(spans[0])
        else:
            found.append(conjunction)
    for (_, _, before, after), spans in ranges.items():
        found += [(*before, span, *after) for span in _adjacent(spans)]  # type: ignore[misc]
    return found


def _adjacent(spans: Iterable[ValueRange]) -> list[ValueRange]:
    found: list[ValueRange] = []
    for span in sorted(spans, key=lambda span: span.low):
        if found and found[-1].high >= span.low:
            found[-1] = found[-1]._replace(high=max(found[-1].high, span.high))
        else:
            found.append(span)
    return found
