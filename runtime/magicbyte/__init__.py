"""Kafka's logs read anywhere, with no broker.

import magicbyte as mb

for rows in mb.open("/var/lib/kafka").records():
    ...
"""

from magicbyte.companion import Companion, companion
from magicbyte.errors import (
    ChangedError,
    ChecksumError,
    CodecError,
    FormatError,
    InputError,
    LimitError,
    MagicbyteError,
    StoreError,
    TruncatedError,
)
from magicbyte.findings import CODES, Finding
from magicbyte.limits import Limits
from magicbyte.produced import check_produced
from magicbyte.reading.dataset import Dataset, from_memory, open_paths
from magicbyte.reading.rows import Report, Rows
from magicbyte.reading.split import Split, read_split
from magicbyte.spec import spec_files
from magicbyte.stats import Statistics, stats
from magicbyte.verify import Verification, verify

__all__ = [
    "CODES",
    "ChangedError",
    "ChecksumError",
    "CodecError",
    "Companion",
    "Dataset",
    "Finding",
    "FormatError",
    "InputError",
    "LimitError",
    "Limits",
    "MagicbyteError",
    "Report",
    "Rows",
    "Split",
    "Statistics",
    "StoreError",
    "TruncatedError",
    "Verification",
    "__version__",
    "check_produced",
    "companion",
    "from_bytes",
    "open",
    "plan",
    "read_split",
    "spec_files",
    "stats",
    "verify",
]

__version__: str

open = open_paths
from_bytes = from_memory


def plan(dataset: Dataset, max_partition_bytes: int | None = None) -> list[Split]:
    """Return the splits that together give the records of *dataset*, in order of rows."""
    return dataset.plan(max_partition_bytes)


def __getattr__(name: str) -> str:
    """Return the version; finding it takes as long as half of all that is imported here."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version(__name__)
