"""Values as fastavro returns them, from ours, so that both can be compared."""

import uuid
from typing import Any

from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroType,
    AvroUnion,
)


def plain(value: Any, avro_type: AvroType) -> Any:
    """Return *value*, a Python value of an Arrow array, as fastavro returns it for *avro_type*."""
    if value is None:
        return None
    match avro_type:
        case AvroRecord():
            assert list(value) == [field.name for field in avro_type.fields]
            return {field.name: plain(value[field.name], field.type) for field in avro_type.fields}
        case AvroArray():
            return [plain(item, avro_type.item_type) for item in value]
        case AvroMap():
            return {key: plain(item, avro_type.value_type) for key, item in value}
        case AvroUnion():
            indices = avro_type.value_indices
            if len(indices) == 1:
                return plain(value, avro_type.branches[indices[0]])
            names = avro_type.branch_names
            present = [index for index in indices if value[names[index]] is not None]
            if not present:  # a branch whose values are all null, such as an enum that is absent
                return None
            (index,) = present
            return plain(value[names[index]], avro_type.branches[index])
    if avro_type.logical is not None and avro_type.logical.name == "uuid":
        return uuid.UUID(value)
    return value
