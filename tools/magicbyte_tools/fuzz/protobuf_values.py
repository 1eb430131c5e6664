"""Random values of Protobuf messages, by google.protobuf."""

import math
import struct
from random import Random
from typing import Any

TEXTS = (
    "",
    "a",
    "Kafka",
    "grüße",
    "日本語",
    "\U0001f600",
    "x" * 300,
    "tab\there",
    'quo"te\\',
    "\0",
)
FLOATS = (0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 1e-300, 1e300, 0.1)
MAX_MESSAGE_DEPTH = 5
MAX_FIELDS = 300
"""Fields of one message, with the fields of the messages in it."""
SECONDS = (0, 1, -1, 1_790_000_000, -2_000_000_000, 9_223_372_035, -9_223_372_035)
"""Seconds of times that fit into 64-bit nanoseconds."""
FAR_SECONDS = (9_223_372_037, -9_223_372_038, 253_402_300_799, 1 << 62, -(1 << 63))
"""Seconds of times that do not fit."""


class MessageFiller:
    """Draws messages from *random*, with values in about half of their fields."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._far_share = 0.0
        self._spare_fields = MAX_FIELDS

    def message(self, message_class: Any) -> Any:
        """Draw a proto; in one of fifty, times may be beyond the range of the columns."""
        proto = message_class()
        self._far_share = 0.3 if self._random.random() < 0.02 else 0.0
        self._spare_fields = MAX_FIELDS
        self._fill(proto, message_class.DESCRIPTOR, 0)
        return proto

    def _fill(self, proto: Any, descriptor: Any, depth: int) -> None:
        if descriptor.full_name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
            self._fill_time(proto)
            return
        for member in descriptor.fields:
            if self._random.random() < 0.5 or self._spare_fields <= 0:
                continue
            self._spare_fields -= 1
            if member.message_type is not None and depth >= MAX_MESSAGE_DEPTH:
                continue
            if member.is_repeated:
                self._fill_repeated(proto, member, depth)
            elif member.message_type is not None:
                inner = getattr(proto, member.name)
                type(inner).SetInParent(inner)
                self._fill(inner, member.message_type, depth + 1)
            else:
                setattr(proto, member.name, self._scalar(member))
        for extension in descriptor.file.pool.FindAllExtensions(descriptor):
            if self._random.random() < 0.5:
                proto.Extensions[extension] = self._scalar(extension)

    def _fill_repeated(self, proto: Any, member: Any, depth: int) -> None:
        items = getattr(proto, member.name)
        for _ in range(self._random.choice((0, 1, 1, 2, 3, 7))):
            if member.message_type is None:
                items.append(self._scalar(member))
            elif member.message_type.GetOptions().map_entry:
                members = member.message_type.fields_by_name
                key, value = self._scalar(members["key"]), members["value"]
                if value.message_type is None:
                    items[key] = self._scalar(value)
                else:
                    self._fill(items[key], value.message_type, depth + 1)
            else:
                self._fill(items.add(), member.message_type, depth + 1)

    def _fill_time(self, moment: Any) -> None:
        is_far = self._random.random() < self._far_share
        moment.seconds = self._random.choice(FAR_SECONDS if is_far else SECONDS)
        moment.nanos = self._random.choice((0, 0, 1, 999_999_999, -5, 123_456_789))

    def _scalar(self, member: Any) -> Any:
        kind = member.type
        if kind == member.TYPE_DOUBLE:
            return self._random.choice(FLOATS)
        if kind == member.TYPE_FLOAT:
            number = self._random.choice((*FLOATS[:7], 1e30, 0.1))
            return struct.unpack("<f", struct.pack("<f", number))[0]
        if kind == member.TYPE_BOOL:
            return self._random.random() < 0.5
        if kind == member.TYPE_STRING:
            return self._random.choice(TEXTS)
        if kind == member.TYPE_BYTES:
            return self._random.randbytes(self._random.choice((0, 1, 3, 200)))
        if kind == member.TYPE_ENUM:
            numbers = [one.number for one in member.enum_type.values]
            if not member.enum_type.is_closed and self._random.random() < 0.2:
                return self._random.choice((-1, 7, (1 << 31) - 1, -(1 << 31)))
            return self._random.choice(numbers)
        return self._integer(member)

    def _integer(self, member: Any) -> int:
        kind = member.type
        is_unsigned = kind in (
            *(member.TYPE_UINT32, member.TYPE_UINT64, member.TYPE_FIXED32, member.TYPE_FIXED64),
        )
        is_long = kind in (
            *(member.TYPE_INT64, member.TYPE_UINT64, member.TYPE_FIXED64, member.TYPE_SFIXED64),
            member.TYPE_SINT64,
        )
        bits = 64 if is_long else 32
        if is_unsigned:
            return self._random.choice((0, 1, 127, 128, 300, (1 << bits) - 1, 1 << bits - 1))
        return self._random.choice(
            (0, 1, -1, 127, 128, -300, (1 << bits - 1) - 1, -(1 << bits - 1))
        )
