"""Tests of reading the formats' structures from the YAML specifications, and of refusals."""

import re
from typing import Any

import pytest

from magicbyte_tools.parsers.dumpers.builders import BUILDERS, TEMPLATES
from magicbyte_tools.parsers.dumpers.cpp_stl import Cpp
from magicbyte_tools.parsers.dumpers.go import Go
from magicbyte_tools.parsers.dumpers.java import Java
from magicbyte_tools.parsers.dumpers.rust import Rust
from magicbyte_tools.parsers.dumpers.shapes import Integer, Nested, UnsupportedShape, shapes
from magicbyte_tools.parsers.dumpers.walker import Language, structures

Specs = dict[str, dict[str, Any]]


def single_format(*seq: dict[str, Any], **more: Any) -> Specs:
    """Return specifications with a single format, `one`, of the fields *seq* and further keys."""
    return {"one": {"meta": {"id": "one"}, "seq": [*seq], **more}}


def text(language: type[Language], specs: Specs) -> str:
    return "\n".join(structures(language(shapes(specs))))


def test_every_format_is_dumped_that_can_be_a_file(specs: Specs) -> None:
    found = shapes(specs)
    assert {"kafka_log", "kafka_records", "kafka_varint", "kafka_kraft_snapshot"} <= {
        *found.formats
    }
    # These take parameters, or are for visualizers alone.
    assert not {"kafka_record", "kafka_crc", "kafka_record_batch_checked"} & {*found.formats}


def test_instances_with_a_structure_are_part_of_the_tree(specs: Specs) -> None:
    found = shapes(specs).structures
    assert [f.id for f in found["kafka_record", "record_body"].fields][-2:] == [
        "headers",
        "control_record",
    ]
    assert [f.id for f in found["kafka_log", "entry"].fields] == ["content", "zero_tail", "partial"]


def test_a_field_that_no_value_is_valid_for_is_never_in_a_tree() -> None:
    never = {"id": "never", "type": "u1", "valid": {"min": 1, "max": 0}, "if": "_io.pos > 9"}
    least = {"id": "least", "type": "u1", "valid": {"min": 1}}
    (structure,) = shapes(single_format(never, least)).structures.values()
    assert [field.id for field in structure.fields] == ["least"]


def test_the_types_of_a_switch_are_told_once_each(specs: Specs) -> None:
    kind = shapes(specs).structures["kafka_log", "entry"].fields[0].kind
    assert kind == Nested(
        (("kafka_message",), ("kafka_record_batch",), ("kafka_log", "unknown_content"))
    )


def test_only_long_numbers_are_text() -> None:
    assert Integer(64, True).is_text and Integer(33, False).is_text
    assert not Integer(32, False).is_text and not Integer(1, False).is_text
    assert Integer(1, False).is_boolean and not Integer(1, False, ("one", "e")).is_boolean


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        (
            {"type": {"switch-on": "a", "cases": {0: "b"}}},
            "one/f: a switch-on without the case `_`",
        ),
        ({"type": "elsewhere"}, "one/f: no type 'elsewhere'"),
        ({"type": "u1", "enum": "elsewhere"}, "one/f: no enum 'elsewhere'"),
        ({"type": "f4"}, "one/f: type 'f4' has no place"),
    ],
)
def test_unsupported_yaml_is_refused_with_its_path(field: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UnsupportedShape, match=complaint):
        shapes(single_format({"id": "f", **field}))


CHOICES = {"enums": {"e": {5: "five"}}, "instances": {"is_big": {"value": "a > 3"}}}
A = {"id": "a", "type": "s4"}
E = {"id": "e", "type": "u1", "enum": "e"}


