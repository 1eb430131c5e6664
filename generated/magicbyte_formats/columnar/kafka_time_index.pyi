# Generated from spec/kafka_time_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 9621e455ef176dc6b43ded002bcedb63d962298a6c76bd3158050e99fd823692, kaitai-struct-compiler 0.11.0
import numpy as np

TABLE: str
HEADER: np.dtype[np.void]
"""Nothing."""
ROW: np.dtype[np.void]
"""`timestamp`: Largest timestamp so far, in milliseconds since the Unix epoch.
`relative_offset`: Last offset of the batch that holds it, or, from older releases, the offset
of the record itself; counted from the base offset of the segment, which names the file.
"""

def rows(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the rows of *data*, a whole file: an array with a field for each number of a row.

    It ends before the first row that is not whole or all zeros.
    Numbers are as they are stored. Nothing is copied.
    """
