"""Tests of the dumpers' JSON for bytes built here and for real brokers' files."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.parsers import ToolchainUnavailable, dumper
from magicbyte_tools.parsers.dumpers import build

Run = Callable[..., str]
Dump = Callable[[str, bytes], dict[str, Any]]

COMPILED = ["go", "rust", "cpp_stl", "csharp"]

MESSAGE = bytes.fromhex("0000000000000007 00000011 00000000 00 05 ffffffff 00000003 616263")
EMPTY_BATCH = bytes.fromhex(
    "7fffffffffffffff 00000031 00000000 02 00000000 0000 ffffffff"
    "0000000000000001 ffffffffffffffff ffffffffffffffff ffff ffffffff 00000000"
)


@pytest.fixture(params=["python", "javascript", "java"])
def command(request: pytest.FixtureRequest) -> list[str]:
    """Provide the command of a language's dumper; skip Java's where its tools are absent."""
    try:
        return dumper(request.param)
    except ToolchainUnavailable as error:
        assert request.param == "java"
        pytest.skip(str(error))


@pytest.fixture
def dump(command: list[str], tmp_path: Path, run: Run) -> Dump:
    """Provide a function that returns the dumper's answer for *data* of the format *name*."""

    def dump(name: str, data: bytes) -> dict[str, Any]:
        file = tmp_path / "bytes"
        file.write_bytes(data)
        answer: dict[str, Any] = json.loads(run([*command, name, file]))
        return answer

    return dump


def test_missing_fields_are_omitted_and_empty_ones_are_not(dump: Dump) -> None:
    answer = dump("kafka_message", MESSAGE)
    assert answer == {
        "fields": {
            "offset": "7",
            "len_message": 17,
            "message": {
                "crc": 0,
                "magic": 0,
                "attributes": {"reserved": 0, "timestamp_type": 0, "codec": 5},
                "len_key": -1,
                "len_value": 3,
                "value": "616263",
            },
        },
        "error": None,
        "checks": ["grammar"],
    }
    zeros = bytes.fromhex("0000000000000007 00000016 00000000 01 00 0000000000000000") + bytes(8)
    message = dump("kafka_message", zeros)["fields"]["message"]
    assert [message[name] for name in ("timestamp", "key", "value")] == ["0", "", ""]


@pytest.mark.parametrize("command", ["python", "java"], indirect=True)
def test_long_integers_are_strings_with_all_their_digits(dump: Dump) -> None:
    fields = dump("kafka_record_batch", EMPTY_BATCH)["fields"]
    assert fields["base_offset"] == "9223372036854775807"
    assert fields["producer_id"] == "-1"
    assert fields["crc"] == 0 and fields["len_batch"] == 49
    assert fields["attributes"]["is_control"] is False
    assert fields["payload"] == {"records": []}


@pytest.mark.parametrize("command", ["javascript"], indirect=True)
def test_long_integers_are_rounded_in_javascript(dump: Dump) -> None:
    # Kaitai's runtime for JavaScript has no BigInt; this is a limit that is documented.
    fields = dump("kafka_record_batch", EMPTY_BATCH)["fields"]
    assert fields["base_offset"] == "9223372036854776000"


@pytest.mark.parametrize("number", [-(2**31) - 1, -(2**32), -(2**53) + 1, -2, 0, 2**53 - 1])
def test_long_integers_have_their_sign(number: int, dump: Dump) -> None:
    batch = EMPTY_BATCH[:43] + number.to_bytes(8, "big", signed=True) + EMPTY_BATCH[51:]
    assert dump("kafka_record_batch", batch)["fields"]["producer_id"] == str(number)


def test_a_number_of_no_enum_is_a_number(dump: Dump) -> None:
    record = bytes.fromhex("08 0000 7fff 02 09")  # a key of type 32767, then a value of 1 byte
    fields = dump("kafka_control_record", record)["fields"]
    assert fields["key"] == {"version": 0, "control_type": 32767}
    negative = record.replace(b"\x7f\xff", b"\xff\xfe")
    assert dump("kafka_control_record", negative)["fields"]["key"]["control_type"] == -2


