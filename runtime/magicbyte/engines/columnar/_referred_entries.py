"""Entries of a run that the reference engine looks at: those that kernels refuse, and some with findings."""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from magicbyte.engines._record_rows import RecordStop
from magicbyte.engines.columnar._output import joined
from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.engines.protocol import Chunk, DecodedEntry
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import CodecError
from magicbyte.limits import Limits


@dataclass(slots=True, eq=False)
class ReferredEntries:
    """Entries of *chunk* that kernels have referred to the reference engine, by number."""

    reference: ReferenceEngine
    chunk: Chunk
    columns: tuple[str, ...]
    limits: Limits
    decoded: dict[int, tuple[pa.RecordBatch, DecodedEntry]] = field(default_factory=dict)
    """Rows and results of the entries that the reference engine has decoded."""
    ends_with_findings: dict[int, RecordStop] = field(default_factory=dict)
    """The ends of the batches that a kernel has decoded, and that may have findings."""

    def decode(
        self,
        n: int,
        entry: Entry,
        stop: RecordStop | None,
        known_payload: memoryview | CodecError | None,
    ) -> int:
        """Decode *entry*, which has number *n*; return the size of its rows in bytes.

        With a *stop*, at which a kernel has found a fault, only the record there is decoded. *known_payload* is
        the decompressed payload, or the reason why there is none, if that is known.
        """
        data = self.chunk.bytes_of(entry)
        rows, result = self._decode(data, entry, stop, known_payload)
        if stop is not None and result.is_sound:
            # The reference engine decides.
            rows, result = self._decode(data, entry, None, known_payload)
        self.decoded[n] = rows, result
        return int(rows.nbytes)

    def _decode(
        self,
        data: memoryview,
        entry: Entry,
        stop: RecordStop | None,
        known_payload: memoryview | CodecError | None = None,
    ) -> tuple[pa.RecordBatch, DecodedEntry]:
        return self.reference.decode_entry(
            data, entry, self.columns, self.limits, stop=stop, known_payload=known_payload
        )

    def results_of_ends(self, entries: Entries) -> dict[int, DecodedEntry]:
        """Return the results of the batches in `ends_with_findings`; one that is invalid is moved to `decoded`."""
        results: dict[int, DecodedEntry] = {}
        for n, end in self.ends_with_findings.items():
            entry = entries[n]
            rows, result = self._decode(self.chunk.bytes_of(entry), entry, end)
            if result.is_sound:
                result.num_rows = end.record_index
                results[n] = result
            else:
                self.decoded[n] = rows, result
        return results

    def inserted_into(self, rows: pa.RecordBatch, kernel_rows: Numbers) -> pa.RecordBatch:
        """Return *rows*, *kernel_rows* per entry, with the rows of `decoded` inserted."""
        ends = np.cumsum(kernel_rows)
        parts, position = [], 0
        for n in sorted(self.decoded):
            begin, end = int(ends[n] - kernel_rows[n]), int(ends[n])
            parts += [rows.slice(position, begin - position), self.decoded[n][0]]
            position = end
        return joined([*parts, rows.slice(position)])
