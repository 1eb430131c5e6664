"""Entries of a segment, and the exceptions that the tool meets in them."""

from collections.abc import Iterator
from pathlib import Path

from magicbyte.engines.entry import LEAST_SIZE, Entry
from magicbyte.errors import FormatError, LimitError
from magicbyte.limits import Limits
from magicbyte.logdir import frames as kafka
from magicbyte.logdir.frames import Frame
from magicbyte.storage import open_file
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_formats.wire import RecordBatchHeader

LIMITS = Limits()


def end_error(frame: Frame, message: str, begun: str = "") -> EndError:
    """Return the exception that the tool meets in *frame*."""
    return EndError(f"byte {frame.position}: {message}", begun, position=frame.position)


def entry_of(frame: Frame) -> Entry:
    """Return the header of *frame*. Raises EndError where it is none."""
    try:
        return frame.entry()
    except FormatError as error:
        raise end_error(frame, error.message) from error


def batch_of(frame: Frame) -> RecordBatchHeader:
    """Return the header of a batch. Raises EndError where it is none."""
    try:
        return frame.batch()
    except FormatError as error:
        raise end_error(frame, error.message) from error


def last_offset_of(frame: Frame) -> int:
    """Return the last offset in *frame*. Raises EndError where it is no entry."""
    try:
        return frame.last_offset
    except FormatError as error:
        raise end_error(frame, error.message) from error


def frames(path: Path, *, begin: int = 0, end: int | None = None) -> Iterator[Frame]:
    """Yield what lies between *begin* and *end* of the file *path*, up to what is not whole.

    Raises EndError where a size is too small, or the entry is larger than `max_entry_bytes`.
    """
    with open_file(str(path)) as file:
        position = begin
        try:
            for frame in kafka.frames(file, begin=begin, end=end, limits=LIMITS):
                yield frame
                position = frame.end
        except FormatError as error:
            message = (
                f"Found record size {error.found} smaller than minimum record overhead "
                f"({LEAST_SIZE}) in file {path.name}"
            )
            raise EndError(message, position=position) from error
        except LimitError as error:
            message = f"byte {position} of {path.name}: {error}"
            raise EndError(message, position=position) from error
