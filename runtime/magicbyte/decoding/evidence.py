"""Recognizes the form of the keys or the values of a topic, from a sample of them.

A frame alone proves little: positive numbers look framed. It counts if its schema is known and the body decodes to
its last byte. The decision is about the topic, and not about a record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.decoding.connect_envelope import EnvelopeError, connect_type, envelope_of
from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.framed_values import (
    KnownSchemas,
    SchemaRows,
    decode_rows,
    rows_of_schemas,
)
from magicbyte.decoding.json_text import parse_json
from magicbyte.decoding.protobuf import ProtobufDecoder
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import IN_HEADERS, SENTENCES, WEAK, FrameKind, Frames

MIN_SHARE_WITH_STRAYS = 0.95
"""Share of a sample that must decode by subjects named as their records (RecordNameStrategy): a few records may be stray.
Of plain numbers, one in twelve decodes by chance."""
MIN_VALUES_WITH_STRAYS = 20
"""Values of the smallest sample in which stray records are allowed: of a smaller one, all must decode."""
MIN_OF_OTHER_TOPICS = 3
"""Values of a sample that must decode, all of them, where a subject belongs to another topic."""
MAX_UNKNOWN_CHECKS = 100
"""Protobuf messages whose unknown fields are counted: google.protobuf is slow."""

SIZES = {2: "int16", 4: "int32 or float", 8: "int64 or double", 1: "boolean"}
"""Types of Kafka's serializers by their number of bytes."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """The form of the keys or of the values of a topic, and the evidence for it."""

    form: str
    """`registry`, `connect`, `json`, `string` or `bytes`."""
    sentence: str
    """Evidence in words."""
    num_values: int
    """Values of the sample that are not null."""
    num_framed: int = 0
    """Values that begin with a frame, or whose headers name a schema."""
    num_decoded: int = 0
    """Values that decode by the schema that their frame names."""


def is_subject_of(subject: str, topic: str, side: str) -> bool:
    """Return whether *subject* names *topic* and *side*, by TopicNameStrategy or TopicRecordNameStrategy."""
    name = subject.rpartition(":")[2]
    return name == f"{topic}-{side}" or (name.startswith(f"{topic}-") and not _is_of_a_side(name))


def _is_of_a_side(name: str) -> bool:
    return name.endswith(("-key", "-value"))


def is_subject_of_others(subject: str, topic: str, side: str) -> bool:
    """Return whether *subject* belongs to another topic, or to the other side, by TopicNameStrategy."""
    name = subject.rpartition(":")[2]
    return _is_of_a_side(name) and name != f"{topic}-{side}"


def _is_foreign(subjects: Sequence[str], topic: str, side: str) -> bool:
    """Return whether all *subjects* belong to another topic, or to the other side."""
    return bool(subjects) and all(is_subject_of_others(one, topic, side) for one in subjects)


def recognize(
    topic: str,
    side: str,
    values: pa.Array,
    headers: pa.Array | None,
    known_schemas: KnownSchemas,
    decoders: SchemaDecoders,
) -> Recognition:
    """Recognize the form of *values*, a sample of the keys or values of *topic*.

    Args:
        side: `key` or `value`.
        headers: Headers of the same records.
    """
    num_values = len(values) - values.null_count
    if not num_values:
        return Recognition("bytes", "no value in the sample", 0)
    frames = find_frames(values, headers, side)
    num_framed = int((frames.kinds != FrameKind.NONE).sum())
    doubt = ""
    if num_framed:
        counts = _SampleCounts()
        for group in rows_of_schemas(values, frames, known_schemas):
            counts.add(group, topic, side, values, frames, decoders)
        kind = FrameKind(int(np.bincount(frames.kinds[frames.kinds > 0]).argmax()))
        evidence = (
            f"{SENTENCES[kind]}; of a sample of {num_values:,}, {num_framed:,} have a frame and "
            f"{counts.num_decoded:,} decode"
        )
        if counts.are_evidence(num_values):
            return Recognition("registry", evidence, num_values, num_framed, counts.num_decoded)
        if kind not in WEAK and num_framed == num_values:
            sentence = f"{evidence}, since their schemas are not known"
            return Recognition("bytes", sentence, num_values, num_framed, 0)
        if counts.num_decoded:
            doubt = (
                f"; {counts.num_decoded:,} of a sample of {num_values:,} decode by schemas that no subject of the "
                f"topic has, which proves nothing: {side}=registry decodes them"
            )
    other = _unframed(values, num_values)
    return Recognition(other.form, other.sentence + doubt, num_values, num_framed)


