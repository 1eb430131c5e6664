"""Reads logs by aiokafka, in C where its wheel has the extension."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared" / "python"))

from aiokafka.consumer.fetcher import READ_COMMITTED, PartitionRecords
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.structs import TopicPartition
from answers import serve
from memory_records import encoder, reader, row


def read_fetched(log, offset, aborted):
    """Yield the records that the fetcher delivers of a fetch response."""
    partition, no_decoder, check_crcs = TopicPartition("t", 0), None, True
    options = no_decoder, no_decoder, check_crcs, READ_COMMITTED
    for record in PartitionRecords(partition, MemoryRecords(log), aborted, offset, *options):
        yield [row(record)]


serve(reader(MemoryRecords), read_fetched, encoder(DefaultRecordBatchBuilder))
