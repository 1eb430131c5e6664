"""Tests of the links from the format reference to the conformance vectors."""

import json
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
