"""Builds test vectors of v2 batches around given compressed records, valid or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import EntryPart, Rec, bad, batch, payload, rec
from magicbyte_tools.vectors.log_case import between, either, invalid, valid

RECORDS = rec(1, b"first"), rec(2, b"second"), rec(3, b"third")
PLAIN = payload(*RECORDS)
HALF = len(PLAIN) // 2

# Five records, compressed in REALLY by zlib, snappy, lz4 and zstd of 2026 at default levels.
AGAIN = tuple(
    rec(
        number,
        b"the same words again, the same words again, %d" % number,
        headers=[(b"trace", b"0123456789abcdef")],
    )
    for number in range(1, 6)
)
REALLY = {
    "gzip": "1f8b08000000000000039bc5c8c0c0c0969d5a19559291aa509c989baa509e5f9452ac90989e9899a7a3"
    "805dd49089aba428313955c1c0d0c8d8c4d4ccdcc23231293925356d1623031313c9c619e1318e858564e38cf1"
    "18c7c646b27126788ce3e020d938535cc601005974a1b08b010000",
    "snappy": "8b037c9a01000000066b65795a7468652073616d6520776f72647320616761696e2c20561600783102"
    "0a747261636520303132333435363738396162636465669a0100020206be4f0000326a4f00040404c24f000033"
    "6a4f00040606c24f0000346a4f00040808c24f0000355e4f00",
    "lz4": "ff119a01000000066b65795a7468652073616d6520776f72647320616761696e2c20160003ff0f31020a"
    "747261636520303132333435363738396162636465669a010002024f001e1f324f00082f04044f001e1f334f00"
    "082f06064f001e1f344f00082f08084f001e1f354f0000506263646566",
    "zstd": "28b52ffd04000d030084049a01000000066b65795a7468652073616d6520776f72647320616761696e2c"
    "2031020a747261636520303132333435363738396162636465669a010002023204043306063408083509000014"
    "820841c8045103a11044082153294419a94c3234c08c55",
}
"""Records that real libraries compressed, in hex; lz4 is a bare block, zstd has a checksum."""


def of(codec: int, section: bytes, records: Sequence[Rec] = RECORDS) -> EntryPart:
    """Return a v2 batch with the header of *records* and the compressed bytes *section*."""
    return batch(*records, codec=codec, section=section)


@dataclass(frozen=True, slots=True)
class CodecCases:
    """Builds the test vectors of one codec: v2 batches around given compressed bytes (*section*).

    Methods take further fields of the VectorCase by keyword; `source` replaces the builder's own.
    """

    codec: int
    source: str

    def sound(
        self,
        name: str,
        section: bytes,
        why: str,
        *,
        records: Sequence[Rec] = RECORDS,
        **fields: Any,
    ) -> VectorCase:
        """Return the valid test vector of a batch whose *section* decompresses to *records*."""
        part = of(self.codec, section, records)
        return valid(name, why, part, **{"source": self.source} | fields)

    def doubtful(self, name: str, section: bytes, why: str, **fields: Any) -> VectorCase:
        """Return the test vector of a batch whose *section* a reader may accept or refuse."""
        parts = between(of(self.codec, section))
        return either(name, why, parts, caught_by="codec", **{"source": self.source} | fields)

    def refused(
        self,
        name: str,
        section: bytes,
        why: str,
        made: str,
        *,
        code: str = "codec-error",
        **fields: Any,
    ) -> VectorCase:
        """Return the invalid test vector of a batch whose *section* fails to decompress."""
        return invalid(
            name,
            why,
            between(bad(of(self.codec, section))),
            code=code,
            caught_by="codec",
            made=made,
            **{"source": self.source} | fields,
        )
