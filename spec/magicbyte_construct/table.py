"""Files of entries of a fixed size: Kafka's indexes (AbstractIndex)."""

import io
from typing import Any

from construct import Construct, Container, ListContainer, TerminatedError
from construct.core import stream_write

from magicbyte_construct.fields import build_each, is_strict


class EntryFile(Construct):
    """File of ``entries``, then ``zero_tail`` if slots are preallocated, and ``trailing``.

    Other bytes after the entries are ``trailing``, which is an error in strict parsing, as are zeros
    that do not fill a slot. *ends* returns whether Kafka takes an entry, other than the first, for
    the end of the written entries; only zeros may follow it.
    """

    def __init__(self, entry: Any, *, preallocated: bool = False, ends: Any = None) -> None:
        super().__init__()
        self.entry, self.size = entry, entry.sizeof()
        self.preallocated, self.ends = preallocated, ends
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        data: bytes = stream.read()
        whole = len(data) - len(data) % self.size
        strict, unused = is_strict(context), bytes(self.size) if self.preallocated else None
        entries, inside, used = ListContainer(), io.BytesIO(data), 0
        while used < whole and data[used : used + self.size] != unused:
            entry = self.entry._parsereport(inside, context, path)
            if strict and entries and self.ends is not None and self.ends(entry):
                break
            entries.append(entry)
            used += self.size
        tail = data[used:]
        obj = Container(entries=entries)
        if self.preallocated:
            obj["zero_tail"] = tail if tail.count(0) == len(tail) else b""
        obj["trailing"] = b"" if obj.get("zero_tail") else tail
        # Kafka considers a file corrupt if its size is not a multiple of the entry size.
        wrong = obj["trailing"] or data[whole:]
        if wrong and strict:
            text = f"{len(wrong)} bytes from byte {len(data) - len(wrong)} on"
            raise TerminatedError(f"{text} are not entries of {self.size} bytes", path=path)
        return obj

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        given = obj or {}
        build_each(self.entry, given.get("entries") or (), stream, context, path)
        for name in ("zero_tail", "trailing"):
            tail = given.get(name) or b""
            stream_write(stream, tail, len(tail), path)
        return obj
