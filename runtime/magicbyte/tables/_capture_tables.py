"""Tables of captured traffic: the records and batches of logs, with the connection that they were sent on."""

import pyarrow as pa

from magicbyte.tables.table_definition import (
    INT32,
    INT64,
    STRING,
    TIME,
    TOPIC,
    TableDefinition,
    define_table,
)

CONNECTION = (
    ("direction", STRING, "Direction: `produced` in a request, or `fetched` in a response."),
    ("capture_time", TIME, "Time of the packet in which the request or response ends."),
    ("client", STRING, "Address and port of the client."),
    ("server", STRING, "Address and port of the broker."),
    ("client_id", STRING, "Client id in the request."),
    ("correlation_id", INT32, "Correlation id of the request."),
    ("api_version", INT32, "Version of the request."),
    ("replica_id", INT32, "Node id of the follower that fetched; null of a consumer."),
    (
        "error_code",
        INT32,
        "Error of the partition in the response, 0 of none; null if the response was not captured.",
    ),
    ("packet", INT64, "Number of the packet in which the request or response ends, from 1 on."),
    (
        "message_position",
        INT64,
        "Byte of the request or response, with its length, at which the batches begin.",
    ),
)

FILE = ("file", STRING, "Name of the capture.")
POSITION = ("position", INT64, "Byte of the capture at which the packet begins.")
TOPIC_NAME = (
    "topic",
    STRING,
    "Topic; null if the message has its id only, and the capture no name.",
)
TOPIC_ID = ("topic_id", STRING, "Topic id, if the message has it.")


def with_connection(table: TableDefinition) -> TableDefinition:
    """Return *table* with the columns of a connection at its end, and no default columns left out."""
    assert table.names[0] == TOPIC[0]
    replaced = {column[0]: column for column in (FILE, POSITION, TOPIC_NAME)}
    columns: list[tuple[str, pa.DataType, str]] = []
    for column in table.columns:
        columns.append(replaced.get(column.name, (column.name, column.type, column.sentence)))
    columns.insert(1, TOPIC_ID)
    return define_table(f"captured_{table.name}", table.row, *columns, *CONNECTION)
