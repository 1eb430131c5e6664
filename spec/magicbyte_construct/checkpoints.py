"""Checkpoint files, which are text: a version, a count, a line per entry (CheckpointFile).

Numbers, blanks and line ends are built as a broker writes them. If a file has another form that
Kafka can read, such as one from an editor, its bytes are in ``stored``, and are built again unless
a field was changed.
"""

import re
from typing import Any

from construct import (
    Construct,
    Container,
    IntegerError,
    ListContainer,
    RangeError,
    StringError,
    ValidationError,
)
from construct.core import stream_write

from magicbyte_construct.fields import is_strict

VERSION = 0
"""Version of every checkpoint file so far."""

NUMBER = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
BLANKS = re.compile(r"[ \t\v\f]+")
ENDS = re.compile(r"\r\n|\r|\n")


class Checkpoint(Construct):
    """File with ``version``, ``num_entries``, and ``entries`` that consist of *fields*.

    *fields* maps a name to the bits of an integer, or to None for text. If the file ends early, as
    an empty one does, Kafka reads no entries: ``version`` or ``num_entries`` is then None, and
    building ends there too.
    """

    def __init__(self, **fields: int | None) -> None:
        super().__init__()
        self.fields = fields
        self.flagbuildnone = True

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        data = stream.read()
        checkpoint = self.read(data, context, path)
        if self.text(checkpoint) != data:
            checkpoint["stored"] = data
        return checkpoint

    def read(self, data: bytes, context: Any, path: str) -> Any:
        """Return the fields of the checkpoint file *data*."""
        checkpoint = Container(version=None, num_entries=None, entries=ListContainer())
        lines = iter(lines_of(data, path))
        for name in ("version", "num_entries"):
            line = next(lines, None)
            if line is None:
                return checkpoint
            checkpoint[name] = integer(line, 32, f"{path} -> {name}")
            if name == "version" and checkpoint[name] != VERSION:
                text = f"version {checkpoint[name]} found, {VERSION} expected"
                raise ValidationError(text, path=path)
        checkpoint["entries"].extend(self.entry(line, path) for line in lines)
        announced, found = checkpoint["num_entries"], len(checkpoint["entries"])
        if announced > found or (announced != found and is_strict(context)):
            raise RangeError(f"num_entries {announced}, {found} lines", path=path)
        return checkpoint

    def entry(self, line: str, path: str) -> Any:
        """Return the fields of the entry in *line*."""
        words = BLANKS.split(line.rstrip(" \t\v\f"))
        if len(words) != len(self.fields):
            text = f"{line[:80]!r}: expected {len(self.fields)} fields: {', '.join(self.fields)}"
            raise StringError(text, path=path)
        return Container(
            (name, word if bits is None else integer(word, bits, f"{path} -> {name}"))
            for (name, bits), word in zip(self.fields.items(), words, strict=True)
        )

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        given = dict(obj or {})
        stored = given.pop("stored", None)
        data = self.text(given)
        if stored is not None and self.text(self.read(stored, context, path)) == data:
            data = stored
        stream_write(stream, data, len(data), path)
        return obj

    def text(self, given: Any) -> bytes:
        """Return the text of a checkpoint file with the fields *given*, as a broker writes it."""
        entries = given.get("entries") or ()
        lines = [given.get("version", VERSION), given.get("num_entries", len(entries))]
        if None in lines:
            lines = lines[: lines.index(None)]
        else:
            lines += [" ".join(str(entry[name]) for name in self.fields) for entry in entries]
        return "".join(f"{line}\n" for line in lines).encode()


def lines_of(data: bytes, path: str) -> list[str]:
    """Return the lines of *data*. The last one need not have a line end."""
    try:
        lines = ENDS.split(data.decode())
    except UnicodeDecodeError as error:
        raise StringError(f"not UTF-8 at byte {error.start}", path=path) from error
    return lines if lines[-1] else lines[:-1]


def integer(text: str, bits: int, path: str) -> int:
    """Return the number in *text*. Raises IntegerError if it is not a number or has over *bits* bits."""
    if not NUMBER.fullmatch(text) or not -(1 << (bits - 1)) <= int(text) < 1 << (bits - 1):
        raise IntegerError(f"{text[:80]!r} is not an integer of {bits} bits", path=path)
    return int(text)


OffsetCheckpoint = Checkpoint(topic=None, partition=32, offset=64)
"""Offsets of the partitions of a log directory: high watermarks, recovery points or log starts."""

LeaderEpochCheckpoint = Checkpoint(epoch=32, start_offset=64)
"""Start offset of each leader epoch of a partition."""
