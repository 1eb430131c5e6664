"""Tests of generated modules for files of fixed-width rows, and of specifications in error."""

import struct
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from magicbyte_tools.generate.columnar import (
    UnsupportedSpecError,
    read_row_file,
    row_file_formats,
    row_file_module,
)
from magicbyte_tools.generate.columns import columns
from magicbyte_tools.generate.source import specs

OFFSETS, TIMES = "kafka_offset_index", "kafka_time_index"
ABORTED, PRODUCERS = "kafka_transaction_index", "kafka_producer_snapshot"

Specs = dict[str, dict[str, Any]]
Change = Callable[[Specs], None]

WRITTEN = specs()


@pytest.fixture
def files() -> Specs:
    return deepcopy(WRITTEN)


def module_names(name: str, files: Specs) -> dict[str, Any]:
    """Return the names that the generated module of the row file *name* defines."""
    found: dict[str, Any] = {}
    exec(row_file_module(read_row_file(name, files[name])), found)
    return found


def read(name: str, files: Specs, data: bytes) -> list[tuple[int, ...]]:
    return list(module_names(name, files)["rows"](data).tolist())


def row_of(files: Specs, name: str) -> list[dict[str, Any]]:
    """Return the fields of a row in the specification of the row file *name*."""
    (kind,) = files[name]["types"].values()
    fields: list[dict[str, Any]] = kind["seq"]
    return fields


def test_files_of_rows_are_those_with_a_table_and_no_entries(files: Specs) -> None:
    assert row_file_formats(files) == [OFFSETS, PRODUCERS, TIMES, ABORTED]
    files["kafka_message"]["seq"][0]["-table"] = "records"
    del files[TIMES]["seq"][0]["-table"]
    assert row_file_formats(files) == [OFFSETS, PRODUCERS, ABORTED]


@pytest.mark.parametrize("name", row_file_formats(WRITTEN))
def test_a_module_is_the_same_every_time(files: Specs, name: str) -> None:
    assert row_file_module(read_row_file(name, files[name])) == row_file_module(
        read_row_file(name, WRITTEN[name])
    )


def test_a_new_field_becomes_a_column(files: Specs) -> None:
    before = len(columns(files)["offset_index"])
    flags = {"id": "flags", "type": "u1", "-column": True, "doc": "Invented."}
    row_of(files, OFFSETS).insert(1, flags)
    data = struct.pack(">iBi", 5, 200, 6) + struct.pack(">iBi", 0, 1, 0)
    assert module_names(OFFSETS, files)["rows"](data)["flags"].tolist() == [200, 1]
    assert read(OFFSETS, files, data + bytes(9)) == [(5, 200, 6), (0, 1, 0)]
    assert columns(files)["offset_index"][1].type == "uint8"
    assert len(columns(files)["offset_index"]) == before + 1


@pytest.mark.parametrize("kind", [f"{sign}{size}" for sign in "us" for size in (1, 2, 4, 8)])
@pytest.mark.parametrize("order", ["be", "le"])
def test_numbers_of_every_width_and_order_are_read(files: Specs, kind: str, order: str) -> None:
    (field, *_) = row_of(files, ABORTED)
    field.pop("valid")
    field["type"] = kind if kind[1] == "1" else kind + order
    width, is_signed = int(kind[1]), kind[0] == "s"
    number = -2 if is_signed else (1 << 8 * width) - 2
    stored = number.to_bytes(width, "little" if order == "le" else "big", signed=is_signed)
    assert read(ABORTED, files, stored + bytes(32)) == [(number, 0, 0, 0, 0)]


def test_the_byte_order_is_that_of_the_file_or_of_the_type(files: Specs) -> None:
    files[OFFSETS]["meta"]["endian"] = "le"
    assert read(OFFSETS, files, struct.pack("<ii", 5, 6)) == [(5, 6)]
    files[OFFSETS]["types"]["entry"]["meta"] = {"endian": "be"}
    assert read(OFFSETS, files, struct.pack(">ii", 5, 6)) == [(5, 6)]


def test_a_column_may_bear_another_name(files: Specs) -> None:
    row_of(files, OFFSETS)[1]["-column"] = {"name": "position"}
    assert module_names(OFFSETS, files)["ROW"].names == ("relative_offset", "position")
    assert columns(files)["offset_index"][1].name == "position"


ENTRY = struct.pack(">hqqqq", 0, 7, 2, 3, 4)


@pytest.mark.parametrize(
    ("valid", "numbers"),
    [
        (0, 1),
        ({"min": 0, "max": 2}, 3),
        ({"any-of": [0, 1]}, 2),
        ({"min": 1, "max": 9}, 0),
        (None, 4),
    ],
)
def test_rows_end_before_the_first_that_is_not_valid(
    files: Specs, valid: Any, numbers: int
) -> None:
    field = row_of(files, ABORTED)[0]
    field["valid"] = {} if valid is None else valid
    data = b"".join(struct.pack(">h", number) + ENTRY[2:] for number in (0, 1, 2, 9))
    assert len(read(ABORTED, files, data)) == numbers
    assert len(read(ABORTED, files, data[:-1])) == min(numbers, 3)


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        (b"", 0),
        (bytes(7), 0),
        (bytes(8), 0),
        (bytes(80), 0),
        (b"\1" + bytes(6), 0),
        (b"\1" + bytes(7), 1),
        (bytes(7) + b"\1" + bytes(8), 1),
        (b"\1" * 16 + bytes(8) + b"\1" * 8, 2),
        (b"\1" * 23, 2),
    ],
)
def test_rows_end_where_the_next_is_all_zeros_or_not_whole(
    files: Specs, data: bytes, numbers: int
) -> None:
    assert len(read(OFFSETS, files, data)) == numbers


