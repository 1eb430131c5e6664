"""Test vectors of records in coordinators' topics, by type and version: group offsets, transactions, share groups.

The bytes are the key and the value of a record, each as a nullable byte array of Kafka's protocol.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from magicbyte_tools.generate.source import Spec
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.message_values import SampleFiller, Style, message_json
from magicbyte_tools.vectors.message_writer import (
    RELEASES,
    MessageWriter,
    Release,
    includes_release,
    json_name,
    releases_and_versions,
    specification,
    tagged_bytes,
    value_in,
    version_range,
)
from magicbyte_tools.vectors.single_structure import FormatCases

FORMAT = "kafka_coordinator_record"

SERDES = {
    "consumer_offsets": "GroupCoordinatorRecordSerde",
    "transaction_state": "TransactionCoordinatorRecordSerde",
    "share_group_state": "ShareCoordinatorRecordSerde",
}
"""Class of Kafka that reads the records of a topic, by the topic's file in spec/messages."""

UNKNOWN_TYPE, UNKNOWN_TAG = 1000, 1000

VERSIONS_CHECKED_SINCE = (4, 0)
"""Release from which all coordinators refuse unknown versions of values; the group coordinator of 3.9 reads on."""

LEFT_OVER = (
    "Coordinators read to the end of the last field and look no further. Nothing writes such "
    "bytes, and a reader may refuse them."
)


@dataclass(frozen=True, slots=True)
class SampleMessage:
    """The key or the value of a record: a number before the message, and the message."""

    writer: MessageWriter
    number: int
    """Type of the record in a key, version in a value."""
    values: Spec

    def message(self) -> bytes:
        return self.writer.write(self.values)

    def data(self) -> bytes:
        return struct.pack(">h", self.number) + self.message()

    def json(self) -> Spec:
        return message_json(self.writer, self.writer.spec["fields"], self.values)

    def is_same_in(self, release: Release) -> bool:
        """Return whether *release* has the message, and writes these values as the same bytes."""
        spec = self.writer.spec
        if self.writer.version not in version_range(value_in(spec["versions"], release)):
            return False
        other = replace(self, writer=MessageWriter(spec, self.writer.version, release))
        try:
            return (other.message(), other.json()) == (self.message(), self.json())
        except (KeyError, struct.error):  # the release has a field more, or a smaller type
            return False


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """A record of a coordinator's topic."""

    topic: str
    """File of the topic in spec/messages: the topic's name without its underscores."""
    name: str
    """Name of the record's cases: Kafka's name of the message, in lower case, and the version."""
    key_message: SampleMessage
    value_message: SampleMessage

    def settings(self) -> dict[str, Any]:
        """Return the topic and the releases that each of the record's cases names."""
        return {"topic": f"__{self.topic}", "releases": range_text(self.releases())}

    def bytes_with(self, value: bytes | None) -> bytes:
        """Return the bytes of a case whose key is this record's and whose value is *value*."""
        return _sized(self.key_message.data()) + _sized(value)

    def data(self) -> bytes:
        return self.bytes_with(self.value_message.data())

    def json(self, *, is_tombstone: bool = False) -> Spec:
        value = {"version": self.value_message.number, "data": self.value_message.json()}
        return {
            "key": {"type": self.key_message.number, "data": self.key_message.json()},
            "value": None if is_tombstone else value,
        }

    def releases(self) -> list[Release]:
        """Return the releases that read the record as `json` says."""
        return [
            release
            for release in RELEASES
            if self.key_message.is_same_in(release)
            and self.value_message.is_same_in(release)
            and self.key_message.number in _types(self.key_message.writer.spec, release)
        ]


def _sized(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def _types(spec: Spec, release: Release) -> list[int]:
    """Return the numbers that identify the message *spec* in *release*."""
    former = spec.get("former_types", {})
    return [
        spec["type"],
        *(int(number) for number, text in former.items() if includes_release(str(text), release)),
    ]


def range_text(releases: list[Release]) -> str:
    """Return the range of *releases* as spec/messages writes it: `4.1+`, `2.8-4.0` or `4.0`."""
    first, last = releases[0], releases[-1]
    assert releases == RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1], releases
    texts = [f"{major}.{minor}" for major, minor in (first, last)]
    if last == RELEASES[-1]:
        return f"{texts[0]}+"
    return texts[0] if first == last else "-".join(texts)


