"""The .pyi files, compared with the objects that the parsers make of real bytes."""

import __future__

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import kaitaistruct
import pytest

from magicbyte_formats.kaitai import (
    kafka_control_record,
    kafka_crc,
    kafka_early_leader_change,
    kafka_kraft_snapshot,
    kafka_leader_epoch_checkpoint,
    kafka_log,
    kafka_metadata_record,
    kafka_offset_checkpoint,
    kafka_offset_index,
    kafka_partition_metadata,
    kafka_producer_snapshot,
    kafka_record_batch_checked,
    kafka_record_batch_kip_931,
    kafka_time_index,
    kafka_transaction_index,
)

V0 = "0000000000000000 00000013 87a77ab2 00 00 ffffffff 00000005 68656c6c6f"
V1 = "0000000000000001 0000001c 2533d1a8 01 00 0000018f125c7400 00000001 6b 00000005 776f726c64"
ABORT = (
    "000000000000000a 00000042 00000003 02 64311b2d 0030 00000000 0000018f125c7400"
    "0000018f125c7400 0000000000000fa0 0005 ffffffff 00000001"
    "20 00 00 00 08 00000000 0c 000000000007 00"
)
COMPRESSED = (
    "0000000000000000 00000033 00000003 02 00000000 0001 00000000 0000018f125c7400"
    "0000018f125c7400 0000000000000fa0 0005 ffffffff 00000001 aabb"
)
HEADERS = (
    "0000000000000000 00000043 00000003 02 00000000 0000 00000000 0000018f125c7400"
    "0000018f125c7400 0000000000000fa0 0005 ffffffff 00000001"
    "22 00 00 00 02 6b 02 76 06 02 61 02 31 02 61 01 00 00"
)
SNAPSHOT = (
    "0001 9dbc25d3 00000001 0000000000000fa0 0005 00000068 0000000000000018 00000004"
    "0000018f125c7400 00000007 ffffffffffffffff"
)
VOTERS = (
    "08 00000006 4c 0000 02 00000001 00000000000000000000000000000000 02 02 43 02 68 0001 00"
    "0000 0001 00 00 00"
)
KIP_931 = (
    "0000000000000000 0000003b ffffffff 03 5d2c78cd 0080 ffffffffffffffff ffff ffffffff 00000002"
    "02 80d0e3a5e263 02 14 00 00 01 0a 68656c6c6f 00 14 02 02 01 0a 776f726c64 00"
)
CONTROL = (
    "0000000000000000 000000{size} 00000000 02 00000000 0020 00000000 0000018f125c7400"
    "0000018f125c7400 ffffffffffffffff ffff ffffffff 00000001 {record}"
)
METADATA_SNAPSHOT = CONTROL.format(
    size="47", record="2a 00 00 00 08 00000003 16 0000 0000000000000000 00 00"
) + CONTROL.format(size="3f", record="1a 00 00 00 08 00000004 06 0000 00 00")
SAMPLES = [
    (kafka_log, V0 + V1 + HEADERS + COMPRESSED + ABORT + "00" * 40),
    (kafka_log, V0 + V1[:30]),
    (kafka_control_record, VOTERS),
    (kafka_control_record, "08 00000005 0a 0000 0001 00"),
    (kafka_control_record, "08 00000004 0c 0000 01 05 01 ff"),
    (kafka_offset_index, "00000004 00000000 00000009 00001000" + "00" * 8),
    (kafka_time_index, "0000018f125c7400 00000004 0000018f125c7401 00000009 01"),
    (kafka_transaction_index, "0000 0000000000000fa0 0000000000000014" + "00" * 16),
    (kafka_producer_snapshot, SNAPSHOT),
    (kafka_record_batch_checked, ABORT),
    (kafka_record_batch_kip_931, KIP_931),
    (kafka_kraft_snapshot, METADATA_SNAPSHOT),
    (kafka_metadata_record, "01 0c 00 0d 6d"),
    (kafka_early_leader_change, "00000001 02 00000001 00 02 00000001 00 00"),
    (kafka_early_leader_change, "00000001 02 00000001 00 00"),
    (kafka_offset_checkpoint, b"0\n1\norders 0 123\n".hex()),
    (kafka_offset_checkpoint, ""),
    (kafka_leader_epoch_checkpoint, b"0\n1\n7 1500\n".hex()),
    (kafka_partition_metadata, b"version: 0\ntopic_id: h453d0_nR06KcDOcShpWRA".hex()),
    (kafka_partition_metadata, b"version: 0\ntopic_id: h453d0_nR06KcDOcShpWRA\n".hex()),
]


@pytest.mark.parametrize(("module", "data"), SAMPLES)
def test_every_attribute_is_of_the_type_that_the_stub_says(module: ModuleType, data: str) -> None:
    name = module.__name__.rpartition(".")[2]
    root = getattr(module, "".join(word.capitalize() for word in name.split("_")))
    seen: set[str] = set()
    compare(root.from_bytes(bytes.fromhex(data)), seen)
    assert root.__qualname__ in seen


def compare(thing: Any, seen: set[str]) -> None:
    """Compare an object with its stub, and all objects in it with theirs."""
    kind = type(thing)
    seen.add(kind.__qualname__)
    declared = {name: annotation for name, annotation in stub(kind).items() if name[0] != "_"}
    public = {name for name in vars(thing) if not name.startswith("_")}
    public |= {name for name, one in vars(kind).items() if isinstance(one, property)}
    assert public <= set(declared), kind
    for name, annotation in declared.items():
        value = getattr(thing, name)
        assert matches(value, annotation), (kind, name, annotation, value)
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, kaitaistruct.KaitaiStruct) and kind.__name__ != "Step":
                compare(inner, seen)


def matches(value: Any, annotation: str) -> bool:
    """Return whether *value* is of the type that a stub's *annotation* names."""
    many = re.fullmatch(r"list\[(.*)\](.*)", annotation)
    if many and isinstance(value, list):
        return all(matches(one, many[1]) for one in value)
    if many:
        return value is None and many[2] == " | None"
    return any(
        word == ("None" if value is None else one.__qualname__)
        for word in annotation.split(" | ")
        for one in (type(value).__mro__[:1] if isinstance(value, bool) else type(value).__mro__)
    )


def stub(kind: type) -> dict[str, str]:
    """Return the annotations in the stub of *kind*, of attributes and of properties."""
    module = kind.__module__
    file = Path(kafka_crc.__file__).with_name(f"{module.rpartition('.')[2]}.pyi")
    flags = __future__.annotations.compiler_flag
    text = re.sub(r"^from \.?.*$", "", file.read_text(), flags=re.MULTILINE)
    space: dict[str, Any] = {"KaitaiStruct": object, "IntEnum": object}
    exec(compile(text, str(file), "exec", flags=flags), space)
    found = space[kind.__qualname__.split(".")[0]]
    for step in kind.__qualname__.split(".")[1:]:
        found = getattr(found, step)
    annotations = dict(found.__annotations__)
    for name, one in vars(found).items():
        if isinstance(one, property) and one.fget:
            annotations[name] = one.fget.__annotations__["return"]
    return annotations
