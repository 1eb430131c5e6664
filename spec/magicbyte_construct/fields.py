"""Constructs for Kafka: sized and checksummed fields in one container, nullable bytes, bounded lists.

construct's own Prefixed and Checksum put the enclosed fields into an inner container, and read a
claimed length without a check that the bytes exist. Here the fields of an entry are side by side,
as in Kafka's documentation, and computed fields can also be given, right or wrong.
"""

import io
from collections.abc import Callable
from typing import Any

from construct import (
    ChecksumError,
    Construct,
    ConstructError,
    Container,
    Default,
    ListContainer,
    RangeError,
    StreamError,
    Subconstruct,
    TerminatedError,
    ValidationError,
)
from construct.core import stream_read, stream_seek, stream_tell, stream_write

CHEAP_BYTES = 1 << 16
"""Reads of up to this many bytes are not checked against the bytes that are left."""


def is_strict(context: Any) -> bool:
    """Return False for ``parse(data, strict=False)``, which checks the grammar alone."""
    return bool(context["_params"].get("strict", True))


def bytes_left(stream: Any, path: str) -> int:
    """Return the number of unread bytes in *stream*."""
    position = stream_tell(stream, path)
    end = stream_seek(stream, 0, io.SEEK_END, path)
    stream_seek(stream, position, io.SEEK_SET, path)
    return int(end - position)


def read_exactly(stream: Any, length: int, path: str) -> bytes:
    """Return *length* bytes, without allocating more memory than there are bytes."""
    # A file allocates the requested size, a BytesIO the available one. The check costs more than
    # most reads, so small reads go without it.
    if length > CHEAP_BYTES and length > (left := bytes_left(stream, path)):
        raise StreamError(f"{length} bytes wanted, {left} left", path=path)
    data: bytes = stream_read(stream, length, path)
    return data


