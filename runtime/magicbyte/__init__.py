"""Kafka's logs read anywhere, with no broker.

import magicbyte as mb

for rows in mb.open("/var/lib/kafka").records():
    ...
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
from magicbyte.reading.dataset import Dataset, from_memory, open_paths
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.split import Split, read_split

if TYPE_CHECKING:
    from magicbyte.companion_tables import Companion, companion
    from magicbyte.produce_check import check_produced
    from magicbyte.spec import spec_files
    from magicbyte.statistics import Statistics, stats
    from magicbyte.verification.verify import Verification, verify

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

_LATER = {
    "Companion": "companion_tables",
    "Statistics": "statistics",
    "Verification": "verification.verify",
    "check_produced": "produce_check",
    "companion": "companion_tables",
    "spec_files": "spec",
    "stats": "statistics",
    "verify": "verification.verify",
}
"""What is imported when it is asked for, and the modules it is in: who reads records needs none of it."""

open = open_paths
from_bytes = from_memory


def plan(dataset: Dataset, max_partition_bytes: int | None = None) -> list[Split]:
    """Return the splits that together give the records of *dataset*, in order of rows."""
    return dataset.plan(max_partition_bytes)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        found = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version  # takes as long as half of what is imported here

        found = version(__name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
