"""What entries of each format and codec come to."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import distinct
from magicbyte_formats.wire import CODEC_NAMES, RecordBatchHeader

Kind = tuple[int, int]
"""Magic and codec."""


@dataclass(slots=True)
class Content:
    """The entries of one format and codec."""

    entry_count: int = 0
    record_count: int | None = 0
    """None where only payloads tell, and these were not read."""
    stored_bytes: int = 0
    plain_bytes: int | None = 0
    """What the entries would take without a codec; None as above."""

    def add(self, other: "Content") -> None:
        self.entry_count += other.entry_count
        self.record_count = plus(self.record_count, other.record_count)
        self.stored_bytes += other.stored_bytes
        self.plain_bytes = plus(self.plain_bytes, other.plain_bytes)


class Contents:
    """Entries by format and codec."""

    def __init__(self) -> None:
        self._of: dict[Kind, Content] = {}

    def take(
        self,
        magics: Numbers,
        codecs: Numbers,
        *,
        sizes: Numbers,
        num_records: Numbers,
        decompressed: Numbers | None,
    ) -> None:
        """Count entries; *decompressed* are bytes of their payloads, None where these were not read.

        Then *num_records* says nothing of wrappers.
        """
        num_codecs = int(codecs.max(initial=0)) + 1
        numbers, which = distinct(magics * num_codecs + codecs)
        for place, number in enumerate(numbers):
            magic, codec = divmod(number, num_codecs)
            is_it = which == place
            stored = int(sizes[is_it].sum())
            is_told = decompressed is not None or not codec
            content = Content(
                int(np.count_nonzero(is_it)),
                int(num_records[is_it].sum()) if is_told or magic == 2 else None,
                stored,
                None if not is_told else stored,
            )
            if codec and decompressed is not None:
                # Without its codec a batch has the same header, and a wrapper is not there at all.
                header = RecordBatchHeader.SIZE * content.entry_count if magic == 2 else 0
                content.plain_bytes = header + int(decompressed[is_it].sum())
            self._content(magic, codec).add(content)

    def add(self, other: "Contents") -> None:
        """Count all that *other* has counted."""
        for kind, content in other._of.items():
            self._content(*kind).add(content)

    @property
    def together(self) -> Content:
        """Return all of them as one."""
        whole = Content()
        for content in self._of.values():
            whole.add(content)
        return whole

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each format and codec there is."""
        return [
            {
                "magic": magic,
                "codec": CODEC_NAMES.get(codec),
                "entry_count": content.entry_count,
                "record_count": content.record_count,
                "stored_bytes": content.stored_bytes,
                "plain_bytes": content.plain_bytes,
            }
            for (magic, codec), content in sorted(self._of.items())
        ]

    def _content(self, magic: int, codec: int) -> Content:
        return self._of.setdefault((magic, codec), Content())


def plus(one: int | None, other: int | None) -> int | None:
    """Return the sum; None where either is not known."""
    return None if one is None or other is None else one + other
