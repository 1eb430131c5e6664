"""Frames of a segment's entries; an error is raised as the exception that ends kafka-dump-log."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from magicbyte.engines.entry import LEAST_SIZE, Entry
from magicbyte.errors import FormatError, LimitError
from magicbyte.limits import Limits
from magicbyte.logdir import frames as kafka
from magicbyte.logdir.frames import Frame
from magicbyte.storage import UnreadableBytes, open_segment
from magicbyte_cli.dump_log import ToolError, UnreadableToolError
from magicbyte_formats.wire import EntryHeader, RecordBatchHeader

LIMITS = Limits()

Value = TypeVar("Value")


def tool_error(frame: Frame, message: str, line_start: str = "") -> ToolError:
    """Return the exception with which kafka-dump-log ends in *frame*."""
    return ToolError(f"byte {frame.position}: {message}", line_start, position=frame.position)


def entry_of(frame: Frame) -> Entry:
    """Return the header of *frame*; ToolError if it is invalid."""
    return _read(frame, Frame.entry)


def batch_of(frame: Frame) -> RecordBatchHeader:
    """Return the header of the v2 batch in *frame*; ToolError if it is invalid."""
    return _read(frame, Frame.batch)


def last_offset_of(frame: Frame) -> int:
    """Return the last offset in *frame*; ToolError if the header is invalid."""
    return _read(frame, lambda frame: frame.last_offset)


def _read(frame: Frame, read: Callable[[Frame], Value]) -> Value:
    try:
        return read(frame)
    except FormatError as error:
        raise tool_error(frame, error.message) from error


def frames(path: Path, *, begin: int = 0, end: int | None = None) -> Iterator[Frame]:
    """Yield the complete entries between bytes *begin* and *end* of a file.

    Raises ToolError if a size is too small or exceeds `max_entry_bytes`, UnreadableToolError at an
    entry that cannot be read.
    """
    with open_segment(str(path)) as file:
        position = begin
        try:
            for frame in kafka.frames(file, begin=begin, end=end, limits=LIMITS):
                if file.unreadable is not None:
                    _check_readable(file.unreadable, frame.position, frame.end)
                yield frame
                position = frame.end
        except FormatError as error:
            if file.unreadable is not None:
                _check_readable(file.unreadable, position, position + EntryHeader.SIZE)
            message = (
                f"Found record size {error.found} smaller than minimum record overhead "
                f"({LEAST_SIZE}) in file {path.name}"
            )
            raise ToolError(message, position=position) from error
        except LimitError as error:
            message = f"byte {position} of {path.name}: {error}"
            raise ToolError(message, position=position) from error
        if file.unreadable is not None:
            _check_readable(file.unreadable, position, position + EntryHeader.SIZE)


def _check_readable(unreadable: UnreadableBytes, start: int, end: int) -> None:
    """Raise UnreadableToolError if bytes of the entry in [start, end) cannot be read."""
    for part in unreadable.between(start, end):
        raise UnreadableToolError(str(unreadable.finding(part)), position=start)
