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


def union_of_versions(avro_versions: Sequence[AvroSchema]) -> AvroSchema:
    """Return a schema by which values of all *avro_versions* can be read, the oldest version first.

    Fields have the order of their first appearance and the name of their last one, and may be null. By Avro's
    rules, a field is the same as an earlier one of its name, or of one of its aliases.

    Raises:
        SchemaError: A field has types that Avro does not promote to one of them.
    """
    merger = _Merger()
    for version in avro_versions:
        merger.add_names(version.root)
    root_type: AvroType | None = None
    for version in avro_versions:
        root_type = (
            version.root
            if root_type is None
            else merger.merged(root_type, version.root, "", is_root=True)
        )
    assert root_type is not None
    merger.complete()
    return parse_schema(json.dumps(merger.definition(root_type)))


@dataclass(slots=True)
class _UnionField:
    name: str
    """Name in the newest version that has the field."""
    merged_type: AvroType
    all_names: dict[str, None]
    """All names and aliases."""


@dataclass(slots=True)
class _NamedUnion:
    """All definitions of a named type."""

    full_name: str
    definitions: list[NamedType] = field(default_factory=list)
    all_names: dict[str, None] = field(default_factory=dict)
    fields: list[_UnionField] = field(default_factory=list)


class _Merger:
    """Merges types. A named type is merged with all others of its name, wherever they occur."""

    def __init__(self) -> None:
        self._unions: dict[str, _NamedUnion] = {}
        """Unions of named types, by each of their names."""
        self._defined: set[str] = set()

    def add_names(self, root_type: AvroType) -> None:
        """Add the named types of a version, which is newer than those before.

        A type is the same as an earlier one of its name or of an alias, else as the only one of its name without
        namespace, which is what Avro's resolution compares.
        """
        unclaimed = {id(one): one for one in self._unions.values()}
        renamed: list[NamedType] = []
        for named_type in _named_types(root_type):
            known = [self._unions[one] for one in _names_of(named_type) if one in self._unions]
            if known:
                self._add(named_type, known[0])
                unclaimed.pop(id(known[0]), None)
            else:
                renamed.append(named_type)
        for named_type in renamed:
            simple = simple_name(named_type.full_name)
            same = [one for one in unclaimed.values() if simple_name(one.full_name) == simple]
            union = same[0] if len(same) == 1 else _NamedUnion(named_type.full_name)
            self._add(named_type, union)
            unclaimed.pop(id(union), None)

    def _add(self, named_type: NamedType, union: _NamedUnion) -> None:
        union.definitions.append(named_type)
        union.full_name = named_type.full_name
        union.all_names |= dict.fromkeys(_names_of(named_type))
        for name in _names_of(named_type):
            self._unions.setdefault(name, union)

    def merged(
        self, earlier_type: AvroType, newer_type: AvroType, where: str, *, is_root: bool = False
    ) -> AvroType:
        """Return the type that takes the values of both."""
        if isinstance(earlier_type, AvroUnion) or isinstance(newer_type, AvroUnion):
            return self._merged_unions(earlier_type, newer_type, where)
        match earlier_type, newer_type:
            case AvroArray(), AvroArray():
                return AvroArray(
                    self.merged(earlier_type.item_type, newer_type.item_type, f"{where}[]")
                )
            case AvroMap(), AvroMap():
                return AvroMap(
                    self.merged(earlier_type.value_type, newer_type.value_type, f"{where}{{}}")
                )
            case AvroPrimitive(), AvroPrimitive():
                return _merged_primitive(earlier_type, newer_type, where)
        if isinstance(earlier_type, NamedType) and isinstance(newer_type, NamedType):
            is_same = self._unions[earlier_type.full_name] is self._unions[newer_type.full_name]
            if earlier_type.kind == newer_type.kind and (is_same or is_root):
                if not is_same:  # a record that was renamed without an alias
                    self._join(earlier_type.full_name, newer_type.full_name)
                return newer_type
        raise _mismatch(earlier_type, newer_type, where)

    def _join(self, earlier_name: str, newer_name: str) -> None:
        earlier_union, newer_union = self._unions[earlier_name], self._unions[newer_name]
        earlier_union.definitions += newer_union.definitions
        earlier_union.full_name = newer_union.full_name
        earlier_union.all_names |= newer_union.all_names
        for name in earlier_union.all_names:
            self._unions[name] = earlier_union

    def _merged_unions(self, earlier_type: AvroType, newer_type: AvroType, where: str) -> AvroType:
        olds, news = _branches(earlier_type), _branches(newer_type)
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

    def _is_same_branch(self, earlier_type: AvroType, newer_type: AvroType) -> bool:
        if isinstance(earlier_type, NamedType) and isinstance(newer_type, NamedType):
            return self._unions[earlier_type.full_name] is self._unions[newer_type.full_name]
        return earlier_type.kind == newer_type.kind

    def complete(self) -> None:
        """Merge the fields of all records."""
        for union in {id(one): one for one in self._unions.values()}.values():
            for definition in union.definitions:
                if isinstance(definition, AvroRecord):
                    self._add_fields(union, definition)

    def _add_fields(self, union: _NamedUnion, avro_record: AvroRecord) -> None:
        by_name = {one.name: one for one in union.fields}
        for one in union.fields:
            for name in one.all_names:
                by_name.setdefault(name, one)
        own_names = {member.name for member in avro_record.fields}
        for member in avro_record.fields:
            aliases = [name for name in member.aliases if name not in own_names]
            known = next(
                (by_name[name] for name in (member.name, *aliases) if name in by_name), None
            )
            names = dict.fromkeys((member.name, *member.aliases))
            if known is None:
                union.fields.append(_UnionField(member.name, member.type, names))
                continue
            where = f"{union.full_name}.{member.name}"
            known.merged_type = self.merged(known.merged_type, member.type, where)
            known.name = member.name
            known.all_names |= names

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
        aliases = [name for name in union.all_names if name != union.full_name]
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
        aliases = [name for name in union_field.all_names if name != union_field.name]
        branches = [one for one in _branches(union_field.merged_type) if one.kind != "null"]
        definition = {
            "name": union_field.name,
            "type": ["null", *map(self.definition, branches)] if branches else "null",
            "default": None,
        }
        return definition | ({"aliases": aliases} if aliases else {})


