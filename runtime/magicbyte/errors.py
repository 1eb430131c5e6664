"""Every error that magicbyte raises, in one tree.

    MagicbyteError
    ├── InputError           the path is not what was promised (also a ValueError or an OSError)
    │   ├── ChangedError     the files changed while they were read
    │   └── StoreError       a store cannot be reached, or refuses
    ├── FormatError          the bytes are not what the specification says
    │   ├── TruncatedError   they end before the structure does
    │   ├── ChecksumError    they were altered after they were written
    │   ├── CodecError       a compressed section does not decompress
    │   └── MessageError     a message of Kafka's protocol is none (magicbyte.messages)
    └── LimitError           sound, perhaps, but larger than a limit that you can raise

Each carries what was found, what was expected and where as attributes. ``position`` is a byte
of what the raising function was given; the caller adds where that begins.
"""

import os
from functools import partial
from typing import Any


class MagicbyteError(Exception):
    """The base of all of ours."""

    place: str | None = None
    """Where in a log it is, in words; None while only the bytes are known."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Keyword arguments are not in args: a worker's error would be lost on its way back.
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[MagicbyteError], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(MagicbyteError, ValueError):
    """A path or an argument is not what was promised."""

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

    def __init__(self, error: OSError, path: str) -> None:
        reason = os.strerror(error.errno) if error.errno else str(error)
        InputError.__init__(self, reason, "a file or folder that can be read", path=path)
        self.errno = error.errno

    def __reduce__(self) -> tuple[type["MissingError"], tuple[OSError, str]]:
        cause = OSError(self.errno, self.found) if self.errno else OSError(self.found)
        return MissingError, (cause, self.path or "")


class ChangedError(InputError):
    """A file is no longer what it was when the read was planned; read again."""


class StoreError(InputError, OSError):
    """A store of objects cannot be reached, or refuses; *found* is what it, or the network, said.

    Not a MissingError: what cannot be asked for may be there. *is_denied* says that who
    asks is known, and may not.
    """

    def __init__(self, found: str, *, path: str, is_denied: bool = False) -> None:
        InputError.__init__(self, found, "a store that can be reached and read", path=path)
        self.is_denied = is_denied

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(StoreError, path=self.path or "", is_denied=self.is_denied), (self.found,)


class FormatError(MagicbyteError):
    """The bytes are not what the specification says.

    *code* is the finding that the error becomes (``magicbyte.findings``), *field* the
    specification's name of what is wrong.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        position: int = 0,
        field: str | None = None,
        found: object = None,
        expected: object = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.position = position
        self.field = field
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        if self.place is not None:
            return f"{self.place}: {self.message}"
        return f"{self.message} (at byte {self.position})"


class TruncatedError(FormatError):
    """The bytes end before the structure does."""


class ChecksumError(FormatError):
    """The bytes were altered after they were written."""

    def __init__(
        self,
        *,
        position: int,
        stored: int,
        computed: int,
        algorithm: str = "CRC-32C",
        code: str = "checksum-mismatch",
    ) -> None:
        super().__init__(
            f"stored {algorithm} {stored:#010x}, computed {computed:#010x}",
            code=code,
            position=position,
            field="crc",
            found=f"{stored:#010x}",
            expected=f"{computed:#010x}",
        )
        self.stored = stored
        self.computed = computed


class CodecError(FormatError):
    """A compressed section does not decompress."""

    def __init__(
        self, codec: str, reason: str, *, position: int = 0, code: str = "codec-error"
    ) -> None:
        super().__init__(f"{codec}: {reason}", code=code, position=position, found=reason)
        self.codec = codec
        self.reason = reason


class LimitError(MagicbyteError):
    """Sound, perhaps, but larger than a limit that you can raise.

    *claimed* is what the bytes claim, or the least they would come to where they claim nothing.
    """

    def __init__(self, setting: str, claimed: int, *, limit: int, position: int = 0) -> None:
        super().__init__(setting, claimed, limit)
        self.setting = setting
        self.claimed = claimed
        self.limit = limit
        self.position = position

    def __str__(self) -> str:
        return (
            (f"{self.place}: " if self.place is not None else "")
            + f"{self.claimed} bytes or more, {self.setting} allows {self.limit}; "
            f"raise {self.setting} to read it"
        )
