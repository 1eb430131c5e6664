"""Encodings of Kafka's flexible messages (KIP-482): strings, arrays and tagged fields.

They follow org.apache.kafka.common.protocol.types.TaggedFields and the code of Kafka's generator.
"""

from typing import Any

from construct import Construct, RangeError, StringError, Subconstruct
from construct.core import stream_write

from magicbyte_construct.fields import (
    Counted,
    Data,
    Fields,
    build_each,
    is_strict,
    length_of,
    read_exactly,
)
from magicbyte_construct.varint import Uvarint


class CompactStringConstruct(Construct):
    """Length in UTF-8 plus one, then the string. Null, length 0, is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> str:
        length = Uvarint._parsereport(stream, context, path) - 1
        if length < 0:
            raise StringError("null in a string that is not nullable", path=path)
        data = read_exactly(stream, length, path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise StringError(f"not UTF-8: {data[:16].hex()}", path=path) from error

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        data = b"" if obj is None else obj.encode()
        Uvarint._build(0 if obj is None else len(data) + 1, stream, context, path)
        stream_write(stream, data, len(data), path)
        return obj


CompactString = CompactStringConstruct()
"""String; None builds null."""


class CompactArray(Subconstruct):
    """Count plus one, then the elements. Null, count 0, is an error in strict parsing, else None."""

    def __init__(self, subcon: Any) -> None:
        super().__init__(subcon)
        self.elements = Counted("_count", subcon)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        context["_count"] = Uvarint._parsereport(stream, context, path) - 1
        if context["_count"] < 0:
            if is_strict(context):
                raise RangeError("null in a list that is not nullable", path=path)
            return None
        return self.elements._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        Uvarint._build(0 if obj is None else len(obj) + 1, stream, context, path)
        return obj if obj is None else build_each(self.subcon, obj, stream, context, path)


Tag = Fields("tag" / Uvarint, "size" / length_of("data", Uvarint), "data" / Data("size"))
"""Tagged field: its number, and its bytes, whose form depends on the number."""


class TagsConstruct(Construct):
    """Tagged fields at the end of every struct: a count, mostly 0, then the fields."""

    def __init__(self) -> None:
        super().__init__()
        self.flagbuildnone = True
        self.elements = Counted("_count", Tag, min_bytes=2)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        context["_count"] = Uvarint._parsereport(stream, context, path)
        return self.elements._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        Uvarint._build(len(obj or ()), stream, context, path)
        return self.elements._build(obj, stream, context, path)


Tags = TagsConstruct()
"""Tagged fields of a struct."""
