"""Parses Avro schemas, as the specification 1.12 has them, from JSON."""

import json
from collections.abc import Sequence
from typing import Any, cast

from magicbyte.decoding.avro._logical_types import logical_type
from magicbyte.decoding.avro._types import (
    PRIMITIVES,
    AvroArray,
    AvroEnum,
    AvroField,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroType,
    AvroUnion,
    NamedType,
    type_name,
)
from magicbyte.errors import SchemaError

MAX_SCHEMA_CHARS = 16 << 20
"""Characters of the longest schema that is parsed."""
MAX_TYPES = 200_000
"""Types, fields and branches of the largest schema, about 100 MB as a tree."""
MAX_SCHEMA_DEPTH = 100
"""Types inside of types: each takes some calls of Python."""
MAX_BRANCHES = 4096
"""Branches of the largest union."""
MAX_FIXED_BYTES = (1 << 31) - 1

MAIN = "Avro schema"
"""Name of the schema that is parsed, beside those that it refers to, in errors."""


class AvroSchema:
    """An Avro schema: the type of a key or value."""

    def __init__(self, root: AvroType, text: str) -> None:
        self.root = root
        self.text = text
        """The JSON that the schema was parsed from."""

    @property
    def name(self) -> str:
        """Full name of a record, enum or fixed type; the kind of any other type, such as `string`."""
        return type_name(self.root)

    def canonical_form(self) -> str:
        """Return the Parsing Canonical Form, by which schemas that read the same bytes are equal."""
        from magicbyte.decoding.avro._canonical_form import canonical_form

        return canonical_form(self.root)

    def canonical_fingerprint(self) -> int:
        """Return the CRC-64-AVRO of the canonical form, from 0 to 2^64 - 1.

        The header of a single-object encoding is ``C3 01`` and this number in eight bytes, little-endian.
        """
        from magicbyte.decoding.avro._canonical_form import fingerprint

        return fingerprint(self.canonical_form().encode())

    def __repr__(self) -> str:
        return f"AvroSchema({self.name!r})"


def parse_schema(text: str, named: Sequence[str] = ()) -> AvroSchema:
    """Parse an Avro schema.

    Args:
        text: The schema as JSON, such as a registry or an `.avsc` file has it.
        named: Schemas, as JSON, whose named types *text* refers to, dependencies first.
            Default: none.
    Returns:
        The schema.
    Raises:
        SchemaError: A schema is not JSON, or not as Avro's specification has it.
    Example:
        >>> from magicbyte.decoding.avro import parse_schema
        >>> parse_schema('{"type": "enum", "name": "shop.State", "symbols": ["PAID"]}').name
        'shop.State'
    """
    parser = _SchemaParser()
    for number, referenced in enumerate(named, 1):
        parser.parse_text(referenced, f"referenced schema {number}")
    return AvroSchema(parser.parse_text(text, MAIN), text)


def _json(text: str, where: str) -> Any:
    if len(text) > MAX_SCHEMA_CHARS:
        raise SchemaError(
            f"{len(text)} characters", f"at most {MAX_SCHEMA_CHARS} of a schema", where=where
        )
    try:
        return json.loads(text)
    except RecursionError as error:
        raise SchemaError("JSON nested too deeply", "an Avro schema", where=where) from error
    except ValueError as error:
        raise SchemaError(f"not JSON: {error}", "an Avro schema as JSON", where=where) from error


