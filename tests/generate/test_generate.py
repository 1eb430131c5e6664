"""The generator, on copies that something was done to."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from log_builder import batch, sized, varint
from magicbyte_tools.generate.expressions import to_python, type_of
from magicbyte_tools.generate.kaitai import CompileError, all_languages, compile_specs
from magicbyte_tools.generate.parsers import module
from magicbyte_tools.generate.source import specs
from magicbyte_tools.generate.wire import merged_enum
from paths import CHECKOUT


def run(copy: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "magicbyte_tools.generate", *flags]
    return subprocess.run(command, cwd=copy / "tools", capture_output=True, text=True)


def generated(copy: Path) -> dict[str, bytes]:
    folder = copy / "generated"
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_what_is_committed_is_what_the_specification_says(copy: Path) -> None:
    done = run(copy, "--check")
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_check_sees_an_edit_a_leftover_a_missing_file_and_a_changed_specification(
    copy: Path,
) -> None:
    formats = copy / "generated" / "magicbyte_formats"
    with (formats / "kaitai" / "kafka_varint.py").open("a") as parser:
        parser.write("edited = True\n")
    (formats / "kaitai" / "kafka_gone.py").write_text("")
    (formats / "wire.py").unlink()
    (formats / "messages" / "gone.py").write_text("")
    spec = copy / "spec" / "kafka_time_index.ksy"
    spec.write_text(spec.read_text().replace("Largest timestamp so far", "Largest time so far"))
    spec = copy / "spec" / "messages" / "consumer_offsets.yaml"
    spec.write_text(spec.read_text().replace("name: commitTimestamp", "name: commitTime"))
    before = generated(copy)

    done = run(copy, "--check")

    assert done.returncode == 1, done.stderr
    assert "-edited = True" in done.stdout
    assert "kafka_gone.py: not expected" in done.stdout
    assert "messages/gone.py: not expected" in done.stdout
    assert re.search(r'^\+ *MessageField\(name="commitTime"', done.stdout, re.MULTILINE)
    assert "+class RecordBatchHeader" in done.stdout
    assert re.search(r'^\+ *"""Largest time so far', done.stdout, re.MULTILINE)
    assert "-# spec sha256" in done.stdout
    assert "run `make generate`" in done.stdout
    assert generated(copy) == before


def test_generating_mends_everything_and_twice_gives_the_same_bytes(copy: Path) -> None:
    committed = generated(copy)
    formats = copy / "generated" / "magicbyte_formats"
    (formats / "kaitai" / "kafka_gone.pyi").write_text("")
    (formats / "messages" / "gone.py").write_text("")
    (formats / "messages" / "transaction_state.py").unlink()
    (formats / "kaitai" / "kafka_log.py").write_text("")
    (formats / "wire.py").unlink()
    assert run(copy).returncode == 0
    assert generated(copy) == committed
    assert run(copy).stdout == ""
    assert generated(copy) == committed


def test_nothing_in_a_generated_file_depends_on_the_machine(copy: Path) -> None:
    for name, data in generated(copy).items():
        assert str(copy).encode() not in data, name
        assert data.startswith((b"# Generated from spec/", b"# Written by tools/")) or not data


READ_NEW_FIELDS = """
import sys
import magicbyte as mb

batch = bytes.fromhex(sys.argv[1])
for engine in ("reference", "columnar"):
    rows = mb.from_bytes(batch, engine=engine).records(("offset", "flags", "shard"))
    print(rows.schema.field("flags").type, rows.to_pylist())
"""