@dataclass(frozen=True, slots=True)
class RecordType:
    """A type of record in a coordinator's topic."""

    topic: str
    key_spec: Spec
    value_spec: Spec

    @property
    def name(self) -> str:
        """Return Kafka's name of the type in the ids of cases, such as `offset-commit`."""
        message_name = self.value_spec["name"].removesuffix("Value")
        return re.sub(r"(?<!^)(?=[A-Z])", "-", message_name).lower()

    @property
    def form(self) -> FormatCases:
        source = f"{SERDES[self.topic]}, {self.value_spec['name']}.json"
        return FormatCases(FORMAT, source, made="built from spec/messages")

    def newest_releases(self) -> dict[int, Release]:
        """Return the newest release that has each version of the value."""
        return {version: release for release, version in releases_and_versions(self.value_spec)}

    def sample(
        self, version: int, release: Release, style: Style, type_number: int | None = None
    ) -> SampleRecord:
        """Return a record of *version* as *release* writes it, with values of *style*."""
        number = self.key_spec["type"] if type_number is None else type_number
        key_writer = MessageWriter(self.key_spec, 0, release)
        value_writer = MessageWriter(self.value_spec, version, release)
        return SampleRecord(
            self.topic,
            f"{self.name}-v{version}",
            SampleMessage(key_writer, number, SampleFiller(key_writer, style).message()),
            SampleMessage(value_writer, version, SampleFiller(value_writer, style).message()),
        )

    def newest_sample(self, style: Style = "nulls") -> SampleRecord:
        version, release = max(self.newest_releases().items())
        return self.sample(version, release, style)


def cases() -> Iterator[VectorCase]:
    for topic in SERDES:
        messages = specification(topic)["messages"]
        types = [
            RecordType(topic, key_spec, value_spec)
            for key_spec, value_spec in zip(messages[::2], messages[1::2], strict=True)
        ]
        for record_type in types:
            yield from _sound_cases(record_type)
            yield from _faults(record_type.form, record_type.newest_sample())
        yield from _topic_cases(types[0])
        yield from _unknown(types[0])


def _sound(record_type: RecordType, record: SampleRecord, why: str, suffix: str = "") -> VectorCase:
    name = f"{record.name}{suffix}"
    return record_type.form.whole(
        name, record.data(), why, fields=record.json(), **record.settings()
    )


def _sound_cases(record_type: RecordType) -> Iterator[VectorCase]:
    """Yield the sound cases of one type of record: each version, with each order of fields that releases had."""
    for version, release in record_type.newest_releases().items():
        record = record_type.sample(version, release, "filled")
        yield _sound(record_type, record, "Each field has a value, arrays have two entries.")
        nulls = record_type.sample(version, release, "nulls")
        if nulls.value_message.values != record.value_message.values:
            why = "What may be null is null, and no tagged field is there."
            yield _sound(record_type, nulls, why, "-nulls")
        yield from _former_layouts(record_type, version, {*record.releases(), *nulls.releases()})
    for former_type in map(int, record_type.key_spec.get("former_types", {})):
        version = version_range(value_in(record_type.value_spec["versions"], RELEASES[0]))[-1]
        record = record_type.sample(version, RELEASES[0], "filled", former_type)
        why = "These releases took the number for this type too, with all versions of its value."
        yield _sound(record_type, record, why, f"-type-{former_type}")
    why = "Numbers at the ends of their ranges, empty and long texts, empty arrays."
    yield _sound(record_type, record_type.newest_sample("edges"), why, "-edges")


def _former_layouts(
    record_type: RecordType, version: int, covered: set[Release]
) -> Iterator[VectorCase]:
    """Yield a case for each order of fields that *version* had in releases that are not in *covered*."""
    for release, other_version in releases_and_versions(record_type.value_spec):
        if other_version == version and release not in covered:
            record = record_type.sample(version, release, "nulls")
            covered |= {*record.releases()}
            why = "The version had other fields in these releases, and the bytes do not say so."
            yield _sound(record_type, record, why, f"-of-{release[0]}-{release[1]}")


