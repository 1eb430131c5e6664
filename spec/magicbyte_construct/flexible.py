"""The encodings of Kafka's flexible messages (KIP-482): strings, arrays and tagged fields.

As org.apache.kafka.common.protocol.types.TaggedFields and the code of Kafka's generator have them.
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
    """A string behind its length in UTF-8 plus one. Null, which is 0 there, is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> str:
        length = Uvarint._parsereport(stream, context, path) - 1
        if length < 0:
            raise StringError("null, which none of these strings may be", path=path)
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
"""A string; None builds null."""


class CompactArray(Subconstruct):
    """A list behind its count plus one. Null, 0 there, is an error if strict, else None."""

    def __init__(self, subcon: Any) -> None:
        super().__init__(subcon)
        self.elements = Counted("_count", subcon)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        context["_count"] = Uvarint._parsereport(stream, context, path) - 1
        if context["_count"] < 0:
            if is_strict(context):
                raise RangeError("null, which none of these lists may be", path=path)
            return None
        return self.elements._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        Uvarint._build(0 if obj is None else len(obj) + 1, stream, context, path)
        return obj if obj is None else build_each(self.subcon, obj, stream, context, path)


Tag = Fields("tag" / Uvarint, "size" / length_of("data", Uvarint), "data" / Data("size"))
"""A tagged field: its number, and its bytes, which only who knows the number can read."""


class TagsConstruct(Construct):
    """The tagged fields at the end of every struct: a count, and that many; mostly none."""

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
"""The tagged fields of a struct."""