class _SampleCounts:
    """Values of a sample that decode by the schema of their frame."""

    def __init__(self) -> None:
        self.num_decoded = 0
        self.num_certain = 0
        """Values whose schema a header, a GUID or a fingerprint names."""
        self.num_of_topic = 0
        """Values that decode by a schema of a subject of the topic."""
        self.num_by_record = 0
        """Values that decode by a schema of a subject that is named as its record."""
        self.num_of_others = 0
        """Values that decode by a schema whose subjects all belong to other topics."""

    def are_evidence(self, num_values: int) -> bool:
        """Return whether these of *num_values* values prove that frames name the schemas of the topic."""
        if self.num_certain or self.num_of_topic:
            return True
        if self.num_decoded == num_values:
            return not self.num_of_others or num_values >= MIN_OF_OTHER_TOPICS
        is_enough = num_values >= MIN_VALUES_WITH_STRAYS
        return is_enough and self.num_by_record >= MIN_SHARE_WITH_STRAYS * num_values

    def add(
        self,
        group: SchemaRows,
        topic: str,
        side: str,
        values: pa.Array,
        frames: Frames,
        decoders: SchemaDecoders,
    ) -> None:
        schema_text = group.schema_text
        if schema_text is None:
            return
        decoder = decoders.decoder(schema_text, group.path, is_json=group.is_json)
        if isinstance(decoder, DecodeFault):
            return
        decoded = decode_rows(decoder, values, group.rows, group.body_starts)
        num_decoded = int((decoded.error_codes == 0).sum())
        if isinstance(decoder, ProtobufDecoder):
            # Foreign bytes often parse as Protobuf: then their fields are those that the message does not have.
            bodies = [
                values[int(row)].as_py()[start:]
                for row, start in zip(group.rows, group.body_starts, strict=True)
            ]
            num_strange = sum(
                decoder.num_unknown_fields(body) > 0 for body in bodies[:MAX_UNKNOWN_CHECKS]
            )
            if num_strange * 2 > min(len(bodies), MAX_UNKNOWN_CHECKS):
                return
        self.num_decoded += num_decoded
        first = int(group.rows[0])
        if int(frames.kinds[first]) in IN_HEADERS or int(frames.tokens.value_numbers[first]) >= 0:
            self.num_certain += num_decoded
        name = decoders.record_name(schema_text, group.path)
        subjects = [subject.rpartition(":")[2] for subject in schema_text.subjects]
        if not {f"{topic}-{side}", f"{topic}-{name}"}.isdisjoint(subjects):
            self.num_of_topic += num_decoded
        elif name in subjects:
            self.num_by_record += num_decoded
        elif _is_foreign(schema_text.subjects, topic, side):
            self.num_of_others += num_decoded


def _unframed(values: pa.Array, num_values: int) -> Recognition:
    """Return the form of values without a frame."""
    contents = [value for value in values.to_pylist() if value]
    texts = [text for text in map(_printable, contents) if text is not None]
    if contents and len(texts) == len(contents):
        if all(text.lstrip(" \t\r\n")[:1] in ("{", "[") for text in texts):
            if all(_has_envelope(text) for text in texts):
                return Recognition("connect", "JSON with schema and payload of JsonConverter", 0)
            if all(map(_is_json, texts)):
                return Recognition("json", "JSON objects or arrays", 0)
        return Recognition("string", "printable UTF-8", 0)
    sizes = set(map(len, contents))
    if len(sizes) == 1 and (size := sizes.pop()) in SIZES:
        hint = f"{size} bytes each, perhaps {SIZES[size]}: name the form to decode them"
        return Recognition("bytes", hint, 0)
    return Recognition("bytes", "no known frame, no text", 0)


def _printable(content: bytes) -> str | None:
    """Return *content* as text; None if it is not UTF-8, or has characters that do not print."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    is_printable = text.isprintable() or text.translate(_BLANKS).isprintable()
    return text if is_printable else None


_BLANKS = dict.fromkeys(map(ord, "\t\r\n\u00a0\u3000\u2028\u2029"), " ")


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except ValueError:
        return False
    return True


def _has_envelope(text: str) -> bool:
    envelope = envelope_of(text)
    if envelope is None:
        return False
    try:
        connect_type(envelope[0])
    except EnvelopeError:
        return envelope[0] is None
    return True


def envelope_schemas(values: pa.Array) -> list[object]:
    """Return the different schemas of JsonConverter in *values*."""
    by_text: dict[str, object] = {}
    for content in values.to_pylist():
        text = None if content is None else _printable(content)
        envelope = None if text is None else envelope_of(text)
        if envelope is not None and envelope[0] is not None:
            by_text.setdefault(str(envelope[0]), envelope[0])
    return list(by_text.values())
