"""Every error that magicbyte raises, in one tree.

    MagicbyteError
    ├── InputError           a path or an argument is wrong (also a ValueError or an OSError)
    │   ├── MissingError     a path does not exist, or may not be read
    │   ├── TopicError       a topic is not there
    │   ├── UnreadableError  it exists, and the system does not deliver it or some of its bytes
    │   ├── SchemaError      a schema of keys or values is wrong
    │   │   └── NotColumnarError it is sound, and Arrow has no type for it
    │   ├── ChangedError     the files changed while they were read
    │   │   └── GoneError    a file is gone since it was listed
    │   └── StoreError       a store cannot be reached, or refuses
    ├── FormatError          the bytes do not match the specification
    │   ├── TruncatedError   they end before the structure does
    │   ├── ChecksumError    they were altered after they were written
    │   ├── CodecError       a compressed section does not decompress
    │   └── MessageError     a message of Kafka's protocol is malformed (magicbyte.messages)
    └── LimitError           sound, perhaps, but larger than a limit that you can raise

FormatError, LimitError and UnreadableError carry a Finding: the found and the expected value, and
where. Its ``position`` is a byte of the data that the raising function was given.
"""

import os
from functools import partial
from typing import Any, Self

from magicbyte.findings import Finding


class MagicbyteError(Exception):
    """The base class of every error of magicbyte."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword arguments are not in args: a worker's error would be lost on its way back.
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(
    error_class: type[MagicbyteError], args: tuple[Any, ...], state: dict[str, Any]
) -> Any:
    error = error_class.__new__(error_class, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(MagicbyteError, ValueError):
    """A path or an argument is wrong: it does not exist, or has a value that is not allowed."""

    def __init__(self, found: str, expected: str = "", *, path: str | None = None) -> None:
        super().__init__(found, expected, path)
        self.found = found
        self.expected = expected
        self.path = path

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path is not None else ""
        return f"{where}{self.found}" + (f"; expected {self.expected}" if self.expected else "")


class MissingError(InputError, OSError):
    """A path cannot be opened: it is missing, or may not be read.

    Also an OSError, with ``errno``, because that is what callers of a file reader catch.
    """

    def __init__(self, os_error: OSError, path: str) -> None:
        reason = os.strerror(os_error.errno) if os_error.errno else str(os_error)
        InputError.__init__(self, reason, "a file or folder that can be read", path=path)
        self.errno = os_error.errno

    def __reduce__(self) -> tuple[type["MissingError"], tuple[OSError, str]]:
        cause = OSError(self.errno, self.found) if self.errno else OSError(self.found)
        return MissingError, (cause, self.path or "")


class TopicError(InputError):
    """A topic that was asked for by name is not there."""


class UnreadableError(InputError, OSError):
    """A file exists, and it, or some of its bytes, cannot be read; *finding* says which and why.

    Also an OSError, with ``errno``. Not a MissingError: its content is unknown, so nothing may be
    concluded as if it were absent.
    """

    def __init__(self, finding: Finding, *, errno: int | None = None) -> None:
        InputError.__init__(self, finding.message)
        self.finding = finding
        self.errno = errno

    def __str__(self) -> str:
        return str(self.finding)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(UnreadableError, errno=self.errno), (self.finding,)


class SchemaError(InputError):
    """A schema of keys or values is wrong, or does not fit another one; *where* is the place in the schema.

    Names in schemas may be very long: each part of the message has at most MAX_PART characters.
    """

    MAX_PART = 500

    def __init__(self, found: str, expected: str = "", *, where: str = "") -> None:
        super().__init__(found[: self.MAX_PART], expected[: self.MAX_PART])
        self.where = where[-self.MAX_PART :]

    def __str__(self) -> str:
        return f"{self.where}: {super().__str__()}" if self.where else super().__str__()


class NotColumnarError(SchemaError):
    """A schema is sound, but its values are no Arrow columns: it is recursive, or has too many fields.

    Such values can be decoded as JSON text.
    """


class ChangedError(InputError):
    """A file has changed since the read was planned; read again."""


class GoneError(ChangedError):
    """A file is gone since the read was planned; read again."""


class StoreError(InputError, OSError):
    """An object store cannot be reached, or refuses a request; *found* is the store's message.

    Not a MissingError, because the object may exist. *is_denied*: the credentials are valid, but do
    not permit the request. *is_unreachable*: the store does not answer, or asks for fewer requests,
    after several attempts.
    """

    def __init__(
        self, found: str, *, path: str, is_denied: bool = False, is_unreachable: bool = False
    ) -> None:
        InputError.__init__(self, found, "a store that can be reached and read", path=path)
        self.is_denied = is_denied
        self.is_unreachable = is_unreachable

    def __reduce__(self) -> tuple[Any, ...]:
        restored = partial(
            StoreError,
            path=self.path or "",
            is_denied=self.is_denied,
            is_unreachable=self.is_unreachable,
        )
        return restored, (self.found,)


class _FindingError(MagicbyteError):
    """An error about bytes, which carries the finding that describes it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding)
        self.finding = finding

    def __str__(self) -> str:
        return str(self.finding)

    @property
    def code(self) -> str:
        """The code of the finding, one of ``magicbyte.CODES``."""
        return self.finding.code

    @property
    def message(self) -> str:
        return self.finding.message

    @property
    def position(self) -> int:
        """The byte at which the fault is; 0 if the finding names none."""
        return self.finding.position or 0

    @property
    def field(self) -> str | None:
        """The specification's name of the field that is wrong."""
        return self.finding.field

    @property
    def found(self) -> str | None:
        return self.finding.found

    @property
    def expected(self) -> str | None:
        return self.finding.expected

    @property
    def place(self) -> str | None:
        """Partition, file and byte, in words; None while only the bytes are known."""
        is_named = self.finding.topic is not None or self.finding.file is not None
        return self.finding.where if is_named else None


