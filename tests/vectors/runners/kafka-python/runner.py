"""Reads logs by kafka-python."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared" / "python"))

from answers import serve
from kafka.consumer.fetcher import Fetcher, IsolationLevel
from kafka.protocol.consumer import FetchResponse
from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords
from kafka.structs import TopicPartition
from memory_records import encoder, reader, row

AbortedTransaction = FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction


def read_fetched(log, offset, aborted):
    """Yield the records that the fetcher delivers of a fetch response."""
    transactions = aborted and [
        AbortedTransaction(producer_id=producer_id, first_offset=first)
        for producer_id, first in aborted
    ]
    records = Fetcher.PartitionRecords(
        offset,
        TopicPartition("t", 0),
        MemoryRecords(log),
        isolation_level=IsolationLevel.READ_COMMITTED,
        aborted_transactions=transactions,
    )
    while rows := records.take(1):
        yield [row(rows[0])]


serve(reader(MemoryRecords), read_fetched, encoder(DefaultRecordBatchBuilder))
