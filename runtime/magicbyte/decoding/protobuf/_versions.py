"""The union of all versions of a Protobuf schema: messages that have the fields of each version, by their numbers."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from magicbyte.decoding.protobuf._compiler import ProtobufFiles
from magicbyte.decoding.protobuf._library import library
from magicbyte.decoding.protobuf._message_types import (
    ENUM,
    INT32,
    INT64,
    MESSAGE,
    SINT32,
    SINT64,
    UINT32,
    UINT64,
)
from magicbyte.errors import SchemaError

WIDER = {
    **{(INT32, INT64): INT64, (UINT32, UINT64): UINT64, (SINT32, SINT64): SINT64},
    **{(INT64, INT32): INT64, (UINT64, UINT32): UINT64, (SINT64, SINT32): SINT64},
}
"""Types that take the values of two others, which have the same bytes."""
OPTIONAL, REQUIRED, REPEATED = 1, 2, 3
"""Labels of a FieldDescriptorProto."""


def union_of_versions(file_versions: Sequence[ProtobufFiles]) -> bytes:
    """Return a FileDescriptorSet whose last file has the messages of all *file_versions*, the oldest version first.

    Fields have the order of their first appearance, and the name of their number in the last version. A field that the
    last version does not have may be null, also in proto3, which does not write zeros.

    Raises:
        SchemaError: A number has types that are not written alike.
    """
    descriptors = library("google.protobuf.descriptor_pb2")
    sets = [descriptors.FileDescriptorSet.FromString(one.descriptor_set) for one in file_versions]
    for version, files in zip(file_versions, sets, strict=True):
        _main_last(files, version.main.name)
    merged = reduce(_merged_sets, sets)
    return bytes(merged.SerializeToString())


def _main_last(files: Any, main_name: str) -> None:
    """Move the main file of a set to its end, after the files that it imports."""
    ordered = sorted(files.file, key=lambda one: one.name == main_name)
    copies = [type(one).FromString(one.SerializeToString()) for one in ordered]
    del files.file[:]
    files.file.extend(copies)


def _merged_sets(earlier_set: Any, newer_set: Any) -> Any:
    old, main = earlier_set.file[-1], newer_set.file[-1]
    if old.package != main.package:
        return newer_set
    merged = type(newer_set)()
    names = {one.name for one in newer_set.file}
    merged.file.extend(one for one in earlier_set.file[:-1] if one.name not in names)
    merged.file.extend(newer_set.file)
    main = merged.file[-1]
    main.dependency.extend(name for name in old.dependency if name not in main.dependency)
    _merge_definitions(old.message_type, main.message_type, old, main, main)
    return merged


def _merge_definitions(
    old_messages: Any, new_messages: Any, old_parent: Any, new_parent: Any, main: Any
) -> None:
    """Add the messages and enums of *old_parent*, a file or a message, to *new_parent*."""
    by_name = {one.name: one for one in new_messages}
    for old in old_messages:
        if old.name in by_name:
            _merge_message(old, by_name[old.name], main)
        else:
            new_messages.add().CopyFrom(old)
    enums = {one.name: one for one in new_parent.enum_type}
    for old in old_parent.enum_type:
        if old.name not in enums:
            new_parent.enum_type.add().CopyFrom(old)
            continue
        numbers = {value.number for value in enums[old.name].value}
        names = {value.name for value in enums[old.name].value}
        for value in old.value:
            if value.number not in numbers and value.name not in names:
                enums[old.name].value.add().CopyFrom(value)
        del enums[old.name].reserved_range[:], enums[old.name].reserved_name[:]


def _merge_message(old: Any, message_proto: Any, main: Any) -> None:
    _merge_definitions(old.nested_type, message_proto.nested_type, old, message_proto, main)
    by_number = {one.number: one for one in message_proto.field}
    names = {one.name for one in message_proto.field}
    for field in old.field:
        if field.number in by_number:
            _merge_field(field, by_number[field.number], message_proto.name)
        else:
            _add_field(field, message_proto, names, main)
    order = {field.number: index for index, field in enumerate(old.field)}
    ordered = sorted(message_proto.field, key=lambda one: order.get(one.number, len(order)))
    copies = [type(one).FromString(one.SerializeToString()) for one in ordered]
    del message_proto.field[:], message_proto.reserved_range[:], message_proto.reserved_name[:]
    message_proto.field.extend(copies)


def _merge_field(old: Any, field_proto: Any, message_name: str) -> None:
    is_alike = (old.type, old.type_name) == (field_proto.type, field_proto.type_name)
    if (old.label == REPEATED) != (field_proto.label == REPEATED) or not (
        is_alike or (old.type, field_proto.type) in WIDER
    ):
        raise SchemaError(
            f"number {field_proto.number} is {_described(old)} in one version and {_described(field_proto)} in a later one",
            "types that are written alike",
            where=f"{message_name}.{field_proto.name}",
        )
    field_proto.type = WIDER.get((old.type, field_proto.type), field_proto.type)
    if field_proto.label == REQUIRED:
        field_proto.label = OPTIONAL


def _add_field(old: Any, message_proto: Any, taken_names: set[str], main: Any) -> None:
    field = message_proto.field.add()
    field.CopyFrom(old)
    field.ClearField("oneof_index")
    field.ClearField("proto3_optional")
    field.ClearField("json_name")
    if field.name in taken_names:  # the name has another number now
        field.name = f"{field.name}_{field.number}"
    taken_names.add(field.name)
    if field.label == REQUIRED:
        field.label = OPTIONAL
    if field.label == OPTIONAL and main.syntax == "proto3" and field.type != MESSAGE:
        # protoc, too, makes a field optional by a oneof of its own, after all others.
        field.proto3_optional = True
        field.oneof_index = len(message_proto.oneof_decl)
        message_proto.oneof_decl.add().name = f"_{field.name}"


def _described(field_proto: Any) -> str:
    types = field_proto.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
    if field_proto.type in (MESSAGE, ENUM):
        kind = field_proto.type_name.removeprefix(".")
    else:
        kind = types[field_proto.type].name[5:].lower()
    return f"repeated {kind}" if field_proto.label == REPEATED else kind