HEADER = struct.Struct(">hIi")


@pytest.mark.parametrize(
    ("version", "stated", "length", "numbers"),
    [
        (1, 2, 2 * 46, 2),
        (1, 2, 2 * 46 + 1, 2),
        (1, 1, 2 * 46, 1),
        (1, 2, 2 * 46 - 1, 1),
        (1, (1 << 31) - 1, 46, 1),
        (1, 0, 46, 0),
        (1, -1, 46, 0),
        (2, 1, 46, 0),
    ],
)
def test_rows_are_as_many_as_are_stated_and_there(
    files: Specs, version: int, stated: int, length: int, numbers: int
) -> None:
    data = HEADER.pack(version, 0, stated) + bytes(length)
    assert len(read(PRODUCERS, files, data)) == numbers


def test_a_negative_count_is_none_where_nothing_refuses_it(files: Specs) -> None:
    del files[PRODUCERS]["seq"][2]["valid"]
    files[PRODUCERS]["seq"][3]["repeat-expr"] = "num_producers - 1"
    for stated, numbers in ((-1, 0), (0, 0), (2, 1)):
        assert len(read(PRODUCERS, files, HEADER.pack(1, 0, stated) + bytes(92))) == numbers


@pytest.mark.parametrize("length", range(10))
def test_a_header_that_is_not_whole_has_no_rows(files: Specs, length: int) -> None:
    assert read(PRODUCERS, files, HEADER.pack(1, 0, 0)[:length]) == []


def set_in_row(name: str, **keys: Any) -> Change:
    """Return a change to the specification: set *keys* of the second field of a row."""
    return lambda files: row_of(files, name)[1].update(keys)


def in_seq(name: str, at: int, **keys: Any) -> Change:
    return lambda files: files[name]["seq"][at].update(keys)


def without(name: str, at: int, key: str) -> Change:
    return lambda files: files[name]["seq"][at].pop(key)


ROW = "types/aborted_transaction/seq/1"
FOOTER = {"id": "footer", "type": "u4"}


@pytest.mark.parametrize(
    ("name", "change", "place"),
    [
        (ABORTED, set_in_row(ABORTED, type="f8"), f"{ROW}/type"),
        (ABORTED, set_in_row(ABORTED, type="b4"), f"{ROW}/type"),
        (ABORTED, set_in_row(ABORTED, type="kafka_varint"), f"{ROW}/type"),
        (ABORTED, set_in_row(ABORTED, type={"switch-on": "x", "cases": {}}), f"{ROW}/type"),
        (ABORTED, set_in_row(ABORTED, size=8), f"{ROW}/size"),
        (ABORTED, set_in_row(ABORTED, **{"if": "version == 0"}), f"{ROW}/if"),
        (ABORTED, set_in_row(ABORTED, repeat="eos"), f"{ROW}/repeat"),
        (ABORTED, set_in_row(ABORTED, enum="codecs"), f"{ROW}/enum"),
        (ABORTED, set_in_row(ABORTED, contents=[0]), f"{ROW}/contents"),
        (ABORTED, set_in_row(ABORTED, valid={"expr": "_ > 0"}), f"{ROW}/valid/expr"),
        (ABORTED, set_in_row(ABORTED, **{"-sentinel": -1}), f"{ROW}/-sentinel"),
        (ABORTED, set_in_row(ABORTED, **{"-column": {"type": "bool"}}), f"{ROW}/-column/type"),
        (ABORTED, set_in_row(ABORTED, **{"-column": {"table": "x"}}), f"{ROW}/-column/table"),
        (
            ABORTED,
            lambda files: files[ABORTED]["meta"].update(endian={"switch-on": "x"}),
            "types/aborted_transaction/seq/0/type",
        ),
        (ABORTED, lambda files: row_of(files, ABORTED).clear(), "types/aborted_transaction"),
        (ABORTED, lambda files: files[ABORTED]["seq"].append(FOOTER), "seq/1"),
        (ABORTED, in_seq(ABORTED, 0, type="nobody"), "seq/0/type"),
        (ABORTED, in_seq(ABORTED, 0, **{"if": "true"}), "seq/0/if"),
        (ABORTED, in_seq(ABORTED, 0, size=34), "seq/0/size"),
        (ABORTED, in_seq(ABORTED, 0, repeat="until"), "seq/0/repeat"),
        (ABORTED, in_seq(ABORTED, 0, **{"-until": "zeros"}), "seq/0/repeat"),
        (ABORTED, in_seq(ABORTED, 0, **{"-derived": []}), "seq/0/-derived"),
        (ABORTED, without(ABORTED, 0, "repeat"), "seq/0"),
        (OFFSETS, without(OFFSETS, 0, "-until"), "seq/0/repeat"),
        (OFFSETS, without(OFFSETS, 2, "size-eos"), "seq/2"),
        (PRODUCERS, in_seq(PRODUCERS, 1, type="kafka_varint"), "seq/1/type"),
        (PRODUCERS, in_seq(PRODUCERS, 1, **{"if": "version > 0"}), "seq/1/if"),
        (PRODUCERS, in_seq(PRODUCERS, 3, **{"repeat-expr": "nobody"}), "seq/3/repeat-expr"),
        (PRODUCERS, in_seq(PRODUCERS, 3, **{"repeat-expr": "crc / 2"}), "seq/3/repeat-expr"),
    ],
)
def test_unsupported_specification_is_refused_with_its_path(
    files: Specs, name: str, change: Change, place: str
) -> None:
    change(files)
    with pytest.raises(UnsupportedSpecError) as refused:
        row_file_module(read_row_file(name, files[name]))
    assert refused.value.spec_path == f"{name}.ksy:/{place}"
    assert str(refused.value).startswith(f"{name}.ksy:/{place}: ")
