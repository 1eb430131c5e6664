"""How much a read may spend on one entry."""

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Settable bounds. What exceeds one is `over_limit`, which is not damage.

    Records and headers need none: the bytes that hold them bound them.
    """

    max_batch_bytes: int = 256 * MIB
    """Bytes that one entry may come to when decompressed."""

    max_entry_bytes: int = 1024 * MIB
    """Bytes of one entry as it is stored, its 12 leading bytes included."""

    def __post_init__(self) -> None:
        for name in ("max_batch_bytes", "max_entry_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; expected at least 1")
