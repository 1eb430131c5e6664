"""Predicts what a broker would do with a partition folder on startup, without writing anything.

The rules come from LogLoader, LogSegment.recover and ProducerStateManager, and were confirmed by starting
brokers of 2.8, 3.9 and 4.3 on damaged directories. No broker is needed.
"""

from magicbyte.verification.startup._log_loader import INDEX_INTERVAL_BYTES, predict_startup
from magicbyte.verification.startup._prediction import StartupPrediction
from magicbyte.verification.startup._startup_errors import has_offset_name, invalid_files

__all__ = [
    "INDEX_INTERVAL_BYTES",
    "StartupPrediction",
    "has_offset_name",
    "invalid_files",
    "predict_startup",
]