def _faults(form: FormatCases, record: SampleRecord) -> Iterator[VectorCase]:
    name, data, settings = record.name, record.value_message.data(), record.settings()
    yield form.broken(
        f"{name}-cut",
        record.bytes_with(data[:-1]),
        "The last byte of the value is missing.",
        code="bad-record",
        **settings,
    )
    yield form.doubtful(
        f"{name}-bytes-behind",
        record.bytes_with(data + b"\0\0"),
        "Two bytes follow the message in the value.",
        caught_by="exact",
        reason=LEFT_OVER,
        fields=record.json(),
        **settings,
    )
    if record.value_message.writer.is_flexible:
        assert data.endswith(b"\0"), "the message ends with the number of its tagged fields, none"
        yield form.whole(
            f"{name}-unknown-tagged-field",
            record.bytes_with(data[:-1] + tagged_bytes([(UNKNOWN_TAG, b"ab")])),
            "A later release may add a tagged field: a reader passes over one that it does not know.",
            fields=record.json(),
            **settings,
        )
    yield form.broken(
        f"{name}-null",
        _with_null(record),
        "The length of a field that cannot be null stands for null.",
        code="bad-record",
        **settings,
    )


def _with_null(record: SampleRecord) -> bytes:
    """Return the bytes of *record* with null in its value's first field that cannot be null, or in its key's."""
    value_bytes = _null_in(record.value_message)
    if value_bytes is not None:
        return record.bytes_with(value_bytes)
    key_bytes = _null_in(record.key_message)
    assert key_bytes is not None, f"{record.name}: no field with a length"
    return _sized(key_bytes) + _sized(record.value_message.data())


def _null_in(sample: SampleMessage) -> bytes | None:
    """Return the bytes of *sample* with null in its first field that has a length and cannot be null, if there is one."""
    writer = sample.writer
    for one in writer.known(writer.spec["fields"]):
        is_sized = one["type"].startswith("[]") or one["type"] in ("string", "bytes")
        if is_sized and not {"nullable", "tag"} & one.keys():
            values = {**sample.values, json_name(one["name"]): None}
            return replace(sample, values=values).data()
    return None


def _topic_cases(record_type: RecordType) -> Iterator[VectorCase]:
    """Yield cases that are alike for all types of a topic, by the example of *record_type*."""
    record, form, name = record_type.newest_sample(), record_type.form, record_type.name
    settings = record.settings()
    settings["releases"] = range_text([r for r in RELEASES if record.key_message.is_same_in(r)])
    yield form.whole(
        f"{name}-tombstone",
        record.bytes_with(None),
        "A null value: what the key names is gone.",
        fields=record.json(is_tombstone=True),
        **settings,
    )
    yield form.broken(
        f"{name}-version-cut",
        record.bytes_with(b"\0"),
        "The value ends inside its version.",
        code="bad-record",
        **settings,
    )
    yield form.broken(
        f"{name}-type-cut",
        _sized(b"\0") + _sized(record.value_message.data()),
        "The key ends inside the type.",
        code="bad-record",
        **settings,
    )


def _unknown(record_type: RecordType) -> Iterator[VectorCase]:
    """Yield a record of a type, and one of a version, that no release knows."""
    record, form = record_type.newest_sample(), record_type.form
    settings = record.settings()
    later = replace(record, key_message=replace(record.key_message, number=UNKNOWN_TYPE))
    yield form.broken(
        f"{record_type.topic.replace('_', '-')}-unknown-type",
        later.data(),
        "A later release may add a type. On loading, a coordinator of 4.3 logs a warning and goes on with the next record.",
        code="bad-record",
        **settings,
    )
    version = record.value_message.number + 1
    yield form.broken(
        f"{record_type.name}-unknown-version",
        record.bytes_with(struct.pack(">h", version) + record.value_message.message()),
        "A version that no release knows. A coordinator of 4.3 then does not load the partition.",
        code="bad-record",
        **settings | {"releases": range_text([r for r in RELEASES if r >= VERSIONS_CHECKED_SINCE])},
    )