@pytest.mark.parametrize(
    ("condition", "go", "rust"),
    [
        ("a >= -1", "(int64(it.A) >= -1)", "((*it.a() as i64) >= -1)"),
        ("e == e::five", "(int64(it.E) == 5)", "(i64::from(&*it.e()) == 5)"),
        ("not is_big", "!must(it.IsBig())", "!*it.is_big()?"),
        (
            "a.as<s8> == 0x10 and (is_big or a != 2)",
            "((int64(it.A) == 16) && (must(it.IsBig()) || (int64(it.A) != 2)))",
            "(((*it.a() as i64) == 16) && (*it.is_big()? || ((*it.a() as i64) != 2)))",
        ),
        ("_io.size > 0", "(must(it.IO_().Size()) > 0)", "((it._io().size() as i64) > 0)"),
    ],
)
def test_conditions_are_asked_again_where_a_number_is_never_absent(
    condition: str, go: str, rust: str
) -> None:
    specs = single_format(A, E, {"id": "f", "type": "u1", "if": condition}, **CHOICES)
    assert f"if {go} {{" in text(Go, specs)
    assert f"if {rust} {{" in text(Rust, specs)


@pytest.mark.parametrize("condition", ["a + 1 > 2", "b > 2", "e == e::six", "_io.eof", "a ? 1 : 0"])
def test_a_condition_that_is_not_understood_is_refused(condition: str) -> None:
    specs = single_format(A, E, {"id": "f", "type": "u1", "if": condition}, **CHOICES)
    for language in (Go, Rust):
        with pytest.raises(UnsupportedShape, match="one/f: the condition"):
            text(language, specs)


@pytest.mark.parametrize("condition", ["not _io.eof", "_parent.a == 0 and not _io.eof"])
def test_an_empty_field_up_to_the_end_was_at_the_end(condition: str) -> None:
    specs = single_format({"id": "f", "size-eos": True, "if": condition})
    assert "if !it.f().is_empty() || !true {" in text(Rust, specs)


@pytest.mark.parametrize(
    "condition", ["_parent.a == 0 and _io.eof", "_parent.a == 0 or not _io.eof"]
)
def test_another_field_up_to_the_end_is_asked_for_what_decides(condition: str) -> None:
    specs = single_format({"id": "f", "size-eos": True, "if": condition})
    with pytest.raises(UnsupportedShape, match="one/f: the condition"):
        text(Rust, specs)


def test_cpp_has_the_sign_of_an_unknown_value() -> None:
    signed = {"id": "s", "type": "s2", "enum": "e"}
    found = text(Cpp, single_format(A, E, signed, **CHOICES))
    assert "json.number(static_cast<int16_t>(it->s()));" in found
    assert "json.number(it->a());" in found and "json.number(it->e());" in found


def test_java_reads_the_number_of_an_unknown_value_where_it_can() -> None:
    bits = [{"id": "r", "type": "b4"}, {"id": "e", "type": "b4", "enum": "e"}]
    assert "it.e() != null ? it.e().id() : stored(it._io(), 4, 4, false)" in text(
        Java, single_format(*bits, **CHOICES)
    )
    with pytest.raises(UnsupportedShape, match="null is both absent and unknown"):
        text(Java, single_format(A, {**E, "if": "a > 0"}, **CHOICES))
    with pytest.raises(UnsupportedShape, match="one/e: Java loses"):
        text(Java, single_format({"id": "b", "size": "1 + 1"}, E, **CHOICES))
    within = single_format({"id": "f", "type": "inner"}, types={"inner": {"seq": [E]}}, **CHOICES)
    with pytest.raises(UnsupportedShape, match="one/inner/e: Java loses"):
        text(Java, within)


@pytest.mark.parametrize("target", BUILDERS)
def test_every_language_writes_a_dumper_of_all_formats(target: str, specs: Specs) -> None:
    found = text(BUILDERS[target].language, specs)
    for structure in shapes(specs).structures.values():
        assert {f'"{field.id}"' for field in structure.fields} <= {*re.findall(r'"\w+"', found)}


def test_every_language_has_all_parts_of_a_program() -> None:
    for builder in BUILDERS.values():
        lines = (TEMPLATES / builder.main[0]).read_text("utf-8").split()
        assert "@structures@" in lines and "@formats@" in lines
