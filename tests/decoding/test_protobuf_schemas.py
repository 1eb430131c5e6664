"""Random Protobuf schemas and messages: google.protobuf's own view of them is the judge."""

import os
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")

from magicbyte.decoding.faults import fault_name
from magicbyte.decoding.framed_values import FramedDecoder
from magicbyte.decoding.protobuf import ProtobufDecoder, compile_schema
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import FrameKind
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.engines.columnar.protobuf_program import USUAL
from magicbyte_tools.fuzz.avro_cases import zigzag
from magicbyte_tools.fuzz.protobuf_cases import ProtobufCase, ProtobufCases

from .protobuf_judge import (
    TimeRangeError,
    by_google_protobuf,
    expected_json,
    expected_value,
    is_recursive,
    json_rows,
    plain,
)

NUM_SCHEMAS = 10_000 if os.environ.get("MAGICBYTE_WIDE") else 60
NUM_GROUPS = 3
MESSAGES_OF_A_SCHEMA = 8
SCHEMA_ID = 7


class OneSchema:
    """Known schemas: one, with an id."""

    def __init__(self, case: ProtobufCase) -> None:
        self.schema_text = SchemaText(
            schema_type="PROTOBUF", text="", descriptor_set=case.descriptor_set, id=SCHEMA_ID
        )

    def schema_of(self, frame_kind: FrameKind, id_: int, token: str | None) -> SchemaText | None:
        return self.schema_text if id_ == SCHEMA_ID else None


def confluent_frame(path: tuple[int, ...]) -> bytes:
    indexes = b"\0" if path == (0,) else b"".join(map(zigzag, (len(path), *path)))
    return b"\0" + SCHEMA_ID.to_bytes(4) + indexes


def check(decoded: Any, messages: Sequence[Any], is_json: bool, counts: Counter[str]) -> None:
    """Check that *decoded* has the values that the page promises for *messages*."""
    decoded.array.validate(full=True)
    rows = json_rows(decoded.array) if is_json else plain(decoded.array)
    codes = decoded.error_codes if hasattr(decoded, "error_codes") else decoded.fault_codes
    for row, code, message in zip(rows, codes.tolist(), messages, strict=True):
        if is_json:
            assert not code
            expected = expected_json(message)
            counts["JSON" if expected is not NotImplemented else "no JSON form"] += 1
            assert row == expected or expected is NotImplemented
            continue
        try:
            expected = expected_value(message)
        except TimeRangeError:
            counts["time-range"] += 1
            assert (row, fault_name(code)) == (None, "time-range")
            continue
        assert (row, code) == (expected, 0)
        counts["value"] += 1


@pytest.mark.parametrize("group", range(NUM_GROUPS))
def test_random_messages_of_random_schemas_are_as_google_protobuf_has_them(group: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(NUM_SCHEMAS // NUM_GROUPS):
        random = Random(group << 32 | number)
        cases = ProtobufCases(random)
        case = cases.case()
        message_class, contents = cases.messages(case, MESSAGES_OF_A_SCHEMA)
        messages = [message_class.FromString(content) for content in contents]
        is_json = is_recursive(message_class.DESCRIPTOR)
        known = OneSchema(case)
        files = compile_schema(known.schema_text)
        assert files.at(case.path).full_name == case.name
        decoder = ProtobufDecoder(files.named(case.name))
        assert decoder.is_json == is_json
        try:
            frame = random.randbytes(random.randrange(9))
            values = pa.array([frame + content for content in contents], pa.binary())
            decoded = decoder.decode(values, len(frame))
            check(decoded, messages, is_json, counts)
            check(by_google_protobuf(decoder, values, len(frame)), messages, is_json, counts)
            _, verdicts = decoder._decode_usual(values, len(frame))
            counts["by the kernel"] += int((verdicts == USUAL).any())
            framed = FramedDecoder(
                "value", known, SchemaDecoders(), {case.name: (known.schema_text, case.path)}
            )
            frame = confluent_frame(case.path)
            values = pa.array([frame + content for content in contents], pa.binary())
            check(framed.decode(values, None), messages, is_json, counts)
        except BaseException as error:
            error.add_note(f"Random({group} << 32 | {number})")
            raise
    assert counts["value"] > NUM_SCHEMAS // NUM_GROUPS
    assert counts["JSON"]
    assert counts["by the kernel"] > NUM_SCHEMAS // NUM_GROUPS // 4
