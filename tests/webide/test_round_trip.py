"""Tests that sound files keep their bytes when they are parsed and written again."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from construct import ConstructError
from kaitaistruct import ConsistencyError, KaitaiStructError

import magicbyte_construct as twin
from magicbyte_construct.flexible import Tags
from magicbyte_tools.generate.kaitai import CHECKOUT, NODE, CompileError, install
from magicbyte_tools.parsers.identifier_names import camel
from magicbyte_tools.webide.debug_parsers import HERE, Formats
from magicbyte_tools.webide.roundtrip import rewritten
from paths import DATA

from .conftest import SPEC, relative, vector

BATCH = DATA / "2.8/formats/log-0/v2-java-snappy-0/00000000000000000000.log"

CONSTRUCTS = {
    "kafka_early_leader_change": twin.EarlyLeaderChangeMessage,
    "kafka_kraft_snapshot": twin.Log,
    "kafka_tagged_fields": Tags,
}
"""The twin's constructs whose names differ from those of their formats."""

NO_CONSTRUCT = {"kafka_control_record"}
"""Formats without a construct: the twin reads a control record's key and value separately."""

NOT_SOUND = {
    "log_dir/offset-index-of-garbage/events-0/00000000000000000000.index",
    "log_dir/time-index-of-garbage/events-0/00000000000000000000.timeindex",
}
"""Index files of garbage in valid log directories, which the twin refuses."""

NOT_BUILT = {"kafka_early_leader_change/of-2-7"}
"""Vectors that the twin builds differently: it has only the 2.8 form of this message."""

LONGEST = {"kafka_uvarint": 4, "kafka_varint": 4, "kafka_varlong": 9}
"""Smallest number of bytes of a varint that Kaitai's `_check` refuses, though it is valid.

The groups repeat until a byte is below 0x80 or `groups.size` is 4 (9 for longs). `_check` evaluates
this for every group when all have been read, so that it already holds for the first group.
"""


def test_small_real_files_are_written_as_they_were(
    read_write: Formats, small: dict[Path, str]
) -> None:
    assert changed_files(read_write, small) == {}


def test_valid_vectors_are_written_as_they_were(
    read_write: Formats, vectors: dict[Path, str]
) -> None:
    assert vectors
    found = {vector(path): outcome(read_write, path, name) for path, name in vectors.items()}
    cannot = {name: came for name, came in found.items() if came != "same"}
    assert cannot == dict.fromkeys(map(vector, longest_numbers(vectors)), "ConsistencyError")


def test_the_longest_numbers_are_written_as_they_were_without_the_check(
    read_write: Formats, vectors: dict[Path, str]
) -> None:
    files = longest_numbers(vectors)
    assert len(files) > 6
    for path in files:
        data = path.read_bytes()
        assert rewritten(read_write, vectors[path], data, check=False) == data, vector(path)


def test_all_logs_beside_the_checkout_are_written_as_they_were(
    read_write: Formats, wide: dict[Path, str]
) -> None:
    assert changed_files(read_write, wide) == {}


def test_the_twin_builds_valid_vectors_as_they_were(vectors: dict[Path, str]) -> None:
    wrong = {}
    for path, name in vectors.items():
        if name not in NO_CONSTRUCT:
            construct = CONSTRUCTS.get(name) or getattr(twin, camel(name).removeprefix("Kafka"))
            data = path.read_bytes()
            try:
                if construct.build(construct.parse(data)) != data:
                    wrong[vector(path)] = "differs"
            except ConstructError as error:
                wrong[vector(path)] = str(error)
    assert set(wrong) == NOT_SOUND | NOT_BUILT


def test_bytes_that_no_field_holds_are_not_written(tmp_path: Path) -> None:
    for path in SPEC.glob("*.ksy"):
        shutil.copy(path, tmp_path)
    spec = tmp_path / "kafka_record_batch.ksy"
    text = spec.read_text("utf-8")
    short = text.replace("    size: len_batch - 49\n", "    size: len_batch - 53\n")
    assert short != text
    spec.write_text(short, "utf-8")
    data = BATCH.read_bytes()
    written = rewritten(Formats([tmp_path / "kafka_log.ksy"], "read-write"), "kafka_log", data)
    end = 12 + int.from_bytes(data[8:12], "big")
    assert written[: end - 4] == data[: end - 4]
    assert written[end - 4 : end] == bytes(4) != data[end - 4 : end]


def test_read_write_mode_refuses_a_compiler_that_it_was_not_made_for(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "kaitai-struct-compiler"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"main": "index.js"}))
    (package / "index.js").write_text("module.exports = {};\n")
    install()
    (tmp_path / "node_modules" / "js-yaml").symlink_to(
        CHECKOUT / ".cache" / "node" / "node_modules" / "js-yaml"
    )
    command = [NODE, HERE / "compile.mjs", tmp_path, "read-write", SPEC / "kafka_varint.ksy"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "not the build that read-write mode was made for" in done.stderr


def test_a_specification_that_does_not_compile_is_an_error(tmp_path: Path) -> None:
    spec = tmp_path / "kafka_nothing.ksy"
    spec.write_text("meta:\n  id: kafka_nothing\nseq:\n  - id: a\n    type: nowhere\n")
    with pytest.raises(CompileError, match="nowhere"):
        Formats([spec], "debug")


def changed_files(formats: Formats, files: dict[Path, str]) -> dict[str, str]:
    """Return the *files* that are not written as they were, with `differs` or the error's name."""
    found = {relative(path): outcome(formats, path, name) for path, name in files.items()}
    return {path: came for path, came in found.items() if came != "same"}


def outcome(formats: Formats, path: Path, name: str) -> str:
    """Rewrite *path* as the format *name*; return `same`, `differs`, or the error's name."""
    data = path.read_bytes()
    try:
        return "same" if rewritten(formats, name, data) == data else "differs"
    except (EOFError, KaitaiStructError, ConsistencyError) as error:
        return type(error).__name__


def longest_numbers(vectors: dict[Path, str]) -> list[Path]:
    """Return the vectors of varint formats that have at least `LONGEST` bytes."""
    return [
        path
        for path, name in vectors.items()
        if name in LONGEST and path.stat().st_size >= LONGEST[name]
    ]
