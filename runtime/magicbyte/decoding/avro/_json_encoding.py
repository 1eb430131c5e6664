"""Encodes values of Avro's JSON encoding in its binary encoding."""

from typing import Any

from magicbyte.decoding.avro._defaults import JsonEncoder, zigzag
from magicbyte.decoding.avro._schema import AvroSchema
from magicbyte.decoding.avro._types import AvroField, AvroRecord, AvroUnion, type_name


def encode_json(avro_schema: AvroSchema, json_value: Any) -> bytes:
    """Return *json_value*, a value as Avro's Java class JsonEncoder writes it, in the binary encoding.

    Raises SchemaError if it is no value of *avro_schema*.
    """
    return _ValueEncoder("a value").encode(avro_schema.root, json_value, 0)


class _ValueEncoder(JsonEncoder):
    """Encodes a value of a union by the branch that it names; no field is left out."""

    max_items = 1 << 20
    max_bytes = 64 << 20

    def _union(self, union: AvroUnion, default: Any, depth: int) -> bytes:
        if default is None and union.null_index >= 0:
            return zigzag(union.null_index)
        if isinstance(default, dict) and len(default) == 1:
            ((name, inner),) = default.items()
            for number, branch in enumerate(union.branches):
                if type_name(branch) == name:
                    return zigzag(number) + self.encode(branch, inner, depth + 1)
        raise self._error(f"{default!r:.60}", "an object with the name of a branch")

    def _missing(self, avro_record: AvroRecord, avro_field: AvroField) -> Any:
        raise self._error(f"no {avro_field.name!r}", f"all fields of {avro_record.full_name}")