def test_a_primitive_is_its_number(dump: Dump) -> None:
    assert dump("kafka_varint", b"\x03")["fields"] == -2
    assert dump("kafka_varlong", b"\x03")["fields"] == "-2"


def test_text_is_escaped_as_json_wants_it(dump: Dump) -> None:
    topic = 'a"\\\x01\té🚀'
    fields = dump("kafka_offset_checkpoint", f"0\n1\n{topic} 0 5\n".encode())["fields"]
    assert fields["entries"][0]["topic"] == topic


@pytest.mark.parametrize("data", [b"", MESSAGE[:-1], MESSAGE[:16] + b"\x09" + MESSAGE[17:]])
def test_refusal_by_a_parser_is_an_answer(data: bytes, dump: Dump) -> None:
    answer = dump("kafka_message", data)
    assert answer["fields"] is None and answer["checks"] == ["grammar"]
    assert answer["error"]["message"]


def test_a_control_record_that_cannot_be_parsed_is_an_answer(dump: Dump) -> None:
    # The control record is an instance: it is parsed when half of the line is already written.
    body = bytes.fromhex("00 00 00 08 ffff0000 0c 000000000000 00")  # version -1 of the key
    payload = bytes([2 * len(body)]) + body
    batch = bytearray(EMPTY_BATCH + payload)
    batch[8:12] = (49 + len(payload)).to_bytes(4, "big")
    batch[22], batch[60] = 0x20, 1
    answer = dump("kafka_record_batch", bytes(batch))
    assert answer["fields"] is None and answer["error"]


def test_unknown_format_or_missing_file_is_no_answer(command: list[str], tmp_path: Path) -> None:
    for arguments in ([], ["kafka_log"], ["kafka_crc", __file__], ["kafka_log", tmp_path / "no"]):
        done = subprocess.run([*command, *arguments], capture_output=True)
        assert (done.returncode, done.stdout) == (2, b"") and done.stderr


@pytest.fixture(scope="session")
def python_answers(real_files: dict[str, list[Path]], run: Run) -> dict[str, str]:
    """Provide the output of Python's dumper for the real files, by format."""
    return {name: run([*dumper("python"), name, *files]) for name, files in real_files.items()}


def test_languages_print_the_same_of_real_files(
    command: list[str], python_answers: dict[str, str], real_files: dict[str, list[Path]], run: Run
) -> None:
    assert len(real_files) >= 5
    for name, files in real_files.items():
        lines = run([*command, name, *files])
        assert lines.count("\n") == len(files)
        assert lines.count('"error":null') == len(files)
        assert lines == python_answers[name]


@pytest.mark.parametrize("language", COMPILED)
def test_compiled_languages_print_the_same_of_real_files(
    language: str, python_answers: dict[str, str], real_files: dict[str, list[Path]], run: Run
) -> None:
    variable = f"KAITAI_RUNTIME_{language.upper()}"
    if variable not in os.environ:
        pytest.skip(f"{variable} names no folder of Kaitai's runtime for {language}")
    try:
        command = dumper(language)
    except ToolchainUnavailable as error:
        pytest.skip(str(error))
    for name, files in real_files.items():
        assert run([*command, name, *files]) == python_answers[name]


def test_a_dumper_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    command = dumper("javascript")
    monkeypatch.setattr(build, "build", lambda builder, folder: pytest.fail("built again"))
    assert dumper("javascript") == command
    with pytest.raises(pytest.fail.Exception):
        dumper("javascript", Path("elsewhere"))


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ToolchainUnavailable, match="java is not on PATH"):
        dumper("java")


@pytest.mark.parametrize("language", ["rust", "cpp_stl", "csharp"])
def test_a_missing_runtime_is_named(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"KAITAI_RUNTIME_{language.upper()}"
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ToolchainUnavailable, match=variable):
        dumper(language)


def test_a_language_without_a_dumper_is_refused() -> None:
    with pytest.raises(ValueError, match="no dumper for 'nim'"):
        dumper("nim")
