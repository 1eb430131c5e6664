"""Limits on the memory that one entry may take."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on the size of a batch or message. Exceeding one is not damage.

    An entry that exceeds a limit has the disposition `over_limit`; with `on_damage="fail"` it
    raises LimitError. Records and headers have no limits: the size of their entry bounds them.

    Attributes:
        max_batch_bytes: Bytes of the decompressed payload of one batch or message.
            Default: 256 MiB.
        max_entry_bytes: Bytes of one batch or message in the file, the 12 bytes of its offset
            and size included. Default: 1 GiB.
    Raises:
        ValueError: A limit is below 1.
    Example:
        >>> mb.Limits(max_batch_bytes=16 << 20).max_batch_bytes
        16777216
    """

    max_batch_bytes: int = 256 * MIB
    max_entry_bytes: int = 1024 * MIB

    def __post_init__(self) -> None:
        for name in ("max_batch_bytes", "max_entry_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at least 1")


DEFAULT_LIMITS = Limits()
