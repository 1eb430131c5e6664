"""Random records of internal topics: sound ones, unusual ones, and damaged ones.

They are encoded from the message schemas, for any version and release. The encoder shares no code
with the reader that it tests.
"""

import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from log_builder import uvarint
from magicbyte_formats.messages import (
    cluster_metadata,
    consumer_offsets,
    consumer_protocol,
    control_records,
    remote_log_metadata,
    share_group_state,
    transaction_state,
)
from magicbyte_kernels.message_schema import MessageField, MessageSchema, Release

Record = tuple[bytes | None, bytes | None]
"""Key and value of a record."""

RELEASES = ((2, 8), (3, 3), (3, 6), (3, 9), (4, 1), (4, 3), (4, 4))

TEXTS = (
    b"",
    b"a",
    b"group",
    b"topic-1",
    b"consumer",
    b"Aa",
    b"BB",
    b"AaAa",
    b"BBBB",
    b"AaBB",
    b'say "yes"',
    b"back\\slash/",
    b"\0\x01\b\t\n\f\r\x1b\x1f\x7f",
    "é\x80\x9f ß".encode(),
    "日本\u2028\u2029\ufeff".encode(),
    "😀 🎉".encode(),
    b"\xff\xfe",
    b"ends in \xe2\x82",
    b"\xed\xa0\x80 \xc0\x80 \xf0\x9f\x98",
    b"<script>&'",
    b"x" * 200,
)

DOUBLES = (
    *(0.0, -0.0, 1.0, -1.5, 100.0, 1e6, 9999999.0, 1e7, 12345678.9, 1e-3, 9.99e-4, 0.001234),
    *(
        float("nan"),
        float("inf"),
        float("-inf"),
        5e-324,
        1.7976931348623157e308,
        2.2250738585072014e-308,
    ),
    *(2.0**-1074 * 3, 2e-3, 1.0e23, 8.41e21, 2.0e-322, 9.5367431640625e-7, 123456789012345680.0),
    *(2.0**63, 2.0**53 + 2, 1.1, 4.35, 0.1 + 0.2, 1e21, 1e22, 33554432.0, 2.2e-5, 4.9e-324),
)

