"""Tests of the links from the format reference to the conformance vectors."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.tested_by import TestedBy as VectorLinks
from magicbyte_tools.reference.tested_by import read_vectors


def write_vector(folder: Path, name: str, size: int, **case: Any) -> None:
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"format": path.parent.name, "why": f"{path.stem}.", **case}))
    path.with_suffix(".bin").write_bytes(bytes(size))


def section(folder: Path, library: Library, name: str, *type_path: str) -> list[str]:
    links = VectorLinks(library, read_vectors(folder))
    [structure] = [one for one in library.structures(name) if one.type_path == type_path]
    return [
        line.partition("`")[2].partition("`")[0] for line in links.section(structure).split("\n")
    ][2:]


def of_field(folder: Path, library: Library, field: str, name: str, *type_path: str) -> list[str]:
    """Return the names of the vectors that are linked for a field of the type at *type_path* of a format."""
    links = VectorLinks(library, read_vectors(folder))
    [structure] = [one for one in library.structures(name) if one.type_path == type_path]
    return re.findall(r"\[`([^`]+)`\]", links.links(structure, field))


def sound_batch(**attributes: Any) -> dict[str, Any]:
    return {"verdict": "valid", "fields": {"base_offset": "5", "attributes": attributes}}


def test_smallest_sound_vector_that_uses_the_type_is_linked(
    tmp_path: Path, library: Library
) -> None:
    write_vector(tmp_path, "valid/kafka_record_batch/defaults", 60, **sound_batch(codec=0))
    write_vector(tmp_path, "valid/kafka_record_batch/zstd", 80, **sound_batch(codec=4))
    write_vector(tmp_path, "valid/kafka_record_batch/larger", 90, **sound_batch(codec=4))
    assert section(tmp_path, library, "kafka_record_batch") == ["kafka_record_batch/defaults"]
    assert section(tmp_path, library, "kafka_record_batch", "batch_attributes") == [
        "kafka_record_batch/zstd"
    ]
    assert section(tmp_path, library, "kafka_record_batch", "record_list") == []


def test_vector_of_the_own_format_is_preferred_to_a_smaller_one(
    tmp_path: Path, library: Library
) -> None:
    entries = [{"content": sound_batch(codec=4)["fields"] | {"producer_id": "7"}}]
    write_vector(
        tmp_path, "valid/kafka_log/batch", 70, verdict="valid", fields={"entries": entries}
    )
    assert section(tmp_path, library, "kafka_record_batch") == ["kafka_log/batch"]
    write_vector(tmp_path, "valid/kafka_record_batch/zstd", 80, **sound_batch(codec=4))
    assert section(tmp_path, library, "kafka_record_batch") == ["kafka_record_batch/zstd"]


def test_invalid_vectors_of_a_format_have_different_codes(tmp_path: Path, library: Library) -> None:
    for size, (name, code) in enumerate(
        [("cut", "a-code"), ("cut-later", "a-code"), ("magic", "b-code"), ("crc", "c-code")]
    ):
        write_vector(tmp_path, f"invalid/kafka_log/{name}", size, verdict="invalid", code=code)
    write_vector(tmp_path, "invalid/kafka_log/zeros", 0, verdict="either", code="d-code")
    assert section(tmp_path, library, "kafka_log") == ["kafka_log/cut", "kafka_log/magic"]


@pytest.mark.parametrize(
    ("page", "anchor", "vector"),
    [
        ("kafka_log.md", "# Apache Kafka", "invalid/kafka_log/"),
        ("kafka_record_batch.md", "### `batch_attributes`", "valid/kafka_record_batch/"),
        ("kafka_record.md", "### `header`", "valid/kafka_record"),
        ("kafka_varint.md", "## Fields", "invalid/kafka_varint/"),
    ],
)
def test_page_links_vectors_after_the_heading(
    page: str, anchor: str, vector: str, files: dict[str, str]
) -> None:
    assert f"](../../tests/vectors/{vector}" in files[page].partition(anchor)[2]


def test_vectors_of_a_field_have_different_values_of_it(tmp_path: Path, library: Library) -> None:
    for size, (name, codec) in enumerate(
        [("none", 0), ("gzip", 1), ("gzip-too", 1), ("lz4", 3), ("zstd", 4), ("snappy", 2)]
    ):
        write_vector(tmp_path, f"valid/kafka_record_batch/{name}", size, **sound_batch(codec=codec))
    batch = "kafka_record_batch"
    assert of_field(tmp_path, library, "codec", batch, "batch_attributes") == [
        "gzip",
        "lz4",
        "zstd",
    ]
    assert of_field(tmp_path, library, "base_offset", batch) == ["none", "gzip", "gzip-too"]
    assert of_field(tmp_path, library, "crc", batch) == []


def test_vectors_of_a_field_are_of_its_own_format_first(tmp_path: Path, library: Library) -> None:
    entries = [{"content": sound_batch(codec=4)["fields"]}]
    log = {"verdict": "valid", "fields": {"entries": entries}}
    write_vector(tmp_path, "valid/kafka_log/zstd", 1, **log)
    write_vector(tmp_path, "valid/kafka_record_batch/gzip", 2, **sound_batch(codec=1))
    found = of_field(tmp_path, library, "codec", "kafka_record_batch", "batch_attributes")
    assert found == ["gzip", "kafka_log/zstd"]


def test_field_that_a_parser_refuses_links_the_invalid_vector(
    tmp_path: Path, library: Library
) -> None:
    """The length is 4, in a whole batch; the path of a nested type is found too, in a control record."""
    batch = bytes(8) + (4).to_bytes(4, "big") + bytes(4) + b"\x02" + bytes(44)
    write_vector(tmp_path, "invalid/kafka_record_batch/length-4", 0, verdict="invalid", fields=None)
    (tmp_path / "invalid/kafka_record_batch/length-4.bin").write_bytes(batch)
    assert of_field(tmp_path, library, "len_batch", "kafka_record_batch") == ["length-4"]
    assert of_field(tmp_path, library, "crc", "kafka_record_batch") == []
    key = bytes([8]) + b"\xff\xff\x00\x01" + bytes([1])  # version -1 of the key
    write_vector(
        tmp_path, "invalid/kafka_control_record/version-minus-1", 0, verdict="invalid", fields=None
    )
    (tmp_path / "invalid/kafka_control_record/version-minus-1.bin").write_bytes(key)
    found = of_field(tmp_path, library, "version", "kafka_control_record", "control_key")
    assert found == ["version-minus-1"]


@pytest.mark.parametrize(
    ("caught_by", "code", "field"),
    [
        ("checksum", "batch-checksum-mismatch", "crc"),
        ("codec", "codec-error", "compressed_payload"),
    ],
)
def test_fault_that_a_checksum_or_codec_shows_is_in_the_marked_field(
    caught_by: str, code: str, field: str, tmp_path: Path, library: Library
) -> None:
    message = {"offset": "0", "len_message": 20, "message": {"magic": 0}}
    batch = {"base_offset": "1", "len_batch": 60, "attributes": {"codec": 1}}
    fields = {"entries": [{"content": message}, {"content": batch}]}
    case = {"verdict": "invalid", "caught_by": caught_by, "code": code, "fields": fields}
    write_vector(tmp_path, "invalid/kafka_log/second", 0, position=32, **case)
    assert of_field(tmp_path, library, field, "kafka_record_batch") == ["kafka_log/second"]
    assert of_field(tmp_path, library, "crc", "kafka_message", "message_body") == []
    write_vector(tmp_path, "invalid/kafka_log/nowhere", 0, position=31, **case)
    assert of_field(tmp_path, library, field, "kafka_record_batch") == ["kafka_log/second"]


def test_table_of_fields_links_vectors(files: dict[str, str]) -> None:
    [row] = [
        line for line in files["kafka_record_batch.md"].split("\n") if "`len_batch`](#" in line
    ]
    assert "<br>Tested by [`" in row and "length-48.json) (invalid)." in row
