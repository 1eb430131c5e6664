"""Tests of kafka_log_lazy, which opens logs that kafka_log refuses, and parses no entry before it is asked for."""

import json
from io import BytesIO
from typing import Any

import pytest
from kaitaistruct import KaitaiStream

import magicbyte_construct as twin
from magicbyte_formats.kaitai import kafka_log_lazy
from magicbyte_formats.kaitai.kafka_log_lazy import KafkaLogLazy
from paths import CHECKOUT

VECTORS = CHECKOUT / "tests" / "vectors"


def entries(data: bytes, position: int | None = None) -> list[Any]:
    """Return the entries of *data*; from *position* by the type with a parameter."""
    stream = KaitaiStream(BytesIO(data))
    if position is None:
        found: list[Any] = KafkaLogLazy(stream).whole.entries
    else:
        found = KafkaLogLazy.Part(position, stream).entries
    return found


def cases(verdict: str) -> dict[str, tuple[dict[str, Any], bytes]]:
    return {
        path.stem: (json.loads(path.read_text("utf-8")), path.with_suffix(".bin").read_bytes())
        for path in sorted((VECTORS / verdict / "kafka_log").glob("*.json"))
    }


def twin_positions(data: bytes) -> list[int]:
    """Return where the twin's entries begin, and the end of the last."""
    log = twin.Log.parse(data, strict=False)
    sizes = [
        entry["len_batch" if entry.magic == 2 else "len_message"] + 12 for entry in log.entries
    ]
    return [sum(sizes[:number]) for number in range(len(sizes) + 1)]


def test_entries_of_valid_vectors_lie_where_the_twin_reads_them() -> None:
    for name, (case, data) in cases("valid").items():
        if case["fields"] is None:
            continue
        *starts, end = twin_positions(data)
        found = entries(data)
        framed = [entry for entry in found if entry.is_framed]
        assert [entry.ofs_entry for entry in framed] == starts, name
        assert [len(entry.rest) for entry in found if not entry.is_framed] == (
            [len(data) - end] if end < len(data) else []
        ), name
        assert all(entry.is_known and entry.magic == entry.skipped[16] for entry in framed), name


def test_fields_of_entries_are_those_that_the_twin_reads() -> None:
    num_entries = 0
    for name, (case, data) in cases("valid").items():
        if case["fields"] is None:
            continue
        expected = twin.Log.parse(data, strict=False).entries
        for entry, other in zip(entries(data), expected, strict=False):
            fields = entry.fields if other.magic == 2 else entry.fields.message
            assert (entry.offset, fields.magic, fields.crc) == (
                other["base_offset" if other.magic == 2 else "offset"],
                other.magic,
                other.crc,
            ), name
            num_entries += 1
    assert num_entries > 200


def test_invalid_vectors_open_and_every_byte_is_some_entrys() -> None:
    for name, (_, data) in cases("invalid").items():
        found = entries(data)
        sizes = [len(entry.skipped if entry.is_framed else entry.rest) for entry in found]
        assert sum(sizes) == len(data), name


def test_an_entry_of_unknown_magic_is_skipped_by_its_length() -> None:
    _, data = cases("invalid")["magic-37"]
    before, unknown, after = entries(data)
    assert (before.is_known, unknown.is_known, after.is_known) == (True, False, True)
    assert unknown.magic == 37
    assert unknown.fields.data == data[unknown.ofs_entry : after.ofs_entry]


def test_a_part_begins_where_its_parameter_says() -> None:
    case, data = cases("invalid")["size-minus-1"]
    before, damage = entries(data)
    assert (before.is_framed, damage.is_framed, damage.ofs_entry) == (True, False, case["position"])
    behind = next(one["position"] for one in case["findings"] if one["code"] == "found-by-search")
    [entry] = entries(data, behind)
    assert (entry.ofs_entry, entry.fields.base_offset) == (behind, 2)


def test_no_entry_is_parsed_before_its_fields_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an entry was parsed")

    monkeypatch.setattr(kafka_log_lazy.kafka_record_batch, "KafkaRecordBatch", refuse)
    _, data = cases("invalid")["magic-37"]
    first, *_ = entries(data)
    with pytest.raises(AssertionError, match="was parsed"):
        _ = first.fields


@pytest.mark.parametrize("size", [0, 1, 11, 12, 16])
def test_a_file_of_a_few_bytes_is_a_rest(size: int) -> None:
    data = bytes([1] * size)
    assert [entry.rest for entry in entries(data)] == ([data] if size else [])


def test_zeros_at_the_end_are_told_from_damage() -> None:
    _, data = cases("invalid")["magic-37"]
    *_, last = entries(data + bytes(40))
    assert last.is_zero_tail
    *_, last = entries(data + b"\xff" * 40)
    assert not last.is_zero_tail
