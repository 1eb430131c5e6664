"""Answers cases about records of coordinators' topics by magicbyte.messages."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from magicbyte.errors import error_of
from magicbyte.messages import MessageError, known_messages, read_int16, read_record
from magicbyte_kernels.message_schema import MessageField, Release
from magicbyte_tools.conformance.answer_shape import CHECKS
from magicbyte_tools.conformance.engines.answering import Answer
from magicbyte_tools.vectors.message_writer import RELEASES, parse_release

LENGTH_SIZE = 4


def coordinator_record(data: bytes, settings: Mapping[str, Any]) -> Answer:
    """Return the answer to the key and value in *data*; *settings* name the topic and the releases."""
    try:
        fields, error = _fields(data, settings["topic"], release_of(settings["releases"])), None
    except MessageError as refusal:
        fields = None
        raised = error_of(refusal.finding)
        error = {"message": str(refusal), "code": refusal.code, "class": type(raised).__name__}
    return {"fields": fields, "error": error, "checks": CHECKS}


def release_of(text: str) -> Release:
    """Return the last release of the range *text*, such as `2.8-4.0`; the newest one for `4.1+`."""
    return RELEASES[-1] if text.endswith("+") else parse_release(text.rpartition("-")[2])


def _fields(data: bytes, topic: str, release: Release) -> Answer:
    key, position = _sized(data, 0)
    value, _ = _sized(data, position)
    assert key is not None
    module = import_module(f"magicbyte_formats.messages.{topic.strip('_')}")
    record = read_record(module.MESSAGES, key, value, release)
    type_, _ = read_int16(key, "type")
    key_schema, value_schema = known_messages(module.MESSAGES, type_, release)
    answer: Answer = {"key": {"type": type_, "data": _json(key_schema.fields, record.key)}}
    if value is None:
        return {**answer, "value": None}
    version, _ = read_int16(value, "version")
    assert record.value is not None
    return {
        **answer,
        "value": {"version": version, "data": _json(value_schema.fields, record.value)},
    }


def _sized(data: bytes, position: int) -> tuple[bytes | None, int]:
    """Return the nullable byte array at *position* of *data*, and the position after it."""
    begin = position + LENGTH_SIZE
    size = int.from_bytes(data[position:begin], signed=True)
    return (None, begin) if size < 0 else (data[begin : begin + size], begin + size)


def _json(fields: Sequence[MessageField], values: Mapping[str, Any]) -> Answer:
    """Return *values* as the vectors have them: int64 as text, bytes in hex."""
    fields_by_name = {field.name: field for field in fields}
    return {name: _field_json(fields_by_name[name], value) for name, value in values.items()}


def _field_json(field: MessageField, value: Any) -> Any:
    if isinstance(value, list):
        return [_field_json(field, each) for each in value]
    if isinstance(value, dict):
        return _json(field.fields, value)
    if field.kind == "int64":
        return str(value)
    return value.hex() if isinstance(value, bytes) else value
