"""Files of entries of one size and nothing else: Kafka's indexes (AbstractIndex)."""

import io
from typing import Any

from construct import Construct, Container, ListContainer, TerminatedError
from construct.core import stream_write

from magicbyte_construct.fields import build_each, is_strict


class Table(Construct):  # type: ignore[misc]
    """``entries``, then ``zero_tail`` where slots are preallocated, and ``trailing``.

    Bytes that are neither are an error if strict, else ``trailing``. *ends* says of an entry
    that is not the first whether Kafka takes it for the end of what was written.
    """

    def __init__(self, entry: Any, *, preallocated: bool = False, ends: Any = None) -> None:
        super().__init__()
        self.entry, self.size = entry, entry.sizeof()
        self.preallocated, self.ends = preallocated, ends
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        data: bytes = stream.read()
        used = len(data.rstrip(b"\0")) if self.preallocated else len(data)
        # The last entry may end in zeros of its own. A file that is no multiple of an entry is
        # corrupt to Kafka, whatever the odd bytes are.
        used = min(-(-used // self.size), len(data) // self.size) * self.size
        entries, inside = ListContainer(), io.BytesIO(data[:used])
        while inside.tell() < used:
            entry = self.entry._parsereport(inside, context, path)
            if entries and self.ends is not None and self.ends(entry):
                used = len(entries) * self.size
                break
            entries.append(entry)
        whole = len(data) - len(data) % self.size
        zeros = whole if data.count(0, used, whole) == whole - used else used
        obj = Container(entries=entries)
        if self.preallocated:
            obj["zero_tail"] = data[used:zeros]
        obj["trailing"] = data[zeros:]
        if obj["trailing"] and is_strict(context):
            text = f"{len(obj['trailing'])} bytes from byte {zeros} on are no entry of {self.size}"
            raise TerminatedError(text, path=path)
        return obj

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        given = obj or {}
        build_each(self.entry, given.get("entries") or (), stream, context, path)
        for name in ("zero_tail", "trailing"):
            tail = given.get(name) or b""
            stream_write(stream, tail, len(tail), path)
        return obj
