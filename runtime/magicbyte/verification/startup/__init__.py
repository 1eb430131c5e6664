"""Predicts what a broker would do with a partition folder on startup, without writing anything.

The rules come from LogLoader, LogSegment.recover and ProducerStateManager, and were confirmed by starting
brokers of 2.8, 3.9 and 4.3 on damaged directories. No broker is needed.
"""

from magicbyte.verification.startup._log_loader import INDEX_INTERVAL_BYTES, predict_startup
from magicbyte.verification.startup._prediction import StartupPrediction
from magicbyte.verification.startup._segment_entries import VerifiedRun, entry_runs
from magicbyte.verification.startup._startup_errors import (
    CLEANER_FILE,
    HIGH_WATERMARK_FILE,
    LENIENT,
    CheckpointFault,
    checkpoint_faults,
    has_offset_name,
    invalid_files,
    offset_in_name,
    segment_name,
)

__all__ = [
    "CLEANER_FILE",
    "HIGH_WATERMARK_FILE",
    "INDEX_INTERVAL_BYTES",
    "LENIENT",
    "CheckpointFault",
    "StartupPrediction",
    "VerifiedRun",
    "checkpoint_faults",
    "entry_runs",
    "has_offset_name",
    "invalid_files",
    "offset_in_name",
    "predict_startup",
    "segment_name",
]