EXTREMES = (
    *(b"\x7f\xff", b"\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0"),
    *(b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f", b"\x80" * 5, b"\x80" * 10),
)
"""Encodings of large and negative lengths: big-endian integers and varints."""

OFTEN_MANY = ("members", "partitionIds", "transactionPartitions")
"""Arrays that Kafka's tool copies into Scala maps and sets, whose order depends on their size."""

INTEGERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H"}


@dataclass
class Encoder:
    """Draws random field values of a message, and encodes them in a version as a release would."""

    chance: random.Random
    message: MessageSchema
    version: int
    release: Release
    strange: float = 0.0
    """Factor from 0 to 1 for the probability of each deviation that no release would write."""

    def encoded(self) -> bytes:
        known = self.message.versions_in(self.release)
        self.newest = -1 if known is None or known.last is None else known.last
        self.is_flexible = self.message.is_flexible(max(self.version, 0), self.release)
        return self.fields(self.message.fields)

    def fields(self, fields: Sequence[MessageField]) -> bytes:
        known = [
            f for f in fields if max(self.version, 0) in f.versions and self.release in f.releases
        ]
        out = b"".join(self.field(f) for f in known if f.tag is None)
        return out + (
            self.tagged([f for f in known if f.tag is not None]) if self.is_flexible else b""
        )

    def tagged(self, known: Sequence[MessageField]) -> bytes:
        parts = []
        for field in known:
            if self.chance.random() < 0.7:
                data = self.field(field)
                if self.happens(0.3):
                    data = self.default(field) or data
                size = len(data) + (self.chance.choice((-1, 1, 70000)) if self.happens(0.2) else 0)
                parts.append(uvarint(field.tag or 0) + uvarint(size) + data)
        if self.happens(0.5) or self.chance.random() < 0.05:
            unknown = self.chance.choice((9, 100, 70000))
            data = self.chance.randbytes(self.chance.randrange(4))
            parts.append(uvarint(unknown) + uvarint(len(data)) + data)
        if parts and self.happens(0.2):
            parts.append(self.chance.choice(parts))
        if self.happens(0.2):
            self.chance.shuffle(parts)
        count = len(parts) + (self.chance.choice((-1, 1, 1 << 30, -5)) if self.happens(0.05) else 0)
        return uvarint(count) + b"".join(parts)

    def default(self, field: MessageField) -> bytes:
        """Return the encoding of the default value of a tagged field."""
        if field.is_null_by_default or field.is_array or field.kind in ("string", "bytes"):
            return uvarint(0 if field.is_null_by_default else 1)
        if field.kind in INTEGERS:
            return struct.pack(">" + INTEGERS[field.kind], field.default or 0)
        return {"bool": b"\0", "uuid": bytes(16)}.get(field.kind, b"")

    def happens(self, probability: float) -> bool:
        return self.chance.random() < self.strange * probability

    def field(self, field: MessageField) -> bytes:
        if not field.is_array:
            return self.value(field, is_nullable=field.is_nullable)
        if (field.is_nullable and self.chance.random() < 0.3) or self.happens(0.05):
            return self.count(-1)
        count = self.chance.choice((0, 1, 1, 2, 3, 5))
        if field.name in OFTEN_MANY and self.chance.random() < 0.1:
            count = self.chance.randrange(6, 60)
        told = count
        if self.happens(0.1):
            told = self.chance.choice((-2, count + 1, 1000, 0x7FFFFFFF, -(1 << 31)))
        return self.count(told) + b"".join(self.value(field) for _ in range(count))

    def count(self, number: int) -> bytes:
        return uvarint(number + 1) if self.is_flexible else struct.pack(">i", number)

    def value(self, field: MessageField, *, is_nullable: bool = False) -> bytes:
        chance, kind = self.chance, field.kind
        is_null = (is_nullable and chance.random() < 0.3) or self.happens(0.03)
        match kind:
            case "struct":
                inner = self.fields(field.fields)
                if not is_nullable:
                    return inner
                if field.tag is not None:
                    return uvarint(0) if is_null else uvarint(1) + inner
                return b"\xff" if is_null else chance.choice((b"\1", b"\1", b"\0", b"\7")) + inner
            case "string":
                text = self.text()
                if field.name == "protocolType" and chance.random() < 0.6:
                    text = b"consumer"  # the tool decodes these members' bytes, too
                size = -1 if is_null else len(text)
                if self.happens(0.05):
                    size = chance.choice((0x7FFF, 0x8000, -3, len(text) + 1, 40000))
                if self.is_flexible:
                    return uvarint(size + 1) + (b"" if size == -1 else text)
                return struct.pack(">H", size & 0xFFFF) + (b"" if size == -1 else text)
            case "bytes":
                data = self.text()
                if field.name in ("subscription", "assignment") and chance.random() < 0.9:
                    data = self.protocol(field.name)
                size = -1 if is_null else len(data)
                if self.happens(0.05):
                    size = chance.choice((0x7FFFFFFF, -3, len(data) + 1))
                return self.count(size) + (b"" if size == -1 else data)
            case "bool":
                return chance.choice((b"\0", b"\1", b"\1", b"\2"))
            case "uuid":
                return chance.choice(
                    (bytes(16), bytes(15) + b"\1", b"\xff" * 16, chance.randbytes(16))
                )
            case "float64":
                number = chance.choice(DOUBLES) if chance.random() < 0.5 else self.double()
                return struct.pack(">d", number)
        size = 8 * struct.calcsize(INTEGERS[kind])
        number = chance.choice((0, 0, 1, 2, 3, 7, 100, -1, -1, -2, chance.getrandbits(size)))
        if number == 0 and chance.random() < 0.3:
            number = 1 << size - 1
        return (number & (1 << size) - 1).to_bytes(size // 8, "big")

    def text(self) -> bytes:
        if self.chance.random() < 0.6:
            return self.chance.choice(TEXTS[:10] if self.chance.random() < 0.5 else TEXTS)
        letters = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789-_."
        return "".join(self.chance.choices(letters, k=self.chance.randrange(1, 30))).encode()

    def double(self) -> float:
        chance = self.chance
        return chance.choice((
            lambda: struct.unpack(">d", chance.randbytes(8))[0],
            lambda: chance.randrange(1 << 53) / 10 ** chance.randrange(20),
            lambda: float(chance.randrange(10**6)),
            lambda: chance.random() * 10.0 ** chance.randrange(-20, 25),
        ))()  # fmt: skip

    def protocol(self, name: str) -> bytes:
        schema = (
            consumer_protocol.CONSUMER_PROTOCOL_SUBSCRIPTION
            if name == "subscription"
            else consumer_protocol.CONSUMER_PROTOCOL_ASSIGNMENT
        )
        version = self.chance.choice((0, 1, 1, 2, 3, 3, 3, 4, 4, 100, -1, -2))
        release = self.chance.choice(RELEASES)
        inner = Encoder(self.chance, schema, min(version, 3), release, self.strange).encoded()
        data = struct.pack(">h", version) + inner
        if self.chance.random() < 0.15:
            return damaged(self.chance, data)
        return data


def damaged(chance: random.Random, data: bytes) -> bytes:
    """Return *data* with one to three random changes: bytes removed, inserted or overwritten."""
    some = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.randrange(len(some)) if some else 0
        match chance.randrange(8):
            case 0 | 1:
                del some[at:]
            case 2:
                some += chance.randbytes(chance.choice((1, 2, 5)))
            case 3 if some:
                some[at] ^= 1 << chance.randrange(8)
            case 4 if some:
                some[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            case 5:
                del some[at : at + chance.choice((1, 1, 2, 4))]
            case 6:
                some[at:at] = chance.randbytes(chance.choice((1, 2, 4)))
            case 7:
                extreme = chance.choice(EXTREMES)
                some[at : at + len(extreme)] = extreme
    return bytes(some)


def _level(chance: random.Random) -> float:
    """Draw `Encoder.strange` for a record: 0 for three fifths of the records, else 0.3 or 1."""
    return chance.choice((0.0, 0.0, 0.0, 0.3, 1.0))


def _some_release(chance: random.Random, release: Release) -> Release:
    """Draw the release that writes a record; usually it is *release*, which reads the record."""
    return release if chance.random() < 0.8 else chance.choice(RELEASES)


def _some_version(chance: random.Random, schema: MessageSchema, writer: Release) -> int:
    known = schema.versions_in(writer) or schema.versions[0][1]
    newest = 0 if known is None or known.last is None else known.last
    if chance.random() < 0.12:
        return chance.choice((newest + 1, newest + 1, newest + 2, -1, -1, -2, 0x7FFF, -0x8000))
    return chance.randrange(newest + 1)


def coordinators_record(
    schemas: Sequence[MessageSchema], chance: random.Random, release: Release
) -> Record:
    """Draw a record whose key begins with the message type, and whose value with the version."""
    if chance.random() < 0.02:
        return chance.choice(((None, b"value"), (b"", b"value"), (b"\0", None), (None, None)))
    of_key, of_value = chance.choice(list(zip(schemas[::2], schemas[1::2], strict=True)))
    if chance.random() < (0.9 if release < (3, 8) else 0.25):
        at = chance.choice((0, 1))  # the only messages of older releases
        of_key, of_value = schemas[2 * at : 2 * at + 2]
    writer, strange = _some_release(chance, release), _level(chance)
    assert of_key.type is not None
    type_ = of_key.type
    if of_key.former_types and chance.random() < 0.2:
        type_ = 0
    if chance.random() < 0.04:
        type_ = chance.choice((18, 26, 99, -1, -0x8000, 0x7FFF, type_ + 1))
    key = struct.pack(">h", type_) + Encoder(chance, of_key, 0, writer, strange).encoded()
    version = _some_version(chance, of_value, writer)
    value: bytes | None = (
        struct.pack(">h", version) + Encoder(chance, of_value, version, writer, strange).encoded()
    )
    match chance.randrange(16):
        case 0:
            value = None
        case 1 | 2:
            assert value is not None
            value = damaged(chance, value)
        case 3:
            key = damaged(chance, key)
        case 4 if chance.random() < 0.3:
            value = chance.choice((b"", b"\0"))
    return key, value


def framed_record(
    schemas: Sequence[MessageSchema], chance: random.Random, release: Release
) -> Record:
    """Draw a record whose value begins with the frame version, message type and message version."""
    key = chance.choice((None, None, None, b"", b"key"))
    if chance.random() < 0.02:
        return key, chance.choice((None, b"", b"\1", b"\1\2"))
    schema = chance.choice(schemas)
    writer = _some_release(chance, release)
    version = _some_version(chance, schema, writer)
    frame = 0 if writer == (2, 8) else 1
    assert schema.type is not None
    type_ = schema.type
    if chance.random() < 0.05:
        type_ = chance.choice((13, 29, 99, 32767, 32768, 65536 + type_, -1, -2))
    if chance.random() < 0.05:
        frame = chance.choice((0, 1, 2, 127, 32767, 32768, 65536, -1))
    told = version
    if chance.random() < 0.03:
        told = chance.choice((32767, 32768, 65536, -1, -32768))
    body = Encoder(chance, schema, version, writer, _level(chance)).encoded()
    value = uvarint(frame) + uvarint(type_) + uvarint(told) + body
    if chance.random() < 0.2:
        value = damaged(chance, value)
    return key, value


def control_record(chance: random.Random) -> Record:
    """Draw a control record of KRaft."""
    schema = chance.choice(control_records.MESSAGES)
    assert schema.type is not None
    version = chance.choice((0, 0, 1, -1))
    value = Encoder(chance, schema, min(version, 1), RELEASES[-1], _level(chance)).encoded()
    if chance.random() < 0.8:
        value = struct.pack(">h", version) + value[2:]
    kind = schema.type if chance.random() < 0.95 else chance.choice((-1, 7, 99))
    key = struct.pack(">hh", 0, kind)
    return key, damaged(chance, value) if chance.random() < 0.1 else value


DRAWN: dict[str, Callable[[random.Random, Release], Record]] = {
    "--offsets-decoder": partial(coordinators_record, consumer_offsets.MESSAGES),
    "--transaction-log-decoder": partial(coordinators_record, transaction_state.MESSAGES * 2),
    "--cluster-metadata-decoder": partial(framed_record, cluster_metadata.MESSAGES),
    "--remote-log-metadata-decoder": partial(framed_record, remote_log_metadata.MESSAGES),
    "--share-group-state-decoder": partial(coordinators_record, share_group_state.MESSAGES),
}
"""Functions that draw a record for a release, by the flag of Kafka's tool that decodes it."""
