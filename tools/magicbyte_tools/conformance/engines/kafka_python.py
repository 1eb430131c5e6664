"""kafka-python: rows up to the first error."""

from kafka.record import MemoryRecords

from magicbyte_tools.conformance.engines.answering import serve
from magicbyte_tools.conformance.engines.peers import reader

if __name__ == "__main__":
    serve(reader(MemoryRecords))