def test_a_new_field_is_a_column_of_both_engines_with_no_other_edit(copy: Path) -> None:
    spec = copy / "spec" / "kafka_record.ksy"
    fields = """\
      - id: flags
        -orig-id: flags
        type: u1
        -column: true
        doc: Flags.
      - id: shard
        -orig-id: shard
        type: kafka_varint
        -column: {sentinel: -1}
        doc: A number; -1 stands for none.
"""
    before = "      - id: num_headers\n"
    spec.write_text(spec.read_text().replace(before, fields + before))
    assert run(copy).returncode == 0
    wire = (copy / "generated" / "magicbyte_formats" / "wire.py").read_text()
    assert 'name="flags",\n            type="uint8",' in wire
    before, null = bytes([0, 0]), varint(-1)
    records = [
        sized(before + varint(n) + 2 * null + bytes([100 * n]) + varint(n - 1) + varint(0))
        for n in range(3)
    ]
    done = subprocess.run(
        [sys.executable, "-c", READ_NEW_FIELDS, batch(records, 7).hex()],
        env={**os.environ, "PYTHONPATH": str(copy / "generated"), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    expected = [
        {"offset": 7, "flags": 0, "shard": None},
        {"offset": 8, "flags": 100, "shard": 0},
        {"offset": 9, "flags": 200, "shard": 1},
    ]
    assert done.stdout.splitlines() == [f"uint8 {expected}"] * 2


READ_A_NEW_NUMBER = """
import struct
from magicbyte.engines.companion_rows import read_rows

rows, end = read_rows("txnindex", struct.pack(">hqqqqi", 0, 7, 2, 3, 4, -1) * 2 + bytes(37))
print(rows.schema.field("shard").type, rows.column("shard").to_pylist(), end)
rows, end = read_rows("txnindex", struct.pack(">hqqqqi", 0, 7, 2, 3, 4, 5))
print(rows.to_pylist()[0]["last_stable_offset"], rows.to_pylist()[0]["shard"], end)
"""


def test_a_new_number_of_a_row_is_a_column_with_no_other_edit(copy: Path) -> None:
    spec = copy / "spec" / "kafka_transaction_index.ksy"
    number = """\
      - id: shard
        -orig-id: shard
        type: s4
        -column: {sentinel: -1}
        doc: A number; -1 stands for none.
"""
    spec.write_text(spec.read_text() + number)
    assert run(copy).returncode == 0
    done = subprocess.run(
        [sys.executable, "-c", READ_A_NEW_NUMBER],
        env={**os.environ, "PYTHONPATH": str(copy / "generated")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["int32 [None, None] 76", "4 5 38"]


def test_enums_that_disagree_are_refused() -> None:
    one = {"3": {"id": "lz4", "-orig-id": "lz4"}}
    other = {"3": {"id": "lz5", "-orig-id": "lz5"}}
    with pytest.raises(ValueError, match="enum codecs: 3 is lz4 and lz5"):
        merged_enum("codecs", [one, other])


def test_all_specifications_compile_for_all_languages(tmp_path: Path) -> None:
    names = sorted(source.stem for source in (CHECKOUT / "spec").glob("*.ksy"))
    for name in names:
        shutil.copy(CHECKOUT / "spec" / f"{name}.ksy", tmp_path)
    # What another one imports is compiled along with it, and so each is compiled once.
    imports = "".join(f"    - {name}\n" for name in names)
    everything = tmp_path / "everything.ksy"
    everything.write_text(f"meta:\n  id: everything\n  imports:\n{imports}")
    languages = all_languages()
    assert len(languages) == 15
    files = compile_specs([everything], languages)["everything"]["files"]
    for language in languages:
        made = {re.sub(r"\W|_", "", Path(name).stem).lower() for name in files[language]}
        assert made >= {name.replace("_", "") for name in names}, language


def test_what_the_compiler_refuses_is_said(tmp_path: Path) -> None:
    spec = tmp_path / "wrong.ksy"
    spec.write_text("meta:\n  id: wrong\nseq:\n  - id: a\n    type: nothing\n")
    with pytest.raises(CompileError, match="unable to find type 'nothing'"):
        compile_specs([spec])


def test_types_of_expressions() -> None:
    known = {"a.b": "bytes"}
    assert type_of("x ? a.b : y", known.__getitem__) == "bytes"
    assert type_of("x + y.as<s8>", known.__getitem__) == "int"
    assert type_of("(x + 1) * 2", known.__getitem__) == "int"
    assert type_of("not (x >= 1)", known.__getitem__) == "bool"
    assert type_of("(x == 1 ? 2 : 3).as<s4>", known.__getitem__) == "int"


def test_conditions_become_python() -> None:
    assert to_python("magic >= 1 and n != 0", {"magic": "h.magic", "n": "h.n"}) == (
        "h.magic >= 1 and h.n != 0"
    )
    with pytest.raises(ValueError, match="not a field before it"):
        to_python("later >= 1", {})


def test_imports_are_in_one_order_whatever_the_compilers() -> None:
    spec = {"meta": {"id": "a", "imports": ["b", "c", "d"]}}
    source = "import kaitaistruct\nimport {}\nimport {}\nimport {}\n\nclass A(KaitaiStruct):\n"
    one, other = (module(source.format(*order), spec) for order in ("dcb", "bdc"))
    assert one == other
    assert "\nfrom . import b\nfrom . import c\nfrom . import d\n" in one


def test_specifications_as_they_are_written() -> None:
    found = specs()
    assert set(found) == {path.stem for path in (CHECKOUT / "spec").glob("*.ksy")}
    assert found["kafka_control_record"]["enums"]["control_types"][0]["-orig-id"] == "ABORT"
    assert all(name == spec["meta"]["id"] for name, spec in found.items())
