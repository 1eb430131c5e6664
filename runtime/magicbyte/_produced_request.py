"""The bytes of a produce request, in memory or in a file, and the findings about them."""

from collections import Counter
from dataclasses import dataclass, field, replace

from magicbyte.engines.entry import HEADER_BYTES, Entry, cut_entry, read_entry
from magicbyte.engines.protocol import DecodedEntry
from magicbyte.errors import FormatError, TruncatedError
from magicbyte.findings import Finding
from magicbyte.limits import MIB
from magicbyte.storage import File

CHUNK = 4 * MIB
"""Bytes of a file that are read at a time; only a larger entry takes more."""


class RequestInMemory:
    """The bytes of a request in memory."""

    def __init__(self, view: memoryview) -> None:
        self.size_bytes, self._view = len(view), view

    def read(self, position: int, length: int) -> memoryview:
        """Return up to *length* bytes from *position*, fewer at the end."""
        return self._view[position : position + length]


class RequestInFile:
    """The bytes of a request in a file; a chunk or an entry is in memory at a time."""

    def __init__(self, file: File) -> None:
        self.size_bytes, self._file = file.size_bytes, file
        self._chunk, self._origin = memoryview(b""), 0

    def read(self, position: int, length: int) -> memoryview:
        """Return up to *length* bytes from *position*, fewer at the end.

        Raises UnreadableError if they cannot be read.
        """
        length = min(length, self.size_bytes - position)
        begin = position - self._origin
        if begin + length > len(self._chunk):
            self._chunk = memoryview(b"")  # frees it before more is read
            wanted = min(max(length, CHUNK), self.size_bytes - position)
            self._chunk = memoryview(self._file.read_at(position, wanted))
            self._origin, begin = position, 0
        return self._chunk[begin : begin + length]


def entry_at(request: RequestInMemory | RequestInFile, position: int) -> Entry:
    """Return the header of the entry at *position*; FormatError if no whole entry is there."""
    try:
        entry = read_entry(request.read(position, HEADER_BYTES), 0, origin=position)
    except FormatError as error:
        raise type(error)(replace(error.finding, position=position)) from error
    if entry.end > request.size_bytes:
        left = request.size_bytes - position
        raise TruncatedError(cut_entry(position, left, entry.size_bytes))
    return entry


@dataclass(slots=True)
class RequestFindings:
    """The first finding of each code in a request, and the number of further ones."""

    by_code: dict[str, tuple[Finding, int]] = field(default_factory=dict)
    """The first finding of each code, with the number of further ones in its entry."""
    more_in_others: Counter[str] = field(default_factory=Counter)

    def add(self, finding: Finding, more: int = 0) -> None:
        """Add *finding*, and *more* of its code in the same entry."""
        code = finding.code
        if code not in self.by_code:
            self.by_code[code] = finding, more
        else:
            self.more_in_others[code] += 1 + more

    def add_entry(self, result: DecodedEntry) -> None:
        for finding in result.findings:
            self.add(finding, result.repeats(finding.code))

    def counted(self) -> list[Finding]:
        """Return the findings; the message of each says how many more of its code there are."""
        return [
            replace(finding, message=finding.message + self._rest(finding.code, more))
            for finding, more in self.by_code.values()
        ]

    def _rest(self, code: str, more: int) -> str:
        in_others = self.more_in_others[code]
        if in_others:
            return f"; {more + in_others} more in this request"
        return f"; {more} more in this entry" if more else ""
