"""Tests of magicbyte.messages on every file of spec/messages, every version, every release."""

import importlib
import pkgutil
import random
import re
import tracemalloc
from collections.abc import Iterator

import pytest

import magicbyte_formats.messages
from magicbyte.errors import FormatError
from magicbyte.messages import MessageError, read, read_int16, read_uvarint
from magicbyte_kernels.message_schema import MessageSchema
from magicbyte_tools.vectors.message_writer import (
    FOLDER,
    RELEASES,
    Release,
    Spec,
    json_name,
    message_spec,
    parse_release,
    releases_and_versions,
    specification,
)

from .messages_by_hand import NAMES, Writer, messages

MOST_MEMORY = 64 << 10
"""Bytes of memory that reading a small message may take, whatever lengths it states."""

REASONS = {"[]": "count", "bytes": "array", "string": "array"}
"""Errors of a length above the bytes left; a text that long is an error by itself."""


def schema(file: str, name: str) -> MessageSchema:
    module = importlib.import_module(f"magicbyte_formats.messages.{file}")
    (found,) = (one for one in module.MESSAGES if one.name == name)
    assert isinstance(found, MessageSchema)
    return found


def written(
    spec: Spec, *, unknown: bool = False, repeat: int = 1
) -> Iterator[tuple[Writer, Spec, bytes]]:
    """Yield (writer, values, bytes) *repeat* times for each version in each release."""
    for when, version in releases_and_versions(spec):
        for number in range(repeat):
            seed = f"{spec['name']} {when} {version} {number}"
            writer = Writer(spec, version, when, random.Random(seed), unknown=unknown)
            values = writer.message()
            yield writer, values, writer.write(values)


def shapes(spec: Spec) -> Iterator[tuple[Writer, Spec, bytes]]:
    """Yield one of `written` for each version and each set of fields that releases have."""
    seen = set()
    for one in written(spec):
        writer = one[0]
        shape = repr((writer.version, writer.is_flexible, fields(writer, spec["fields"])))
        if shape not in seen:
            seen.add(shape)
            yield one


def fields(writer: Writer, those: list[Spec]) -> list[object]:
    return [
        (one["name"], one["type"], fields(writer, writer.inner(one) or []))
        for one in writer.known(those)
    ]


def test_each_messages_file_has_one_module_with_its_messages() -> None:
    found = {one.name for one in pkgutil.iter_modules(magicbyte_formats.messages.__path__)}
    assert found == {*NAMES}
    for name in NAMES:
        module = importlib.import_module(f"magicbyte_formats.messages.{name}")
        listed = [one.name for one in module.MESSAGES]
        assert listed == [one["name"] for one in specification(name)["messages"]]


def test_the_releases_are_those_that_the_files_name() -> None:
    named = set()
    for path in FOLDER.glob("*.yaml"):
        for line in path.read_text("utf-8").splitlines():
            if re.match(r" *(versions|releases|flexible|former_types): ", line):
                named |= {parse_release(one) for one in re.findall(r"\d+\.\d+", line)}
    assert named <= set(RELEASES)


@pytest.mark.parametrize(("file", "name"), messages())
def test_every_version_of_every_release_is_decoded(file: str, name: str) -> None:
    read_as = schema(file, name)
    for writer, values, data in written(message_spec(file, name), repeat=3):
        place = (writer.version, writer.release)
        found = read(read_as, data, *place)
        # As text, so that the order of the fields and true beside 1 count.
        assert (repr(found.fields), found.end) == (repr(values), len(data)), place
        found = read(read_as, b"\0\7" + data + b"more", *place, position=2)
        assert (repr(found.fields), found.end) == (repr(values), 2 + len(data)), place


@pytest.mark.parametrize(("file", "name"), messages())
def test_a_message_that_is_cut_anywhere_is_an_error(file: str, name: str) -> None:
    read_as = schema(file, name)
    for writer, _, data in shapes(message_spec(file, name)):
        for size in range(len(data)):
            with pytest.raises(MessageError) as caught:
                read(read_as, data[:size], writer.version, writer.release)
            assert isinstance(caught.value, FormatError)
            assert 0 <= caught.value.position <= size


@pytest.mark.parametrize(("file", "name"), messages())
def test_a_length_larger_than_what_is_left_is_an_error_before_memory_is_used(
    file: str, name: str
) -> None:
    read_as, spec = schema(file, name), message_spec(file, name)
    for writer, values, _ in shapes(spec):
        for number in range(len(writer.lengths)):
            liar = Writer(spec, writer.version, writer.release, random.Random(), lie=number)
            data = liar.write(values)
            tracemalloc.start()
            try:
                with pytest.raises(MessageError) as caught:
                    read(read_as, data, writer.version, writer.release)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            is_text = liar.lengths[number] == "string" and liar.is_flexible
            reason = "text" if is_text else REASONS[liar.lengths[number]]
            assert caught.value.reason == reason
            assert caught.value.number == liar.stated
            assert peak < MOST_MEMORY


@pytest.mark.parametrize(("file", "name"), messages())
def test_tagged_fields_that_nobody_knows_are_passed_over(file: str, name: str) -> None:
    read_as = schema(file, name)
    for writer, values, data in written(message_spec(file, name), unknown=True):
        found = read(read_as, data, writer.version, writer.release)
        assert (repr(found.fields), found.end) == (repr(values), len(data))


def tagged(spec: Spec) -> Iterator[tuple[Release, int, Spec]]:
    """Yield (release, version, field) for each tagged field at the top level of the message."""
    for when, version in releases_and_versions(spec):
        writer = Writer(spec, version, when, random.Random(0))
        for one in writer.known(spec["fields"]):
            if "tag" in one:
                yield when, version, one


