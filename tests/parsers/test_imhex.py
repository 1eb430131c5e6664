"""Tests of the patterns for ImHex, and of what ImHex's own pattern language reads by them.

The latter need `plcli`, the command line of ImHex's pattern language, which no registry has: PLCLI names it, and
IMHEX_INCLUDES the folder `includes` of ImHex's patterns.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.conformance.cases import Case, load_cases
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.parsers import __main__ as command
from magicbyte_tools.parsers.compiler_output import Files, write
from magicbyte_tools.parsers.imhex import patterns
from magicbyte_tools.parsers.imhex.expressions import UnsupportedExpression, translate
from magicbyte_tools.parsers.imhex.name_resolver import type_name
from magicbyte_tools.parsers.imhex.structures import TypeWriter
from magicbyte_tools.reference.library import Library

Specs = dict[str, dict[str, Any]]

WHITE_SPACE = (
    "crlf",
    "carriage-returns",
    "tabs",
    "last-line-not-ended",
    "version-00",
    "version-alone",
)
UNLIKE = {
    *(
        f"kafka_{name}_checkpoint/{case}"
        for name in ("offset", "leader_epoch")
        for case in WHITE_SPACE
    ),
    *(f"kafka_partition_metadata/{case}" for case in ("crlf", "id-padded", "two-spaces")),
    "kafka_log/record-header-count-minus-1",
}
"""Vectors of text that Kafka takes and the specifications do not describe, as they say; and one whose invalid
number a pattern refuses, where Kaitai's parsers cannot."""

needs_plcli = pytest.mark.skipif(
    "PLCLI" not in os.environ, reason="PLCLI names no command line of ImHex's pattern language"
)


@pytest.fixture(scope="module")
def files(specs: Specs) -> Files:
    return patterns(specs)


def text(expression: str) -> str:
    return translate(expression, ".".join, "::".join)


@pytest.mark.parametrize(
    ("expression", "translated"),
    [
        ("a + b * 2 - 1", "((a + (b * 2)) - 1)"),
        ("not a and b >= 0x7f or c", "((!a && (b >= 0x7f)) || c)"),
        ("a ? b : c ? 1_000 : 2", "(a ? b : (c ? 1000 : 2))"),
        ("(a.b - 1).as<s4> == codecs::none", "(s32((a.b - 1)) == codecs::none)"),
        ("a & 0x7f == 1", "((a & 0x7f) == 1)"),
        ("-1 - a", "(-1 - a)"),
    ],
)
def test_expressions_are_translated_with_their_precedence(expression: str, translated: str) -> None:
    assert text(expression) == translated


@pytest.mark.parametrize("expression", ["a[0]", "a +", "(a", "a b", "'text'"])
def test_an_expression_that_is_not_understood_is_refused(expression: str) -> None:
    with pytest.raises(UnsupportedExpression, match=r"is not translated"):
        text(expression)


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        ({"type": "f4"}, "one/f: type 'f4'"),
        ({"type": "u1", "enum": "elsewhere"}, "no enum 'elsewhere'"),
        ({"type": "u1", "if": "b > 2"}, "one: 'b' is not translated"),
        ({"type": "u1", "valid": {"expr": "_ > 2"}}, "one/f: valid: expr"),
    ],
)
def test_unsupported_yaml_is_refused_with_its_place(field: dict[str, Any], complaint: str) -> None:
    library = Library({"one": {"meta": {"id": "one"}, "seq": [{"id": "f", **field}]}})
    with pytest.raises(UnsupportedExpression, match=complaint):
        TypeWriter(library).write(library.formats["one"])


def test_every_file_of_a_log_directory_has_a_pattern_with_all_its_fields(
    files: Files, specs: Specs
) -> None:
    library = Library(specs)
    assert {"kafka_log.hexpat", "kafka_offset_index.hexpat", "kafka_records.hexpat"} <= {*files}
    for path in files:
        if path.endswith(".hexpat"):
            structure = library.formats[Path(path).stem]
            assert files[path].count(f"struct {type_name(structure)}<") == 1, path
            for inner in library.structures(structure.format):
                if f" {type_name(inner)}<" not in files[path]:
                    continue  # nothing in a file has this type
                for field in inner.fields:
                    assert re.search(rf"\b{field['id']}\b", files[path]), (path, field["id"])


