"""Positions of fields, as the Construct twin reads them."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from construct import Renamed
from construct.core import stream_tell

import magicbyte_construct as twin
from magicbyte_construct import fields

NAMES = {"trailing": "ignored"}
"""Names of fields in the specification that the twin calls differently."""


class TwinField(NamedTuple):
    """A field that has no fields of its own: its name, its bytes, and its value if it is a number."""

    name: str
    start: int
    end: int
    value: str | None


class Inside(io.BytesIO):
    """Bytes of a sized field; `base` is where they begin in the file."""

    base = 0


def twin_fields(data: bytes) -> list[TwinField]:
    """Return the fields of all entries of the log *data*, in their order; fields without bytes are left out."""
    found: list[TwinField] = []
    with _traced(found):
        twin.Log.parse(data, strict=False)
    return sorted(one for one in found if one.start < one.end)


@contextmanager
def _traced(found: list[TwinField]) -> Iterator[None]:
    parse, read_exactly = Renamed._parse, fields.read_exactly
    base = 0

    def traced_parse(self: Any, stream: Any, context: Any, path: str) -> Any:
        offset = getattr(stream, "base", 0)
        start = stream_tell(stream, path)
        value = parse(self, stream, context, path)
        if not isinstance(value, list):
            name = _name(self.name, value, context)
            number = str(int(value)) if type(value).__name__ in ("int", "Stored") else None
            found.append(
                TwinField(name, offset + start, offset + stream_tell(stream, path), number)
            )
        return value

    def traced_read(stream: Any, length: int, path: str) -> bytes:
        nonlocal base
        base = getattr(stream, "base", 0) + stream_tell(stream, path)
        return read_exactly(stream, length, path)

    def inside(data: bytes = b"") -> Inside:
        stream = Inside(data)
        stream.base = base
        return stream

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Renamed, "_parse", traced_parse)
        patch.setattr(fields, "read_exactly", traced_read)
        shim = SimpleNamespace(BytesIO=inside, SEEK_SET=io.SEEK_SET, SEEK_END=io.SEEK_END)
        patch.setattr(fields, "io", shim)
        yield


def _name(name: str, value: Any, context: Any) -> str:
    if name == "records" and isinstance(value, bytes):
        return "compressed_payload"
    return NAMES.get(name, name)