def test_a_tagged_field_that_is_written_as_its_default_is_as_if_it_were_not() -> None:
    tried = set()
    for file, name in messages():
        spec = message_spec(file, name)
        for when, version, one in tagged(spec):
            writer = Writer(spec, version, when, random.Random(1))
            values = {**writer.message(), json_name(one["name"]): writer.default(one)}
            found = read(schema(file, name), writer.write(values), version, when)
            del values[json_name(one["name"])]
            assert found.fields == values
            tried.add(repr(writer.default(one)))
    assert tried >= {"-1", "0", "-2", "None", "[]", "False", repr(22 * "A")}


def test_a_tagged_field_that_is_not_known_to_a_release_is_passed_over() -> None:
    place = ("transaction_state", "TransactionLogValue")
    read_as, writer = schema(*place), Writer(message_spec(*place), 1, (4, 3), random.Random(2))
    values = writer.message() | {"previousProducerId": 7, "clientTransactionVersion": 2}
    data = writer.write(values)
    assert read(read_as, data, 1, (4, 3)).fields == values
    older = read(read_as, data, 1, (3, 9))
    assert older.end == len(data)
    assert older.fields.keys() == values.keys() - {
        "previousProducerId",
        "nextProducerId",
        "nextProducerEpoch",
        "clientTransactionVersion",
    }


def test_a_field_of_a_version_that_a_release_does_not_know_is_not_looked_for() -> None:
    """An older release lacks the field: as in Kafka, it reads the next field in its place."""
    spec = message_spec("cluster_metadata", "PartitionRecord")
    read_as = schema("cluster_metadata", "PartitionRecord")
    values = Writer(spec, 0, (4, 3), random.Random(3)).message()
    data = Writer(spec, 0, (4, 3), random.Random(3)).write(values)
    newer = Writer(spec, 1, (4, 3), random.Random(3)).write({**values, "directories": []})
    assert len(newer) == len(data) + 1
    assert read(read_as, newer, 1, (4, 3)).fields == {**values, "directories": []}
    older = read(read_as, data, 1, (3, 6))
    assert (older.fields, older.end) == (values, len(data))


def test_null_where_nothing_may_be_null_is_an_error() -> None:
    reasons = set()
    for file, name in messages():
        spec, read_as = message_spec(file, name), schema(file, name)
        for when, version in releases_and_versions(spec):
            writer = Writer(spec, version, when, random.Random(0))
            (first, *_) = [*writer.known(spec["fields"]), {"type": "none"}]
            if first["type"] in ("string", "bytes") and not {"nullable", "tag"} & first.keys():
                with pytest.raises(MessageError) as caught:
                    read(read_as, writer.length(first["type"], -1) + bytes(100), version, when)
                assert caught.value.field == json_name(first["name"])
                reasons.add((caught.value.reason, writer.is_flexible))
    assert reasons == {("null", False), ("null", True)}


@pytest.mark.parametrize(
    ("data", "number", "end"),
    [
        ("00", 0, 1),
        ("7f", 127, 1),
        ("8001", 128, 2),
        ("8000", 0, 2),
        ("ffffffff07", 0x7FFFFFFF, 5),
        ("ffffffff0f", -1, 5),
        ("808080808001", None, 0),
        ("80", None, 1),
        ("", None, 0),
    ],
)
def test_a_number_of_variable_length_is_an_int_of_java(
    data: str, number: int | None, end: int
) -> None:
    if number is not None:
        assert read_uvarint(b"_" + bytes.fromhex(data) + b"_", 1) == (number, 1 + end)
        return
    with pytest.raises(MessageError) as caught:
        read_uvarint(bytes.fromhex(data))
    reason = "varint" if len(data) > 4 else "end"
    assert (caught.value.reason, caught.value.position) == (reason, end)


@pytest.mark.parametrize(("file", "name"), messages())
def test_any_bytes_are_a_message_or_an_error(file: str, name: str) -> None:
    """Versions that no release has are tried too."""
    read_as = schema(file, name)
    draw = random.Random(f"any {name}")
    known = [data for _, _, data in shapes(message_spec(file, name))]
    for _ in range(200):
        data = bytearray(draw.choice(known) or b"\0")
        for _ in range(draw.randrange(1, 4)):
            byte = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
            data[draw.randrange(len(data))] = byte
        version = draw.choice((0, 1, 2, 3, 4, 9, -1))
        try:
            found = read(read_as, bytes(data), version, draw.choice(RELEASES))
        except MessageError as error:
            assert 0 <= error.position <= len(data)
        else:
            assert 0 <= found.end <= len(data)


def test_an_int16_before_a_message_is_there_or_it_is_said_what_is_missing() -> None:
    assert read_int16(bytes.fromhex("fffe01"), "type") == (-2, 2)
    for data in (b"", b"\0"):
        with pytest.raises(MessageError, match=f"type: 2 bytes, but {len(data)} bytes are left"):
            read_int16(data, "type")


def test_numbers_of_a_field_have_the_names_of_the_specification() -> None:
    named = 0
    for file in NAMES:
        for message in specification(file)["messages"]:
            for field in message["fields"]:
                found = schema(file, message["name"]).field(json_name(field["name"]))
                names = {int(number): name for number, name in field.get("values", {}).items()}
                assert dict(found.values) == names
                for number in range(-1, 9):
                    assert found.name_of(number) == names.get(number)
                named += bool(names)
    assert named == 5
    with pytest.raises(KeyError):
        schema("transaction_state", "TransactionLogKey").field("nothing")
