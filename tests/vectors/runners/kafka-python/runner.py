"""Reads logs by kafka-python."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared" / "python"))

from answers import serve
from kafka.record.memory_records import MemoryRecords
from memory_records import reader

serve(reader(MemoryRecords))
