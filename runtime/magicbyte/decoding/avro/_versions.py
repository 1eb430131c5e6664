"""The union of all versions of an Avro schema: a schema for readers that has the fields of each of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from magicbyte.decoding.avro._resolution import PROMOTIONS
from magicbyte.decoding.avro._schema import AvroSchema, parse_schema
from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroType,
    AvroUnion,
    LogicalType,
    NamedType,
    simple_name,
    type_name,
)
from magicbyte.errors import SchemaError

NUMBERS = ("int", "long", "float", "double")
"""Types between which a union promotes. Avro reads bytes as strings, too, but not all bytes are UTF-8."""


def union_of_versions(versions: Sequence[AvroSchema]) -> AvroSchema:
    """Return a schema by which values of all *versions* can be read, the oldest version first.

    Fields have the order of their first appearance and the name of their last one, and may be null. By Avro's
    rules, a field is the same as an earlier one of its name, or of one of its aliases.

    Raises:
        SchemaError: A field has types that Avro does not promote to one of them.
    """
    merger = _Merger()
    for version in versions:
        merger.add_names(version.root)
    root: AvroType | None = None
    for version in versions:
        root = version.root if root is None else merger.merged(root, version.root, "", is_root=True)
    assert root is not None
    merger.complete()
    return parse_schema(json.dumps(merger.definition(root)))


@dataclass(slots=True)
class _UnionField:
    name: str
    """Name in the newest version that has the field."""
    type: AvroType
    names: dict[str, None]
    """All names and aliases."""


@dataclass(slots=True)
class _NamedUnion:
    """All definitions of a named type."""

    full_name: str
    definitions: list[NamedType] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    fields: list[_UnionField] = field(default_factory=list)


class _Merger:
    """Merges types. A named type is merged with all others of its name, wherever they occur."""

    def __init__(self) -> None:
        self._unions: dict[str, _NamedUnion] = {}
        """Unions of named types, by each of their names."""
        self._defined: set[str] = set()

    def add_names(self, root: AvroType) -> None:
        """Add the named types of a version, which is newer than those before.

        A type is the same as an earlier one of its name or of an alias, else as the only one of its name without
        namespace, which is what Avro's resolution compares.
        """
        earlier = {id(one): one for one in self._unions.values()}
        renamed: list[NamedType] = []
        for named_type in _named_types(root):
            known = [self._unions[one] for one in _names_of(named_type) if one in self._unions]
            if known:
                self._add(named_type, known[0])
                earlier.pop(id(known[0]), None)
            else:
                renamed.append(named_type)
        for named_type in renamed:
            simple = simple_name(named_type.full_name)
            same = [one for one in earlier.values() if simple_name(one.full_name) == simple]
            union = same[0] if len(same) == 1 else _NamedUnion(named_type.full_name)
            self._add(named_type, union)
            earlier.pop(id(union), None)

    def _add(self, named_type: NamedType, union: _NamedUnion) -> None:
        union.definitions.append(named_type)
        union.full_name = named_type.full_name
        union.names |= dict.fromkeys(_names_of(named_type))
        for name in _names_of(named_type):
            self._unions.setdefault(name, union)

    def merged(
        self, earlier: AvroType, newer: AvroType, where: str, *, is_root: bool = False
    ) -> AvroType:
        """Return the type that takes the values of both."""
        if isinstance(earlier, AvroUnion) or isinstance(newer, AvroUnion):
            return self._merged_unions(earlier, newer, where)
        match earlier, newer:
            case AvroArray(), AvroArray():
                return AvroArray(self.merged(earlier.item_type, newer.item_type, f"{where}[]"))
            case AvroMap(), AvroMap():
                return AvroMap(self.merged(earlier.value_type, newer.value_type, f"{where}{{}}"))
            case AvroPrimitive(), AvroPrimitive():
                return _merged_primitive(earlier, newer, where)
        if isinstance(earlier, NamedType) and isinstance(newer, NamedType):
            is_same = self._unions[earlier.full_name] is self._unions[newer.full_name]
            if earlier.kind == newer.kind and (is_same or is_root):
                if not is_same:  # a record that was renamed without an alias
                    self._join(earlier.full_name, newer.full_name)
                return newer
        raise _mismatch(earlier, newer, where)

    def _join(self, earlier_name: str, newer_name: str) -> None:
        earlier, newer = self._unions[earlier_name], self._unions[newer_name]
        earlier.definitions += newer.definitions
        earlier.full_name = newer.full_name
        earlier.names |= newer.names
        for name in earlier.names:
            self._unions[name] = earlier

    def _merged_unions(self, earlier: AvroType, newer: AvroType, where: str) -> AvroType:
        olds, news = _branches(earlier), _branches(newer)
        values = [[one for one in each if one.kind != "null"] for each in (olds, news)]
        nulls = [one for one in (*olds, *news) if one.kind == "null"][:1]
        if len(values[0]) == len(values[1]) == 1:
            merged = [self.merged(values[0][0], values[1][0], where)]
        else:
            merged = list(values[0])
            for branch in values[1]:
                same = [n for n, one in enumerate(merged) if self._is_same_branch(one, branch)]
                if same:
                    merged[same[0]] = self.merged(merged[same[0]], branch, where)
                else:
                    merged.append(branch)
        return AvroUnion((*nulls, *merged))

    def _is_same_branch(self, earlier: AvroType, newer: AvroType) -> bool:
        if isinstance(earlier, NamedType) and isinstance(newer, NamedType):
            return self._unions[earlier.full_name] is self._unions[newer.full_name]
        return earlier.kind == newer.kind

    def complete(self) -> None:
        """Merge the fields of all records."""
        for union in {id(one): one for one in self._unions.values()}.values():
            for definition in union.definitions:
                if isinstance(definition, AvroRecord):
                    self._add_fields(union, definition)

    def _add_fields(self, union: _NamedUnion, record: AvroRecord) -> None:
        by_name = {one.name: one for one in union.fields}
        for one in union.fields:
            for name in one.names:
                by_name.setdefault(name, one)
        own_names = {member.name for member in record.fields}
        for member in record.fields:
            aliases = [name for name in member.aliases if name not in own_names]
            known = next(
                (by_name[name] for name in (member.name, *aliases) if name in by_name), None
            )
            names = dict.fromkeys((member.name, *member.aliases))
            if known is None:
                union.fields.append(_UnionField(member.name, member.type, names))
                continue
            where = f"{union.full_name}.{member.name}"
            known.type = self.merged(known.type, member.type, where)
            known.name = member.name
            known.names |= names

    def definition(self, avro_type: AvroType) -> Any:
        """Return *avro_type* as JSON; a named type is defined where it occurs first."""
        match avro_type:
            case AvroUnion():
                return [self.definition(branch) for branch in avro_type.branches]
            case AvroArray():
                return {"type": "array", "items": self.definition(avro_type.item_type)}
            case AvroMap():
                return {"type": "map", "values": self.definition(avro_type.value_type)}
            case AvroPrimitive():
                return {"type": avro_type.kind, **_logical(avro_type.logical)}
        return self._named_definition(avro_type)

    def _named_definition(self, named_type: NamedType) -> Any:
        union = self._unions[named_type.full_name]
        if union.full_name in self._defined:
            return union.full_name
        self._defined.add(union.full_name)
        newest = union.definitions[-1]
        aliases = [name for name in union.names if name != union.full_name]
        head: dict[str, Any] = {"type": newest.kind, "name": union.full_name, "namespace": ""}
        if aliases:
            head["aliases"] = aliases
        if isinstance(newest, AvroRecord):
            return head | {"fields": [self._field_definition(one) for one in union.fields]}
        if isinstance(newest, AvroEnum):
            enums = [one for one in union.definitions if isinstance(one, AvroEnum)]
            symbols = dict.fromkeys(symbol for one in enums for symbol in one.symbols)
            default = {} if newest.default_symbol is None else {"default": newest.default_symbol}
            return head | {"symbols": list(symbols)} | default
        for one in union.definitions:
            if not isinstance(one, AvroFixed) or (one.size, one.logical) != (
                newest.size,
                newest.logical,
            ):
                raise _mismatch(one, newest, union.full_name)
        return head | {"size": newest.size, **_logical(newest.logical)}

    def _field_definition(self, union_field: _UnionField) -> dict[str, Any]:
        aliases = [name for name in union_field.names if name != union_field.name]
        branches = [one for one in _branches(union_field.type) if one.kind != "null"]
        definition = {
            "name": union_field.name,
            "type": ["null", *map(self.definition, branches)] if branches else "null",
            "default": None,
        }
        return definition | ({"aliases": aliases} if aliases else {})


def _named_types(root: AvroType) -> list[NamedType]:
    """Return the named types in *root*, each once."""
    found: dict[int, NamedType] = {}
    stack = [root]
    while stack:
        match stack.pop():
            case AvroRecord() as record if id(record) not in found:
                found[id(record)] = record
                stack += [member.type for member in record.fields]
            case (AvroEnum() | AvroFixed()) as scalar:
                found[id(scalar)] = scalar
            case AvroArray() as array:
                stack.append(array.item_type)
            case AvroMap() as avro_map:
                stack.append(avro_map.value_type)
            case AvroUnion() as union:
                stack += union.branches
    return list(found.values())


def _names_of(named_type: NamedType) -> tuple[str, ...]:
    return (named_type.full_name, *named_type.aliases)


def _branches(avro_type: AvroType) -> tuple[AvroType, ...]:
    return avro_type.branches if isinstance(avro_type, AvroUnion) else (avro_type,)


def _logical(logical: LogicalType | None) -> dict[str, Any]:
    if logical is None:
        return {}
    digits = {"precision": logical.precision, "scale": logical.scale} if logical.precision else {}
    return {"logicalType": logical.name, **digits}


def _merged_primitive(earlier: AvroPrimitive, newer: AvroPrimitive, where: str) -> AvroPrimitive:
    if earlier.kind == newer.kind:
        if earlier.logical and newer.logical and earlier.logical != newer.logical:
            raise _mismatch(earlier, newer, where)
        return newer if newer.logical else earlier
    is_plain = earlier.logical is None and newer.logical is None
    if is_plain and earlier.kind in NUMBERS and newer.kind in NUMBERS:
        return newer if newer.kind in PROMOTIONS.get(earlier.kind, ()) else earlier
    raise _mismatch(earlier, newer, where)


def _described(avro_type: AvroType) -> str:
    logical = avro_type.logical
    if logical is None:
        return type_name(avro_type)
    digits = f"({logical.precision}, {logical.scale})" if logical.precision else ""
    return f"{type_name(avro_type)} as {logical.name}{digits}"


def _mismatch(earlier: AvroType, newer: AvroType, where: str) -> SchemaError:
    return SchemaError(
        f"{_described(earlier)} in one version and {_described(newer)} in a later one",
        "types that Avro promotes",
        where=where,
    )