class FormatError(_FindingError):
    """The bytes do not match the specification."""

    def __str__(self) -> str:
        finding = self.finding
        if self.place is not None or finding.position is None:
            return str(finding)
        return f"{finding.message} (at byte {finding.position})"


class TruncatedError(FormatError):
    """The bytes end before the structure does."""


class ChecksumError(FormatError):
    """The bytes were altered after they were written."""

    @property
    def stored(self) -> int:
        """The checksum that the bytes state."""
        return int(self.finding.found or "0", 16)

    @property
    def computed(self) -> int:
        """The checksum computed from the bytes."""
        return int(self.finding.expected or "0", 16)


class CodecError(FormatError):
    """A compressed section does not decompress."""

    @classmethod
    def of(cls, codec: str, reason: str, *, position: int = 0, code: str = "codec-error") -> Self:
        """Return the error for a section that *codec* cannot decompress from byte *position* on."""
        message = f"{codec}: {reason}"
        return cls(
            Finding(code=code, message=message, position=position, field=codec, found=reason)
        )

    @property
    def codec(self) -> str:
        """Kafka's name of the codec; its number if the codec is unknown."""
        return self.finding.field or ""

    @property
    def reason(self) -> str:
        return self.finding.found or ""


class LimitError(_FindingError):
    """The bytes may be sound, but are larger than a limit that can be raised."""

    @classmethod
    def of(cls, setting: str, claimed: int, *, limit: int, position: int = 0) -> Self:
        """Return the error for *claimed* bytes or more, which exceed the *limit* of *setting*."""
        return cls(
            Finding(
                code="batch-over-limit" if setting == "max_batch_bytes" else "entry-over-limit",
                message=f"{claimed} bytes or more, {setting} allows {limit}; "
                f"raise {setting} to read it",
                position=position,
                field=setting,
                found=str(claimed),
                expected=str(limit),
            )
        )

    @property
    def setting(self) -> str:
        """The name of the limit."""
        return self.finding.field or ""

    @property
    def claimed(self) -> int:
        """Size in bytes that the data states; if it states none, the bytes found so far."""
        return int(self.finding.found or 0)

    @property
    def limit(self) -> int:
        """Bytes that the limit allows."""
        return int(self.finding.expected or 0)

    def __str__(self) -> str:
        return self.message if self.place is None else str(self.finding)


_CLASSES: dict[str, type[FormatError] | type[LimitError]] = {
    "incomplete-entry": TruncatedError,
    "checksum-mismatch": ChecksumError,
    "codec-error": CodecError,
    "unknown-codec": CodecError,
    "codec-not-allowed": CodecError,
    "batch-over-limit": LimitError,
    "entry-over-limit": LimitError,
}
"""The error class of each code; FormatError of all others."""


def error_of(finding: Finding) -> FormatError | LimitError | UnreadableError:
    """Return the error to raise for *finding* if damage is not skipped."""
    if finding.code == "unreadable":
        return UnreadableError(finding)
    return _CLASSES.get(finding.code, FormatError)(finding)
