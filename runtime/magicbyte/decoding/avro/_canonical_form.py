"""The Parsing Canonical Form of a schema, and its CRC-64-AVRO."""

import json
from functools import cache

from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroRecord,
    AvroType,
    AvroUnion,
    NamedType,
    type_name,
)

EMPTY = 0xC15D213AA4D7A795
"""Fingerprint of no bytes."""


def canonical_form(root: AvroType) -> str:
    """Return the canonical form of *root*; a named type is defined where it occurs first."""
    return _canonical(root, set())


def _canonical(avro_type: AvroType, defined: set[str]) -> str:
    if isinstance(avro_type, NamedType):
        if avro_type.full_name in defined:
            return _quoted(avro_type.full_name)
        defined.add(avro_type.full_name)
    match avro_type:
        case AvroUnion():
            return f"[{','.join(_canonical(branch, defined) for branch in avro_type.branches)}]"
        case AvroArray():
            return f'{{"type":"array","items":{_canonical(avro_type.item_type, defined)}}}'
        case AvroMap():
            return f'{{"type":"map","values":{_canonical(avro_type.value_type, defined)}}}'
        case AvroRecord():
            fields = ",".join(
                f'{{"name":{_quoted(field.name)},"type":{_canonical(field.type, defined)}}}'
                for field in avro_type.fields
            )
            return f'{_named(avro_type)},"type":"record","fields":[{fields}]}}'
        case AvroEnum():
            symbols = ",".join(map(_quoted, avro_type.symbols))
            return f'{_named(avro_type)},"type":"enum","symbols":[{symbols}]}}'
        case AvroFixed():
            return f'{_named(avro_type)},"type":"fixed","size":{avro_type.size}}}'
    return _quoted(type_name(avro_type))


def _named(named_type: NamedType) -> str:
    return f'{{"name":{_quoted(named_type.full_name)}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@cache
def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (EMPTY if number & 1 else 0)
        table.append(number)
    return table


def fingerprint(data: bytes) -> int:
    """Return the CRC-64-AVRO of *data*."""
    table, crc = _table(), EMPTY
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc
