"""Tests that each rule of the specification lint reports a copy that breaks it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from magicbyte_tools.generate.lint import lint
from paths import CHECKOUT


def test_the_specifications_are_clean() -> None:
    assert [str(problem) for problem in lint(CHECKOUT / "spec")] == []


BATCH, LOG, RECORD, VARINT = "kafka_record_batch", "kafka_log", "kafka_record", "kafka_varint"

BROKEN = [
    # Text and layout.
    (VARINT, "doc: The integer itself.", "doc: The integer itself." + 60 * "x", "80 columns"),
    (VARINT, "doc: The integer itself.\n", "doc: The integer itself. \n", "trailing space"),
    (VARINT, "doc: The integer itself.\n", "doc: The integer itself.\n\n", "lines end"),
    (VARINT, "  id: kafka_varint\n", "  id: varint\n", "not the file's name"),
    (VARINT, "CC0-1.0", "MIT", "license"),
    (VARINT, "  license: CC0-1.0\n", 2 * "  license: CC0-1.0\n", "a key is there twice"),
    (VARINT, "'0.11'", "0.11", "quoted"),
    (VARINT, "  application: Apache Kafka\n", "", "application is missing"),
    (RECORD, "varint\n    - kafka_varlong", "varlong\n    - kafka_varint", "sorted"),
    (RECORD, "    - kafka_varint\n", "    - /kafka_varint\n", "absolute import"),
    ("kafka_control_record", "encoding: UTF-8", "encoding: utf8", "encoding is none of"),
    ("kafka_control_record", "  encoding: UTF-8\n", "", "a string has an encoding"),
    (BATCH, "    type: s8\n    -column: true", "    -column: true\n    type: s8", "in the order"),
    (BATCH, "    type: s8\n    -column: true", "    typo: s8\n    -column: true", "not known here"),
    (BATCH, "seq:\n  - id: base", "seq:\n  - id: Base", "identifier"),
    (LOG, "  entry:\n", "  entry:\n    meta:\n      title: x\n", "nested meta"),
    (LOG, "  - id: entries\n", "  - id: item\n", "plural"),
    # Sentences and names.
    (BATCH, "        doc: Not in use; written as 0 and ignored.\n", "", "has no doc"),
    (BATCH, "      doc: The records are stored as they are.\n", "", "has no doc"),
    (BATCH, "    doc: The records of an uncompressed batch.\n", "", "has no doc"),
    (BATCH, "records are stored as they are.", "records are stored as they are", "full stop"),
    (BATCH, "    -orig-id: baseOffset\n", "", "neither -orig-id nor -ours"),
    (BATCH, "      -orig-id: gzip\n", "", "'-orig-id' is a required property"),
    (
        BATCH,
        "    0:\n      id: none\n      -orig-id: none\n      doc: The records are stored as they are.\n",
        "    0: none\n",
        "a value has id and doc",
    ),
    (LOG, "    -webide-representation: '{content}{partial}{zero_tail}'\n", "", "no -webide-repr"),
    # References.
    (
        VARINT,
        "  - https://protobuf.dev",
        "  - https://github.com/apache/kafka/blob/trunk/x",
        "tag of a",
    ),
    (LOG, "doc-ref: https://kafka.apache.org/documentation/#log\n", "", "has no doc-ref"),
    (RECORD, "    doc-ref: https://github.com", "    # https://github.com", "has no doc-ref"),
    # The keys that begin with a hyphen.
    (BATCH, "{name: leader_epoch, sentinel: -1}", "{name: leader_epoch, null: -1}", "not a string"),
    (BATCH, "{name: leader_epoch, sentinel: -1}", "{sentinal: -1}", "is not valid under"),
    (BATCH, "algorithm: crc32c", "algorithm: crc16", "is not one of"),
    (BATCH, "-entry: batches", "-entri: batches", "not known here"),
    (BATCH, "-header: RecordBatchHeader", "-header: batch header", "does not match"),
    (BATCH, "    -exact: true\n", "    -exact: yes please\n", "was expected"),
    # What works in one language and not in another.
    (BATCH, "  - id: magic\n", "  - id: type\n", "a word of some language"),
    (BATCH, "  record_list:\n", "  payload:\n", "a type and a field beside it"),
    (BATCH, "  batch_attributes:\n    doc", "  codec:\n    doc", "called like the type around it"),
    (BATCH, "    valid: 2\n", "    valid:\n      expr: _ == 2\n", "crashes the compiler for Nim"),
    (VARINT, "size == 4\n", "size == 4\n    valid: 2\n", "in repeat: until"),
    (VARINT, "groups.size == 4\n", "_index == 3\n", "counts from 1 in Go"),
    (VARINT, "last >= 0x80\n", "last >= 0x80\n    valid: true\n", "cannot have valid"),
    (VARINT, "    value: groups[0] % 2 != 0\n", "    value: '[1, 2][0] != 0'\n", "C++98"),
    (VARINT, "    value: groups[0] % 2 != 0\n", "    value: groups[0] $ 2\n", "not understood"),
    (LOG, "  - id: content\n", "  - id: magic\n", "called like an instance elsewhere"),
    (LOG, "            _: unknown_content\n", "", "needs the case _"),
    (LOG, "s8\n        doc: Position", "u8\n        doc: Position", "s8, not u8"),
    (LOG, "(12).as<s8> + len_content.as<s8>", "12 + len_content", "cast before arithmetic"),
]


@pytest.mark.parametrize(("name", "sound", "broken", "message"), BROKEN, ids=[b[3] for b in BROKEN])
def test_lint_sees(tmp_path: Path, name: str, sound: str, broken: str, message: str) -> None:
    shutil.copytree(CHECKOUT / "spec" / "schema", tmp_path / "schema")
    text = (CHECKOUT / "spec" / f"{name}.ksy").read_text()
    assert sound in text
    (tmp_path / f"{name}.ksy").write_text(text.replace(sound, broken))
    problems = [str(problem) for problem in lint(tmp_path)]
    assert any(message in problem for problem in problems), problems
    assert all(problem.startswith(f"{name}.ksy:") for problem in problems)


@pytest.mark.parametrize("name", ["magicbyte-keys", "messages"])
def test_every_key_of_the_schema_is_described(name: str) -> None:
    schema = json.loads((CHECKOUT / "spec" / "schema" / f"{name}.schema.json").read_text())

    def undescribed(node: object, path: str) -> Iterator[str]:
        if isinstance(node, dict):
            for name, one in node.get("properties", {}).items():
                target = schema["$defs"].get(str(one.get("$ref", "")).rpartition("/")[2], {})
                if "description" not in one and "description" not in target:
                    yield f"{path}/{name}"
            for key, one in node.items():
                yield from undescribed(one, f"{path}/{key}")

    assert list(undescribed(schema, "")) == []
