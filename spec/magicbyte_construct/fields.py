"""What construct lacks for Kafka: fields behind a size and a checksum, and nulls, in one container.

construct's Prefixed and Checksum nest what they enclose, and read what a length claims before
they look whether it is there. Here the fields of an entry stay side by side, as Kafka's
documentation lists them; what building can work out may be given all the same, right or wrong.
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
"""As much as can be asked for without a look at what is there."""


def is_strict(context: Any) -> bool:
    """Return whether more than the grammar is to be checked: ``parse(data, strict=False)``."""
    return bool(context["_params"].get("strict", True))


def bytes_left(stream: Any, path: str) -> int:
    """Return how many bytes *stream* still holds."""
    position = stream_tell(stream, path)
    end = stream_seek(stream, 0, io.SEEK_END, path)
    stream_seek(stream, position, io.SEEK_SET, path)
    return int(end - position)


def read_exactly(stream: Any, length: int, path: str) -> bytes:
    """Return *length* bytes, and make room for no more than there are."""
    # A file makes room for what it is asked for, a BytesIO only for what it has. To look what is
    # left costs more than most reads.
    if length > CHEAP_BYTES and length > (left := bytes_left(stream, path)):
        raise StreamError(f"{length} bytes wanted, {left} left", path=path)
    data: bytes = stream_read(stream, length, path)
    return data


class Fields(Construct):
    """A Struct whose value holds its fields alone, those of a Sized or Sealed among them."""

    def __init__(self, *subcons: Any) -> None:
        super().__init__()
        self.subcons = subcons
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        obj, inner = Container(), nested(context)
        self.read(obj, stream, inner, path)
        return obj

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if not isinstance(obj, dict | None):
            raise ConstructError(f"{obj!r} has no fields", path=path)
        given, inner = obj or {}, nested(context)
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
        """Write the fields of *obj*; what was worked out is found in *context*."""
        for subcon in self.subcons:
            if isinstance(subcon, Fields):
                subcon.write(obj, stream, context, path)
            else:
                value = obj.get(subcon.name)
                if value is None and not subcon.flagbuildnone:
                    raise ConstructError(f"{subcon.name} is missing", path=path)
                context[subcon.name] = subcon._build(value, stream, context, path)


def nested(context: Any) -> Any:
    """Return a context for the fields of one container."""
    return Container(_=context, _params=context["_params"], _index=context.get("_index"))


class Sized(Fields):
    """Fields that fill the bytes counted by the one before them, here called *name*.

    A size below *minimum* is an error, as is one that runs past the end.
    """

    def __init__(self, name: str, size: Any, *subcons: Any, minimum: int = 0) -> None:
        super().__init__(*subcons)
        self.size, self.size_name, self.minimum = name / size, name, minimum

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
    """Fields that fill the rest of the stream behind their checksum, the field *name*."""

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
    """One of *values*, else an error, unless *always* is false and parsing not strict.

    Building writes the first unless told otherwise.
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
    """An integer not below *minimum*, else an error; anything can be built."""

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
    """Return the length of the bytes *name*: -1 for null, unless another is given to build."""

    def length(context: Any) -> int:
        value = context.get(name)
        return -1 if value is None else len(value)

    return Default(integer, length)


def count_of(name: str, integer: Any) -> Any:
    """Return the number of elements of *name*, unless another is given to build."""
    return Default(integer, lambda context: len(context.get(name) or ()))


class Data(Construct):
    """The bytes whose length the field *length* gives; null where that is negative."""

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
    """The elements that the field *count* announces, each of *min_bytes* at least.

    A count that the bytes left cannot hold is an error before the first element is read.
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
    """Elements up to the end of the stream; unlike GreedyRange it hides no error of any."""

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
    """Write *elements*, each of which finds its number in the context as ``_index``."""
    built = ListContainer()
    for index, element in enumerate(elements):
        context["_index"] = index
        built.append(subcon._build(element, stream, context, path))
    return built


class LeftOver(Construct):
    """The bytes that no field accounts for: an error if strict, unless *allowed*."""

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
"""Bytes behind the last field that Kafka's reader does not look at; kept, so as to build them."""