class Fields(Construct):
    """Struct whose value contains the fields of a nested Sized or Sealed as its own.

    Building raises TypeError for a name that is neither a field nor one of *alternatives*, which the
    defaults of fields are computed from.
    """

    def __init__(self, *subcons: Any, alternatives: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.subcons = subcons
        self.alternatives = alternatives
        self.flagbuildnone = True

    def names(self) -> list[str]:
        """Return the names that a value to build can have."""
        names: list[str] = []
        for subcon in self.subcons:
            names += subcon.names() if isinstance(subcon, Fields) else [subcon.name]
        return [*names, *self.alternatives]

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        obj, inner = Container(), nested(context)
        self.read(obj, stream, inner, path)
        return obj

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if not isinstance(obj, dict | None):
            raise ConstructError(f"{obj!r} has no fields", path=path)
        given, inner = obj or {}, nested(context)
        names = self.names()
        unknown = [name for name in given if name not in names and not name.startswith("_")]
        if unknown:
            raise TypeError(f"no field {unknown[0]!r} at {path}; the fields are {', '.join(names)}")
        inner.update((key, value) for key, value in given.items() if not key.startswith("_"))
        self.write(given, stream, inner, path)
        return inner

    def _sizeof(self, context: Any, path: str) -> int:
        return sum(subcon._sizeof(context, path) for subcon in self.subcons)

    def read(self, obj: Any, stream: Any, context: Any, path: str) -> None:
        """Add the fields that *stream* holds to *obj* and to *context*."""
        for subcon in self.subcons:
            if isinstance(subcon, Fields):
                subcon.read(obj, stream, context, path)
            else:
                obj[subcon.name] = context[subcon.name] = subcon._parsereport(stream, context, path)

    def write(self, obj: Any, stream: Any, context: Any, path: str) -> None:
        """Write the fields of *obj*, and add them and the computed fields to *context*."""
        for subcon in self.subcons:
            if isinstance(subcon, Fields):
                subcon.write(obj, stream, context, path)
            else:
                value = obj.get(subcon.name)
                if value is None and not subcon.flagbuildnone:
                    raise ConstructError(f"{subcon.name} is missing", path=path)
                context[subcon.name] = subcon._build(value, stream, context, path)


def nested(context: Any) -> Any:
    """Return a new context for the fields of a container."""
    return Container(_=context, _params=context["_params"], _index=context.get("_index"))


class Sized(Fields):
    """Fields that fill a number of bytes, which the field *name* before them states.

    A size below *minimum* is an error, as is one beyond the end of the stream.
    """

    def __init__(self, name: str, size: Any, *subcons: Any, minimum: int = 0) -> None:
        super().__init__(*subcons)
        self.size, self.size_name, self.minimum = name / size, name, minimum

    def names(self) -> list[str]:
        return [self.size_name, *super().names()]

    def read(self, obj: Any, stream: Any, context: Any, path: str) -> None:
        size = self.size._parsereport(stream, context, path)
        obj[self.size_name] = context[self.size_name] = size
        if size < self.minimum:
            text = f"{self.size_name} {size}, at least {self.minimum} expected"
            raise RangeError(text, path=path)
        inside = io.BytesIO(read_exactly(stream, size, f"{path} -> {self.size_name}"))
        super().read(obj, inside, context, path)

    def write(self, obj: Any, stream: Any, context: Any, path: str) -> None:
        inside = io.BytesIO()
        super().write(obj, inside, context, path)
        data, given = inside.getvalue(), obj.get(self.size_name)
        size = len(data) if given is None else given
        context[self.size_name] = self.size._build(size, stream, context, path)
        stream_write(stream, data, len(data), path)


class Sealed(Fields):
    """Checksum, the field *name*, and the fields that it covers, up to the end of the stream."""

    def __init__(
        self,
        name: str,
        integer: Any,
        label: str,
        checksum: Callable[[bytes], int],
        *subcons: Any,
    ) -> None:
        super().__init__(*subcons)
        self.sum, self.sum_name, self.label, self.checksum = name / integer, name, label, checksum

    def names(self) -> list[str]:
        return [self.sum_name, *super().names()]

    def read(self, obj: Any, stream: Any, context: Any, path: str) -> None:
        stored = self.sum._parsereport(stream, context, path)
        obj[self.sum_name] = context[self.sum_name] = stored
        if is_strict(context):
            start = stream_tell(stream, path)
            computed = self.checksum(stream.read())
            stream_seek(stream, start, io.SEEK_SET, path)
            if stored != computed:
                text = f"stored {self.label} {stored:#010x}, computed {computed:#010x}"
                raise ChecksumError(text, path=f"{path} -> {self.sum_name}")
        super().read(obj, stream, context, path)

    def write(self, obj: Any, stream: Any, context: Any, path: str) -> None:
        inside = io.BytesIO()
        super().write(obj, inside, context, path)
        data, given = inside.getvalue(), obj.get(self.sum_name)
        stored = self.checksum(data) if given is None else given
        context[self.sum_name] = self.sum._build(stored, stream, context, path)
        stream_write(stream, data, len(data), path)


class Expected(Subconstruct):
    """Integer that must be one of *values*. If *always* is false, only strict parsing checks it.

    Building writes the first value unless another is given.
    """

    def __init__(self, subcon: Any, *values: int, always: bool = True) -> None:
        super().__init__(subcon)
        self.values, self.always = values, always
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        value = self.subcon._parsereport(stream, context, path)
        if value not in self.values and (self.always or is_strict(context)):
            expected = " or ".join(map(str, self.values))
            raise ValidationError(f"{value} found, {expected} expected", path=path)
        return value

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        return self.subcon._build(self.values[0] if obj is None else obj, stream, context, path)


class AtLeast(Subconstruct):
    """Integer of at least *minimum*. Building accepts any value."""

    def __init__(self, minimum: int, subcon: Any) -> None:
        super().__init__(subcon)
        self.minimum = minimum

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        value = self.subcon._parsereport(stream, context, path)
        if value < self.minimum:
            text = f"{value} found, at least {self.minimum} expected"
            raise RangeError(text, path=path)
        return value


def length_of(name: str, integer: Any) -> Any:
    """Return a length field for the bytes *name*; built as -1 for null, unless another is given."""

    def length(context: Any) -> int:
        value = context.get(name)
        return -1 if value is None else len(value)

    return Default(integer, length)


def count_of(name: str, integer: Any) -> Any:
    """Return a count field for the list *name*, whose value can also be given."""
    return Default(integer, lambda context: len(context.get(name) or ()))


class Data(Construct):
    """Bytes whose length is in the field *length*; null if the length is negative."""

    def __init__(self, length: str, *, nullable: bool = True) -> None:
        super().__init__()
        self.length, self.nullable = length, nullable
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> bytes | None:
        length = context[self.length]
        if length < 0 and self.nullable:
            return None
        return read_exactly(stream, length, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if obj is not None:
            stream_write(stream, obj, len(obj), path)
        return obj


class Counted(Subconstruct):
    """List whose length is in the field *count*; each element has at least *min_bytes*.

    A count that the unread bytes cannot contain is an error before the first element is read.
    """

    def __init__(self, count: str, subcon: Any, *, min_bytes: int = 1) -> None:
        super().__init__(subcon)
        self.count, self.min_bytes = count, min_bytes
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        count = context[self.count]
        left = bytes_left(stream, path) if count else 0
        if not 0 <= count * self.min_bytes <= left:
            raise RangeError(f"{self.count} {count}, {left} bytes left", path=path)
        elements = ListContainer()
        for index in range(count):
            context["_index"] = index
            elements.append(self.subcon._parsereport(stream, context, path))
        return elements

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        return build_each(self.subcon, obj or (), stream, context, path)


class ToEnd(Subconstruct):
    """List that extends to the end of the stream. Unlike GreedyRange it hides no errors."""

    def __init__(self, subcon: Any) -> None:
        super().__init__(subcon)
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        elements = ListContainer()
        while bytes_left(stream, path):
            context["_index"] = len(elements)
            elements.append(self.subcon._parsereport(stream, context, path))
        return elements

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        return build_each(self.subcon, obj or (), stream, context, path)


def build_each(subcon: Any, elements: Any, stream: Any, context: Any, path: str) -> Any:
    """Write *elements*, with the index of each in the context as ``_index``."""
    built = ListContainer()
    for index, element in enumerate(elements):
        context["_index"] = index
        built.append(subcon._build(element, stream, context, path))
    return built


class LeftOver(Construct):
    """Bytes that belong to no field: an error in strict parsing, unless *allowed* returns True."""

    def __init__(self, allowed: Callable[[Any], bool] = lambda context: False) -> None:
        super().__init__()
        self.allowed = allowed
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> bytes:
        data: bytes = stream.read()
        if data and is_strict(context) and not self.allowed(context):
            raise TerminatedError(f"{len(data)} bytes left over: {data[:16].hex()}", path=path)
        return data

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        data = obj or b""
        stream_write(stream, data, len(data), path)
        return data


Ignored = LeftOver(lambda context: True)
"""Bytes after the last field, which Kafka ignores; preserved so that they can be built again."""
