"""Test vectors of messages in frames of `__cluster_metadata`: unknown tagged fields and versions, cut and damaged ones."""

from collections.abc import Iterator

import magicbyte_construct as twin
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.metadata_cases import TOPIC_RECORD
from magicbyte_tools.vectors.single_structure import FormatCases

TOPIC_TYPE = 2

TOPIC = TOPIC_RECORD[:-1]
"""A TopicRecord without its tagged fields: its name and its id."""

FRAME_IS_SOUND = (
    "As a frame alone it is sound. MetadataRecordSerde reads the message too, and refuses it: "
)


def cases() -> Iterator[VectorCase]:
    form = FormatCases("kafka_metadata_record", "MetadataRecordSerde, TopicRecord.json")
    for name, message, why in (
        (
            "unknown-tagged-field",
            TOPIC + b"\x01\x63\x02ab",
            "A later release may add a tagged field: a reader passes over one that it does not know.",
        ),
        (
            "unknown-tagged-fields-of-no-bytes",
            TOPIC + b"\x02\x05\x00\x80\x01\x00",
            "Two fields that hold nothing, one with a number of two bytes.",
        ),
    ):
        yield form.whole(name, frame(message), why)
    for name, message, why, refusal in (
        (
            "message-cut-in-its-id",
            TOPIC_RECORD[:-5],
            "The message ends inside a field.",
            "12 of the 16 bytes of the id are there.",
        ),
        (
            "message-without-its-tagged-fields",
            TOPIC,
            "The message ends before the number of its tagged fields.",
            "the number is missing.",
        ),
        (
            "bytes-behind-the-message",
            TOPIC_RECORD + b"\0\0",
            "Two bytes follow the message.",
            "no byte may be left over.",
        ),
        (
            "tagged-field-beyond-the-end",
            TOPIC + b"\x01\x63\x64ab",
            "A tagged field claims a hundred bytes, and has two.",
            "the bytes are not there.",
        ),
        (
            "name-null",
            b"\0" + TOPIC_RECORD[2:],
            "The length of a name that cannot be null stands for null.",
            "a topic has a name.",
        ),
    ):
        yield form.doubtful(
            name,
            frame(message),
            why,
            caught_by="exact",
            reason=FRAME_IS_SOUND + refusal,
            is_kafka_refusal=True,
        )
    yield form.doubtful(
        "unknown-version",
        frame(TOPIC_RECORD, version=1),
        "The message has a version that no release knows.",
        caught_by="exact",
        reason="Kafka's generated classes look at the version of inner structures alone, and read the "
        "message as the newest version that they know. A reader that knows no such version may refuse it.",
    )


def frame(record_bytes: bytes, version: int = 0) -> bytes:
    """Return *record_bytes*, a TopicRecord, in the frame of a record of the metadata log."""
    fields = {"api_key": TOPIC_TYPE, "version": version, "message": record_bytes}
    return bytes(twin.MetadataRecord.build(fields))
