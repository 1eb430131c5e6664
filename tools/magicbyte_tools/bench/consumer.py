"""python -m magicbyte_tools.bench.consumer SERVERS TOPIC ROWS OUT: copies a topic to Parquet by librdkafka.

Written as a user of confluent-kafka would write it: messages are collected in lists, and every 64 MiB of
values become an Arrow table, with the columns and the compression of `magicbyte export`.
"""

import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

from magicbyte.tables.schemas import HEADERS
from magicbyte.tables.table_definition import TIME

SCHEMA = pa.schema(
    [
        ("offset", pa.int64()),
        ("timestamp", TIME),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
    ]
)

ROW_GROUP = 64 << 20
"""Bytes of values per row group of the Parquet file."""

LARGE_FETCHES = {"fetch.message.max.bytes": 8 << 20, "queued.max.messages.kbytes": 256 << 10}


def main(servers: str, topic: str, rows: int, out: str) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "bench",
            "enable.auto.commit": False,
            "check.crcs": True,
            **LARGE_FETCHES,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    done = size = 0
    with pq.ParquetWriter(out, SCHEMA, compression="zstd") as writer:
        while done < rows:
            # `consume` waits until it has as many messages as it was asked for.
            messages = consumer.consume(min(10_000, rows - done), timeout=30)
            if not messages:
                raise SystemExit(f"{done} rows of {rows}, and no more in 30 seconds")
            for message in messages:
                if message.error():
                    raise SystemExit(str(message.error()))
                value = message.value()
                pairs: Any = message.headers() or []
                headers = [{"key": name, "value": held} for name, held in pairs]
                fields = (message.offset(), message.timestamp()[1], message.key(), value, headers)
                for column, field in zip(columns.values(), fields, strict=True):
                    column.append(field)
                size += len(value or b"")
            done += len(messages)
            if size > ROW_GROUP or done >= rows:
                writer.write_table(pa.table(columns, SCHEMA))
                columns, size = {name: [] for name in SCHEMA.names}, 0
    consumer.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