class _SchemaParser:
    """Parses texts in order. A text may refer to the types that earlier texts define."""

    def __init__(self) -> None:
        self._types: dict[str, NamedType] = {}
        self._own_names: set[str] = set()
        """Full names that the present text defines."""
        self._heights: dict[str, int] = {}
        """Types inside of types in each named type that is complete."""
        self._num_types = self._deepest = 0

    def parse_text(self, text: str, where: str) -> AvroType:
        self._own_names.clear()
        self._deepest = 0
        return self._type(_json(text, where), "", where, 0)

    def _type(self, definition: Any, namespace: str, where: str, depth: int) -> AvroType:
        self._count(where, depth)
        match definition:
            case str():
                return self._reference(definition, namespace, where, depth)
            case list():
                return self._union(definition, namespace, where, depth)
            case {"type": str() as kind}:
                return self._definition(kind, definition, namespace, where, depth)
            case {"type": dict() | list() as inner}:
                return self._type(inner, namespace, where, depth + 1)
        raise SchemaError(
            _shown(definition), "the name of a type, a union, or an object with `type`", where=where
        )

    def _count(self, where: str, depth: int) -> None:
        self._num_types += 1
        if self._num_types > MAX_TYPES:
            raise SchemaError(
                f"more than {MAX_TYPES} types and fields", "a smaller schema", where=where
            )
        self._reach(depth, where)

    def _reach(self, depth: int, where: str) -> None:
        self._deepest = max(self._deepest, depth)
        if depth > MAX_SCHEMA_DEPTH:
            raise SchemaError(
                f"types nested {depth} deep", f"at most {MAX_SCHEMA_DEPTH}", where=where
            )

    def _reference(self, referenced_name: str, namespace: str, where: str, depth: int) -> AvroType:
        if referenced_name in PRIMITIVES:
            return AvroPrimitive(referenced_name)
        candidates = [referenced_name]
        if namespace and "." not in referenced_name:
            candidates.insert(0, f"{namespace}.{referenced_name}")
        for full_name in candidates:
            if full_name in self._types:
                self._reach(depth + self._heights.get(full_name, 0), where)
                return self._types[full_name]
        raise SchemaError(
            f"unknown type {_shown(referenced_name)}",
            "a type that is defined before it in the same schema, or in a schema to which a registry refers",
            where=where,
        )

    def _definition(
        self, kind: str, definition: dict[str, Any], namespace: str, where: str, depth: int
    ) -> AvroType:
        match kind:
            case "record" | "error":
                return self._record(definition, namespace, where, depth)
            case "enum":
                return self._enum(definition, namespace, where)
            case "fixed":
                return self._fixed(definition, namespace, where)
            case "array":
                items = _attribute(definition, "items", where)
                return AvroArray(self._type(items, namespace, f"{where}[]", depth + 1))
            case "map":
                values = _attribute(definition, "values", where)
                return AvroMap(self._type(values, namespace, f"{where}{{}}", depth + 1))
        if kind in PRIMITIVES:
            return AvroPrimitive(kind, logical_type(kind, definition))
        return self._reference(kind, namespace, where, depth)

    def _union(self, branches: list[Any], namespace: str, where: str, depth: int) -> AvroUnion:
        if not 0 < len(branches) <= MAX_BRANCHES:
            raise SchemaError(
                f"a union of {len(branches)} branches", f"1 to {MAX_BRANCHES}", where=where
            )
        types: list[AvroType] = []
        seen: set[str] = set()
        for number, branch in enumerate(branches):
            if isinstance(branch, list):
                raise SchemaError("a union in a union", "one union of all branches", where=where)
            branch_type = self._type(branch, namespace, f"{where}, branch {number}", depth + 1)
            branch_name = type_name(branch_type)
            if isinstance(branch_type, AvroUnion) or branch_name in seen:
                raise SchemaError(
                    f"two branches of type {branch_name} in a union", "different types", where=where
                )
            seen.add(branch_name)
            types.append(branch_type)
        return AvroUnion(tuple(types))

    def _record(
        self, definition: dict[str, Any], namespace: str, where: str, depth: int
    ) -> AvroRecord:
        full_name, own_namespace = _full_name(definition, namespace, where)
        record = AvroRecord(full_name, aliases=_aliases(definition, own_namespace, where))
        self._define(record, where)
        fields = _attribute(definition, "fields", where)
        if not isinstance(fields, list):
            raise SchemaError(f"fields {_shown(fields)}", "a list of fields", where=where)
        outer_depth, self._deepest = self._deepest, depth
        field_names: set[str] = set()
        parent = where if depth else f"{where}, {full_name}".removeprefix(f"{MAIN}, ")
        for field_definition in fields:
            field = self._field(field_definition, own_namespace, parent, depth)
            if field.name in field_names:
                raise SchemaError(f"two fields {field.name!r}", "different names", where=where)
            field_names.add(field.name)
            record.fields.append(field)
        self._heights[full_name] = self._deepest - depth
        self._deepest = max(outer_depth, self._deepest)
        return record

    def _field(self, definition: Any, namespace: str, parent: str, depth: int) -> AvroField:
        if not isinstance(definition, dict):
            raise SchemaError(f"field {_shown(definition)}", "an object", where=parent)
        name = _text(definition, "name", parent)
        where = f"{parent}.{name}"
        field_type = self._type(_attribute(definition, "type", where), namespace, where, depth + 1)
        return AvroField(
            name,
            field_type,
            _texts(definition, "aliases", where),
            "default" in definition,
            definition.get("default"),
        )

    def _enum(self, definition: dict[str, Any], namespace: str, where: str) -> AvroEnum:
        full_name, own_namespace = _full_name(definition, namespace, where)
        symbols = _texts(definition, "symbols", where)
        if not symbols or len(set(symbols)) != len(symbols):
            raise SchemaError(
                f"{len(symbols)} symbols, {len(set(symbols))} of them different",
                "at least one symbol, and each once",
                where=where,
            )
        default = definition.get("default")
        if default is not None and default not in symbols:
            raise SchemaError(f"default {_shown(default)}", "one of the symbols", where=where)
        avro_enum = AvroEnum(
            full_name, symbols, default, _aliases(definition, own_namespace, where)
        )
        self._define(avro_enum, where)
        return avro_enum

    def _fixed(self, definition: dict[str, Any], namespace: str, where: str) -> AvroFixed:
        full_name, own_namespace = _full_name(definition, namespace, where)
        size = _attribute(definition, "size", where)
        if type(size) is not int or not 0 <= size <= MAX_FIXED_BYTES:
            raise SchemaError(
                f"size {_shown(size)} of a fixed type", f"0 to {MAX_FIXED_BYTES}", where=where
            )
        fixed = AvroFixed(
            full_name,
            size,
            _aliases(definition, own_namespace, where),
            logical_type("fixed", definition),
        )
        self._define(fixed, where)
        return fixed

    def _define(self, named_type: NamedType, where: str) -> None:
        if named_type.full_name in self._own_names:
            raise SchemaError(
                f"a second definition of {named_type.full_name}", "one definition", where=where
            )
        self._own_names.add(named_type.full_name)
        self._types[named_type.full_name] = named_type
        self._heights.pop(named_type.full_name, None)


