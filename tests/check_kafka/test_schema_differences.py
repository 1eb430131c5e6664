"""Tests of the comparison of spec/messages with the message classes of Kafka 4.4.0.

`python -m magicbyte_tools.check_kafka --kafka-version 4.4.0 --record FILE` has written the classes.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from magicbyte.kafka_release import NEWEST
from magicbyte_kernels.message_schema import MessageField, MessageSchema, VersionRange
from magicbyte_tools.check_kafka.__main__ import report
from magicbyte_tools.check_kafka.message_classes import (
    NOT_IN_MESSAGES,
    ClassField,
    MessageClass,
    parse_classes,
)
from magicbyte_tools.check_kafka.schema_differences import differences, message_schemas, plain

RECORDED = Path(__file__).with_name("messages-4.4.0.ndjson")

LINES = RECORDED.read_text("utf-8").splitlines()
CLASSES = list(parse_classes(LINES))
STORED = [one for one in CLASSES if one.name not in NOT_IN_MESSAGES]
EXCEPTIONS = [one for one in CLASSES if one.name in NOT_IN_MESSAGES]
SCHEMAS = [schema for schema in message_schemas() if schema.versions_in(NEWEST) is not None]


def classes_of(schema: MessageSchema) -> list[MessageClass]:
    """Return the classes that are excepted, then that of *schema*."""
    return [*EXCEPTIONS, next(one for one in STORED if one.schema_name == schema.name)]


def known_fields(
    fields: tuple[MessageField, ...], version: int, path: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield the path of each field, also in structs, that *version* has in the newest release."""
    for number, field in enumerate(fields):
        if version in field.versions and NEWEST in field.releases:
            yield (*path, number)
            yield from known_fields(field.fields, version, (*path, number))


def without(fields: tuple[MessageField, ...], path: tuple[int, ...]) -> tuple[MessageField, ...]:
    number, *rest = path
    before, field, after = fields[:number], fields[number], fields[number + 1 :]
    if not rest:
        return before + after
    return (*before, field._replace(fields=without(field.fields, tuple(rest))), *after)


def test_messages_are_those_of_the_newest_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert report("4.4.0", LINES) == 0
    assert capsys.readouterr().out.startswith(f"Kafka 4.4.0: {len(CLASSES)} messages, ")
    assert len(CLASSES) > 80


def test_a_release_after_the_newest_known_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    later = f"{NEWEST.major}.{NEWEST.minor + 1}.0"
    assert report(later, LINES) == 1
    assert f"Kafka {later} is newer than {NEWEST}" in capsys.readouterr().out


def test_each_field_that_spec_lacks_is_a_difference() -> None:
    removed = 0
    for schema in SCHEMAS:
        classes = classes_of(schema)
        paths = {
            path for version in classes[-1].schemas for path in known_fields(schema.fields, version)
        }
        for path in paths:
            reduced = schema._replace(fields=without(schema.fields, path))
            assert list(differences(classes, [reduced], NEWEST)), (schema.name, path)
            removed += 1
    assert removed > 300


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_each_message_and_version_that_spec_lacks_is_a_difference(schema: MessageSchema) -> None:
    classes = classes_of(schema)
    missing = [f"{schema.name}: in {classes[-1].jar}, but not in spec/messages"]
    # Most requests and responses are in no file: those that are there were asked for.
    assert list(differences(classes, [], NEWEST)) == ([] if classes[-1].is_rpc else missing)
    known = schema.versions_in(NEWEST)
    assert known is not None and known.last is not None
    fewer = schema._replace(versions=((NEWEST, VersionRange(known.first, known.last - 1)),))
    assert list(differences(classes, [fewer], NEWEST)) == [
        f"{schema.name}: version {known.last} is not in spec/messages"
    ]
    more = schema._replace(versions=((NEWEST, VersionRange(known.first, known.last + 1)),))
    assert list(differences(classes, [more], NEWEST)) == [
        f"{schema.name}: spec/messages has versions after {known.last}, Kafka has none"
    ]


def test_what_kafka_lacks_is_a_difference() -> None:
    lines = list(differences([*EXCEPTIONS[1:], *STORED[1:]], SCHEMAS, NEWEST))
    assert lines == [
        f"{STORED[0].name}: in spec/messages, but not in Kafka {NEWEST}",
        f"{EXCEPTIONS[0].name}: an exception in message_classes.py, but not in Kafka",
    ]


FIELD = ClassField("controller_id", "int32")


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (replace(FIELD, kind="int64"), "Kafka has int64, spec/messages int32"),
        (replace(FIELD, is_nullable=True), "Kafka has nullable int32, spec/messages int32"),
        (replace(FIELD, is_array=True), "Kafka has array of int32, spec/messages int32"),
        (replace(FIELD, tag=0), "Kafka has int32 with tag 0, spec/messages int32"),
        (replace(FIELD, name="other_id"), "not in spec/messages"),
    ],
)
def test_another_kind_of_field_is_a_difference(field: ClassField, text: str) -> None:
    schema = next(one for one in SCHEMAS if one.name == "UnregisterControllerRecord")
    *exceptions, sound = classes_of(schema)
    assert list(differences([*exceptions, sound], [schema], NEWEST)) == []
    version = replace(sound.schemas[0], class_fields=(field,))
    changed = replace(sound, schemas={0: version})
    lines = list(differences([*exceptions, changed], [schema], NEWEST))
    assert lines[0] == f"{schema.name} 0.{field.name}: {text}"


def test_names_of_kafkas_schemas_and_of_its_json_are_the_same() -> None:
    assert plain("leader_epoch") == plain("leaderEpoch") == plain("LeaderEpoch")


@pytest.mark.parametrize("name", ["FetchRequestData", "FetchResponseData", "RequestHeaderData"])
def test_requests_and_responses_without_a_schema_are_left_out(name: str) -> None:
    assert list(differences([*EXCEPTIONS, replace(STORED[0], name=name)], [], NEWEST)) == []


def test_an_empty_range_of_versions_is_no_message() -> None:
    gone = MessageClass("Gone", "kafka.jar", 1, {})
    assert list(differences([*EXCEPTIONS, gone], [], NEWEST)) == []
