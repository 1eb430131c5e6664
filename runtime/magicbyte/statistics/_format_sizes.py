"""Sizes and numbers of batches and messages, by format and codec."""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.statistics.plain_sizes import plain_sizes
from magicbyte.tables.arrays import distinct
from magicbyte_formats.wire import CODEC_NAMES

Kind = tuple[int, int]
"""Magic and codec."""


@dataclass(slots=True)
class FormatSizes:
    """Totals of the batches or messages of one format and codec."""

    entry_count: int = 0
    record_count: int | None = 0
    """Number of records; None if only payloads have it, and payloads were not read."""
    stored_bytes: int = 0
    plain_bytes: int | None = 0
    """Bytes of the same entries without compression; None if payloads were not read."""

    def add(self, other: Self) -> None:
        self.entry_count += other.entry_count
        self.record_count = plus(self.record_count, other.record_count)
        self.stored_bytes += other.stored_bytes
        self.plain_bytes = plus(self.plain_bytes, other.plain_bytes)


class SizesByFormat:
    """Totals of batches and messages by format and codec."""

    def __init__(self) -> None:
        self._sizes: dict[Kind, FormatSizes] = {}

    def count(
        self,
        magics: Numbers,
        codecs: Numbers,
        *,
        sizes: Numbers,
        num_records: Numbers,
        decompressed: Numbers | None,
    ) -> None:
        """Count entries; *decompressed* are bytes of their payloads, None if these were not read.

        Without payloads, *num_records* is wrong for wrapper messages.
        """
        plain = None
        if decompressed is not None:
            plain = plain_sizes(magics, codecs, sizes, decompressed)
        num_codecs = int(codecs.max(initial=0)) + 1
        numbers, which = distinct(magics * num_codecs + codecs)
        for index, number in enumerate(numbers):
            magic, codec = divmod(number, num_codecs)
            is_kind = which == index
            stored = int(sizes[is_kind].sum())
            is_known = decompressed is not None or not codec
            sizes_of_kind = FormatSizes(
                int(np.count_nonzero(is_kind)),
                int(num_records[is_kind].sum()) if is_known or magic == 2 else None,
                stored,
                None if not is_known else stored,
            )
            if plain is not None:
                sizes_of_kind.plain_bytes = int(plain[is_kind].sum())
            self._sizes_of(magic, codec).add(sizes_of_kind)

    def add(self, other: Self) -> None:
        """Add the totals of *other*."""
        for kind, sizes in other._sizes.items():
            self._sizes_of(*kind).add(sizes)

    @property
    def total(self) -> FormatSizes:
        """Total over all formats and codecs."""
        total = FormatSizes()
        for sizes in self._sizes.values():
            total.add(sizes)
        return total

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each format and codec that occurs."""
        return [
            {"magic": magic, "codec": CODEC_NAMES.get(codec), **asdict(sizes)}
            for (magic, codec), sizes in sorted(self._sizes.items())
        ]

    def _sizes_of(self, magic: int, codec: int) -> FormatSizes:
        return self._sizes.setdefault((magic, codec), FormatSizes())


def plus(left: int | None, right: int | None) -> int | None:
    """Return the sum of two numbers; None if either is None, that is, unknown."""
    return None if left is None or right is None else left + right