def _named_types(root_type: AvroType) -> list[NamedType]:
    """Return the named types in *root_type*, each once."""
    types_by_identity: dict[int, NamedType] = {}
    stack = [root_type]
    while stack:
        match stack.pop():
            case AvroRecord() as avro_record if id(avro_record) not in types_by_identity:
                types_by_identity[id(avro_record)] = avro_record
                stack += [member.type for member in avro_record.fields]
            case (AvroEnum() | AvroFixed()) as scalar:
                types_by_identity[id(scalar)] = scalar
            case AvroArray() as array:
                stack.append(array.item_type)
            case AvroMap() as avro_map:
                stack.append(avro_map.value_type)
            case AvroUnion() as union:
                stack += union.branches
    return list(types_by_identity.values())


def _names_of(named_type: NamedType) -> tuple[str, ...]:
    return (named_type.full_name, *named_type.aliases)


def _branches(avro_type: AvroType) -> tuple[AvroType, ...]:
    return avro_type.branches if isinstance(avro_type, AvroUnion) else (avro_type,)


def _logical(logical: LogicalType | None) -> dict[str, Any]:
    if logical is None:
        return {}
    digits = {"precision": logical.precision, "scale": logical.scale} if logical.precision else {}
    return {"logicalType": logical.name, **digits}


def _merged_primitive(
    earlier_type: AvroPrimitive, newer_type: AvroPrimitive, where: str
) -> AvroPrimitive:
    if earlier_type.kind == newer_type.kind:
        if (
            earlier_type.logical
            and newer_type.logical
            and earlier_type.logical != newer_type.logical
        ):
            raise _mismatch(earlier_type, newer_type, where)
        return newer_type if newer_type.logical else earlier_type
    is_plain = earlier_type.logical is None and newer_type.logical is None
    if is_plain and earlier_type.kind in NUMBERS and newer_type.kind in NUMBERS:
        return (
            newer_type if newer_type.kind in PROMOTIONS.get(earlier_type.kind, ()) else earlier_type
        )
    raise _mismatch(earlier_type, newer_type, where)


def _described(avro_type: AvroType) -> str:
    logical = avro_type.logical
    if logical is None:
        return type_name(avro_type)
    digits = f"({logical.precision}, {logical.scale})" if logical.precision else ""
    return f"{type_name(avro_type)} as {logical.name}{digits}"


def _mismatch(earlier_type: AvroType, newer_type: AvroType, where: str) -> SchemaError:
    return SchemaError(
        f"{_described(earlier_type)} in one version and {_described(newer_type)} in a later one",
        "types that Avro promotes",
        where=where,
    )
