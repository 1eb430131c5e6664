"""Read Kafka's log directories without a broker.

import magicbyte as mb

for batch in mb.open("/var/lib/kafka").records():
    ...
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from magicbyte._produce_check import check_produced, check_produced_file
    from magicbyte._spec import spec_files
    from magicbyte.captures.capture import Capture, read_pcap
    from magicbyte.companion_tables import Companion, companion
    from magicbyte.errors import (
        ChangedError,
        ChecksumError,
        CodecError,
        FormatError,
        InputError,
        LimitError,
        MagicbyteError,
        MissingError,
        StoreError,
        TopicError,
        TruncatedError,
        UnreadableError,
    )
    from magicbyte.findings import CODES, Finding
    from magicbyte.limits import Limits
    from magicbyte.logdir.unread_path import UnreadPath
    from magicbyte.queries.sql import sql
    from magicbyte.reading.dataset import Dataset
    from magicbyte.reading.opening import from_bytes, open
    from magicbyte.reading.results import Report, Rows
    from magicbyte.reading.split import Split
    from magicbyte.reading.split_reader import read_split
    from magicbyte.statistics import Statistics, stats
    from magicbyte.storage import StoreRequests, store_requests
    from magicbyte.verification.verify import Verification, verify
    from magicbyte.writing.compact import compact
    from magicbyte.writing.compaction import CleanerSettings
    from magicbyte.writing.convert import convert
    from magicbyte.writing.copies import rewrite
    from magicbyte.writing.erase import erase, erasure_of
    from magicbyte.writing.erasure_search import ErasureSearch, search_erased
    from magicbyte.writing.restore import restore
    from magicbyte.writing.rewrite import RewriteReport
    from magicbyte.writing.salvage import salvage
    from magicbyte.writing.write import write

__all__ = [
    "CODES",
    "Capture",
    "ChangedError",
    "ChecksumError",
    "CleanerSettings",
    "CodecError",
    "Companion",
    "Dataset",
    "ErasureSearch",
    "Finding",
    "FormatError",
    "InputError",
    "LimitError",
    "Limits",
    "MagicbyteError",
    "MissingError",
    "Report",
    "RewriteReport",
    "Rows",
    "Split",
    "Statistics",
    "StoreError",
    "StoreRequests",
    "TopicError",
    "TruncatedError",
    "UnreadPath",
    "UnreadableError",
    "Verification",
    "__version__",
    "check_produced",
    "check_produced_file",
    "compact",
    "companion",
    "convert",
    "erase",
    "erasure_of",
    "from_bytes",
    "open",
    "plan",
    "read_pcap",
    "read_split",
    "restore",
    "rewrite",
    "salvage",
    "search_erased",
    "spec_files",
    "sql",
    "stats",
    "store_requests",
    "verify",
    "write",
]

__version__: str

_MODULES = {
    "CODES": "findings",
    "Capture": "captures.capture",
    "ChangedError": "errors",
    "ChecksumError": "errors",
    "CleanerSettings": "writing.compaction",
    "CodecError": "errors",
    "Companion": "companion_tables",
    "Dataset": "reading.dataset",
    "ErasureSearch": "writing.erasure_search",
    "Finding": "findings",
    "FormatError": "errors",
    "InputError": "errors",
    "LimitError": "errors",
    "Limits": "limits",
    "MagicbyteError": "errors",
    "MissingError": "errors",
    "Report": "reading.results",
    "RewriteReport": "writing.rewrite",
    "Rows": "reading.results",
    "Split": "reading.split",
    "Statistics": "statistics",
    "StoreError": "errors",
    "StoreRequests": "storage",
    "TopicError": "errors",
    "TruncatedError": "errors",
    "UnreadPath": "logdir.unread_path",
    "UnreadableError": "errors",
    "Verification": "verification.verify",
    "check_produced": "_produce_check",
    "check_produced_file": "_produce_check",
    "compact": "writing.compact",
    "companion": "companion_tables",
    "convert": "writing.convert",
    "erase": "writing.erase",
    "erasure_of": "writing.erase",
    "from_bytes": "reading.opening",
    "open": "reading.opening",
    "read_pcap": "captures.capture",
    "read_split": "reading.split_reader",
    "restore": "writing.restore",
    "rewrite": "writing.copies",
    "salvage": "writing.salvage",
    "search_erased": "writing.erasure_search",
    "spec_files": "_spec",
    "sql": "queries.sql",
    "stats": "statistics",
    "store_requests": "storage",
    "verify": "verification.verify",
    "write": "writing.write",
}
"""The module of each name: importing this package imports none of them, and no other package."""


def plan(dataset: "Dataset", max_partition_bytes: int | None = None) -> "list[Split]":
    """Return the splits that together give the records of a dataset, as `Dataset.plan` does.

    Args:
        dataset: A dataset of `open`.
        max_partition_bytes: Bytes of a segment that a split spans at most, unless one batch is
            larger. Default: one split per segment.
    Returns:
        Splits, in order of rows; `read_split` reads each of them, on any machine.
    Raises:
        InputError: *max_partition_bytes* is below 1, or a file is gone.
    Example:
        >>> splits = mb.plan(mb.open("log-0", topics=["fenced"]))
        >>> sum(batch.num_rows for split in splits for batch in mb.read_split(split))
        4
    """
    return dataset.plan(max_partition_bytes)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    elif name == "__version__":
        from importlib.metadata import version  # half as slow to import as all of this package

        value = version(__name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