def _full_name(definition: dict[str, Any], namespace: str, where: str) -> tuple[str, str]:
    """Return the full name that *definition* gives, and its namespace."""
    name = _text(definition, "name", where)
    if "." in name:
        full_name = name.removeprefix(".")
    else:
        own_namespace = definition.get("namespace", namespace)
        if not isinstance(own_namespace, str):
            own_namespace = ""
        full_name = f"{own_namespace}.{name}" if own_namespace else name
    if full_name in PRIMITIVES:
        raise SchemaError(
            f"a definition of {full_name}", "a name that is not a primitive type", where=where
        )
    return full_name, full_name.rpartition(".")[0]


def _aliases(definition: dict[str, Any], namespace: str, where: str) -> tuple[str, ...]:
    return tuple(
        alias if "." in alias or not namespace else f"{namespace}.{alias}"
        for alias in _texts(definition, "aliases", where)
    )


def _attribute(definition: dict[str, Any], attribute: str, where: str) -> Any:
    if attribute not in definition:
        raise SchemaError(f"no {attribute!r}", f"an object with {attribute!r}", where=where)
    return definition[attribute]


def _text(definition: dict[str, Any], attribute: str, where: str) -> str:
    text = _attribute(definition, attribute, where)
    if not isinstance(text, str) or not text or not _is_encodable(text):
        raise SchemaError(f"{attribute} {_shown(text)}", "a name", where=where)
    return text


def _texts(definition: dict[str, Any], attribute: str, where: str) -> tuple[str, ...]:
    """Return the list of names in *attribute*; none if it is absent."""
    texts = definition.get(attribute) or []
    if not isinstance(texts, list) or not all(
        isinstance(text, str) and _is_encodable(text) for text in texts
    ):
        raise SchemaError(f"{attribute} {_shown(texts)}", "a list of names", where=where)
    return tuple(cast(list[str], texts))


def _is_encodable(text: str) -> bool:
    """Return whether *text* has no lone surrogate, which JSON can have and no UTF-8."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _shown(definition: Any) -> str:
    text = repr(definition)
    return text if len(text) <= 60 else f"{text[:57]}..."
