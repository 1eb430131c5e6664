"""Reads logs by aiokafka, in C where its wheel has the extension."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared" / "python"))

from aiokafka.record.memory_records import MemoryRecords
from answers import serve
from memory_records import reader

serve(reader(MemoryRecords))
