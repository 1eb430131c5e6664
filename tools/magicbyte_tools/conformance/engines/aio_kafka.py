"""aiokafka: rows up to the first error. In C where its wheel has that, as users have it."""

from aiokafka.record.memory_records import MemoryRecords

from magicbyte_tools.conformance.engines.answering import serve
from magicbyte_tools.conformance.engines.peers import reader

if __name__ == "__main__":
    serve(reader(MemoryRecords))
