"""What a broker's start would do with a partition's folder: foretold, not done.

The rules are those of LogLoader, LogSegment.recover and ProducerStateManager, as brokers of 2.8, 3.9
and 4.3 were seen to keep them. Nothing is written, and no broker is asked.
"""

from magicbyte.verification.startup.log_loader import INDEX_INTERVAL_BYTES, foresee
from magicbyte.verification.startup.prediction import Forecast
from magicbyte.verification.startup.startup_errors import has_offset_name, wrong_files

__all__ = ["INDEX_INTERVAL_BYTES", "Forecast", "foresee", "has_offset_name", "wrong_files"]
