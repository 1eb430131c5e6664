"""Tests of generating kernels from specifications: accepted fields, and errors with their place."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from magicbyte_tools.generate.columnar import (
    UnsupportedSpecError,
    entry_formats,
    kernel_module,
    read_entry,
)
from magicbyte_tools.generate.columnar.entry_model import NumberNode, least
from magicbyte_tools.generate.source import specs

BATCH, RECORD, MESSAGE = "kafka_record_batch", "kafka_record", "kafka_message"

Specs = dict[str, dict[str, Any]]
Change = Callable[[Specs], None]


WRITTEN = specs()


@pytest.fixture
def files() -> Specs:
    return deepcopy(WRITTEN)


def body(files: Specs) -> list[dict[str, Any]]:
    """Return the fields of a v2 record in the specification."""
    fields: list[dict[str, Any]] = files[RECORD]["types"]["record_body"]["seq"]
    return fields


def records(files: Specs) -> dict[str, Any]:
    field: dict[str, Any] = files[BATCH]["types"]["record_list"]["seq"][0]
    return field


def test_formats_are_those_with_entries(files: Specs) -> None:
    assert entry_formats(files) == [MESSAGE, BATCH]


@pytest.mark.parametrize("name", [BATCH, MESSAGE])
def test_a_module_is_the_same_every_time(files: Specs, name: str) -> None:
    assert kernel_module(read_entry(name, files)) == kernel_module(read_entry(name, WRITTEN))


def test_the_form_of_a_batch_is_what_its_bytes_are(files: Specs) -> None:
    entry = read_entry(BATCH, files)
    assert (entry.len_header, entry.size_expression.source) == (61, "len_batch + 12")
    assert entry.checksum == ("crc32c", "crc", 21)
    assert entry.codec.source == "codec"
    rows = entry.rows
    assert rows is not None
    assert (rows.count.source, least(rows.body)) == ("num_records", 7)
    length = rows.body[0]
    assert isinstance(length, NumberNode)
    assert (length.var, length.reader, length.most) == ("len_body", "zigzag32", 5)
    assert not entry.is_stream


def test_the_form_of_a_message_is_a_stream_of_them(files: Specs) -> None:
    entry = read_entry(MESSAGE, files)
    assert (entry.len_header, entry.size_expression.source) == (18, "len_message + 12")
    assert entry.checksum == ("crc32", "crc", 16)
    assert entry.is_stream
    assert entry.rows is None
    time = entry.body[0]
    assert isinstance(time, NumberNode)
    assert time.condition is not None
    assert time.condition.source == "magic >= 1"


def test_header_columns_are_not_decoded_from_records(files: Specs) -> None:
    entry = read_entry(BATCH, files)
    of_entry = {column.name for column in entry.entry_columns}
    of_row = {column.name for column in entry.table.columns}
    assert of_entry >= {"codec", "producer_id", "timestamp_type", "magic"}
    assert of_row == {"offset", "timestamp", "sequence", "key", "value", "headers"}


def test_a_new_field_becomes_a_column_and_a_longer_row(files: Specs) -> None:
    body(files).insert(1, {"id": "flags", "type": "u1", "-column": True, "doc": "Invented."})
    entry = read_entry(BATCH, files)
    rows = entry.rows
    assert rows is not None
    assert least(rows.body) == 8
    (column,) = (column for column in entry.table.columns if column.name == "flags")
    assert (column.type, column.width) == ("uint8", 1)
    assert "flags = u1(p + 1)" in kernel_module(entry)


def set_in_field(path: str, **keys: Any) -> Change:
    """Return a change to the specification: set *keys* of the record's field with id *path*."""

    return lambda files: next(one for one in body(files) if one["id"] == path).update(keys)


def in_records(**keys: Any) -> Change:
    return lambda files: records(files).update(keys)


def derived(**keys: Any) -> Change:
    return lambda files: records(files)["-derived"][0].update(keys)


def removed(name: str, key: str) -> Change:
    def change(files: Specs) -> None:
        for field in files[name]["seq"]:
            field.pop(key, None)

    return change


HERE = "kafka_record.ksy:/types/record_body/seq"
LIST = "kafka_record_batch.ksy:/types/record_list/seq/0"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (set_in_field("attributes", type="u8"), f"{HERE}/0/type"),
        (set_in_field("attributes", type="f4"), f"{HERE}/0/type"),
        (set_in_field("attributes", type={"switch-on": "x", "cases": {}}), f"{HERE}/0/type"),
        (set_in_field("attributes", contents=[0]), f"{HERE}/0/contents"),
        (set_in_field("attributes", valid={"expr": "_ > 0"}), f"{HERE}/0/valid/expr"),
        (set_in_field("offset_delta", **{"if": "attributes == 0"}), f"{HERE}/2/if"),
        (set_in_field("key", size="len_value.value"), f"{HERE}/4/size"),
        (set_in_field("key", size="len_key.value / 2"), f"{HERE}/4/size"),
        (set_in_field("key", size="len_key.value +"), f"{HERE}/4/size"),
        (set_in_field("key", terminator=0), f"{HERE}/4/terminator"),
        (set_in_field("value", process="zlib"), f"{HERE}/6/process"),
        (set_in_field("headers", repeat="eos"), f"{HERE}/8/repeat"),
        (set_in_field("headers", type="nobody"), f"{HERE}/8/type"),
        (set_in_field("headers", **{"if": "num_headers.value > 0"}), f"{HERE}/8/if"),
        (set_in_field("headers", **{"-table": "others"}), f"{HERE}/8/-table"),
        (in_records(repeat="until"), f"{LIST}/repeat"),
        (derived(value="_root.base_offset"), f"{LIST}/-derived/0/value"),
        (derived(value="_parent.base_offset[0]"), f"{LIST}/-derived/0/value"),
        (derived(value="codecs::nothing"), f"{LIST}/-derived/0/value"),
        (derived(**{"if": "_parent.magic == 2"}), f"{LIST}/-derived/0/if"),
        (derived(type="string"), LIST),
        (removed(BATCH, "-compressed"), "kafka_record_batch.ksy:/seq/14"),
        (removed(BATCH, "-checksum"), "kafka_record_batch.ksy:/seq"),
        (removed(BATCH, "-length-of"), "kafka_record_batch.ksy:/seq"),
    ],
)
def test_unsupported_specification_is_refused_with_its_path(
    files: Specs, change: Change, place: str
) -> None:
    change(files)
    with pytest.raises(UnsupportedSpecError) as refused:
        kernel_module(read_entry(BATCH, files))
    assert refused.value.spec_path == place
    assert str(refused.value).startswith(f"{place}: ")