def test_types_are_written_before_they_are_used_and_once(files: Files) -> None:
    for path, content in files.items():
        names = re.findall(r"^(?:struct|bitfield|enum|fn) (\w+)", content, re.MULTILINE)
        assert len(names) == len({*names}), path
        for name in names:
            declared = re.search(rf"^(?:struct|bitfield|enum|fn) {name}\b", content, re.MULTILINE)
            first = re.search(rf"\b{name}\b", content)
            assert declared and first and declared.start() <= first.start() < declared.end(), name


def test_fields_have_kafkas_names_and_sentences(files: Files) -> None:
    assert (
        's32 len_batch [[comment("batchLength: Bytes of the batch after'
        in files["kafka_log.hexpat"]
    )


def test_the_command_writes_the_patterns(tmp_path: Path, files: Files) -> None:
    assert command.main(["imhex", str(tmp_path / "out")]) == 0
    found = {path.name: path.read_text("utf-8") for path in (tmp_path / "out").iterdir()}
    assert found == files


def cases(folder: str) -> list[Case]:
    """Return the cases of the formats that have a pattern, in valid/ or invalid/."""
    return [case for case in load_cases(VECTORS) if case.path.startswith(f"{folder}/")]


@pytest.fixture(scope="module")
def folder(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("imhex")
    write(files, out)
    return out


def shown(case: Case, folder: Path) -> dict[str, Any] | None:
    """Return the tree that ImHex's pattern language shows of *case*, None where it stops at an error."""
    pattern = folder / f"{case.format}.hexpat"
    options = [
        "-i",
        case.data_path,
        "-p",
        pattern,
        "-I",
        os.environ["IMHEX_INCLUDES"],
        "-f",
        "json",
    ]
    done = subprocess.run([os.environ["PLCLI"], "format", *options], capture_output=True)
    if done.returncode == 1 and b"Pattern Error" in done.stdout:
        return None
    assert done.returncode == 0, (case.id, done.stdout, done.stderr)
    tree: dict[str, Any] = json.loads(done.stdout)[case.format]
    return tree


def difference(found: Any, expected: Any, members: dict[str, int], path: str = "") -> str | None:
    """Return where the tree *found* differs from the tree of a vector: numbers may be texts, bytes lists."""
    if isinstance(expected, dict) and isinstance(found, dict):
        # Bytes that a structure leaves over, which Kaitai's parsers pass over.
        found = {key: value for key, value in found.items() if not key.startswith("rest_of_")}
        if found.keys() != expected.keys():
            return f"{path}: {sorted(found.keys() ^ expected.keys())}"
        pairs = [(f"{path}.{key}", found[key], expected[key]) for key in expected]
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        pairs = [
            (f"{path}[{n}]", *pair) for n, pair in enumerate(zip(found, expected, strict=True))
        ]
    else:
        if isinstance(found, str) and "::" in found:
            known = members.get(found)
            found = expected if known is None and expected not in members.values() else known
        if isinstance(found, list):
            found = bytes(found).hex()
        expected = int(expected) if isinstance(expected, bool) else expected
        return None if str(found) == str(expected) else f"{path}: {found!r}, not {expected!r}"
    differences = (difference(one, other, members, inner) for inner, one, other in pairs)
    return next(filter(None, differences), None)


@needs_plcli
@pytest.mark.parametrize("verdict", ["valid", "invalid"])
def test_imhex_shows_the_fields_of_each_vector(verdict: str, files: Files, folder: Path) -> None:
    faults, count = [], 0
    for case in cases(verdict):
        if f"{case.format}.hexpat" not in files or case.id in UNLIKE:
            continue
        members = {
            f"{enum}::{name}": int(number)
            for enum, body in re.findall(
                r"enum (\w+) : \w+ \{(.*?)\}", files[f"{case.format}.hexpat"], re.DOTALL
            )
            for name, number in re.findall(r"(\w+) = (\d+)", body)
        }
        count += 1
        found, expected = shown(case, folder), case.content["fields"]
        if found is None or expected is None:
            fault = None if found is expected else f"found {found}"
        else:
            fault = difference(found, expected, members)
        if fault:
            faults.append(f"{case.id}: {fault}")
    assert faults == []
    assert count > 150
