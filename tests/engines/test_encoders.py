"""Tests that both encoders write the bytes that the Construct twin builds, and that both engines read back."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import magicbyte as mb
import magicbyte_construct as twin
from encoded_records import (
    INT64_MAX,
    INT64_MIN,
    SCHEMA,
    TIME,
    drawn_records,
    plain_records,
    rows_to_build,
)
from magicbyte import codecs
from magicbyte.engines import _reference_encoder
from magicbyte.engines._reference_encoder import ReferenceEncoder
from magicbyte.engines.columnar import encoder as columnar_encoder
from magicbyte.engines.columnar.encoder import ColumnarEncoder
from magicbyte.engines.encoding import BatchFields, EncodedBatches, Encoder
from magicbyte.engines.factory import encoder
from magicbyte.errors import InputError
from magicbyte_formats.wire import CODEC_NAMES, RecordBatchHeader

ENCODERS: tuple[Callable[[], Encoder], ...] = (ColumnarEncoder, ReferenceEncoder)
COLUMNS = ("key", "value", "headers", "offset", "timestamp")
CODECS = tuple(CODEC_NAMES)
both = pytest.mark.parametrize("encode", [make() for make in ENCODERS], ids=lambda one: one.name)


def joined(pieces: list[EncodedBatches]) -> bytes:
    return b"".join(bytes(piece.data) for piece in pieces)


def bulk(
    encode: Encoder, records: pa.RecordBatch, batch_bytes: int = 16384, **fields: Any
) -> bytes:
    return joined(list(encode.batches(records, BatchFields(**fields), batch_bytes=batch_bytes)))


def headers_of(data: bytes) -> list[RecordBatchHeader]:
    headers, position = [], 0
    while position < len(data):
        headers.append(RecordBatchHeader.unpack_from(data, position))
        position += 12 + headers[-1].len_batch
    return headers


def assert_read_back(
    data: bytes, records: pa.RecordBatch, columns: tuple[str, ...] = COLUMNS
) -> None:
    """Check that both engines read *records* from *data*."""
    for engine in ("reference", "columnar"):
        rows = mb.from_bytes(data, engine=engine).records(columns).to_table()
        for name in columns:
            expected = records.column(name)
            column = rows.column(name).combine_chunks()
            if name == "timestamp":
                column = column.cast(pa.int64()).fill_null(-1)
            assert column.to_pylist() == expected.to_pylist(), (engine, name)


@both
@pytest.mark.parametrize("seed", range(5))
def test_batch_has_the_bytes_that_the_construct_twin_builds(encode: Encoder, seed: int) -> None:
    records = drawn_records(seed, first_offset=10**12)
    fields = BatchFields(
        base_offset=10**12 - 7,
        leader_epoch=3,
        producer_id=1 << 40,
        producer_epoch=5,
        base_sequence=(1 << 31) - 1,
        is_transactional=True,
    )
    expected = twin.record_batch(
        rows_to_build(records),
        base_offset=10**12 - 7,
        partition_leader_epoch=3,
        producer_id=1 << 40,
        producer_epoch=5,
        base_sequence=(1 << 31) - 1,
        attributes={"is_transactional": True},
        base_timestamp=records["timestamp"][0].as_py(),
    )
    assert encode.batch(fields, records) == expected


@both
@pytest.mark.parametrize("codec", CODECS)
def test_compressed_batch_holds_the_records_of_the_uncompressed_one(
    encode: Encoder, codec: int
) -> None:
    records = drawn_records(codec)
    data = encode.batch(BatchFields(codec=codec), records)
    (header,) = headers_of(data)
    payload = codecs.decompress(codec, data[RecordBatchHeader.SIZE :], magic=2, max_bytes=1 << 30)
    assert header.codec == codec
    assert payload == encode.batch(BatchFields(), records)[RecordBatchHeader.SIZE :]
    assert_read_back(data, records)


@both
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("batch_bytes", [0, 100, 5000, 1 << 20])
def test_batches_of_any_size_and_codec_read_back_the_same(
    encode: Encoder, codec: int, batch_bytes: int
) -> None:
    records = drawn_records(10 * codec + 1, 150)
    pieces = list(encode.batches(records, BatchFields(codec=codec), batch_bytes=batch_bytes))
    data = joined(pieces)
    assert_read_back(data, records)
    sizes = [12 + header.len_batch for header in headers_of(data)]
    assert sizes == np.concatenate([piece.sizes for piece in pieces]).tolist()
    counts = [header.num_records for header in headers_of(data)]
    last_rows = np.concatenate([piece.last_rows for piece in pieces])
    assert np.cumsum(counts).tolist() == last_rows.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_both_encoders_write_the_same_batches_and_messages(seed: int) -> None:
    records = drawn_records(100 + seed, 200)
    fields = BatchFields(
        leader_epoch=seed, producer_id=9, producer_epoch=0, base_sequence=2**31 - 9
    )
    columnar, reference = (make() for make in ENCODERS)
    for codec in (0, 1, 2, 4):
        for batch_bytes in (1, 200, 4096, 16384):
            ours, expected = (
                joined(
                    list(
                        one.batches(records, replace(fields, codec=codec), batch_bytes=batch_bytes)
                    )
                )
                for one in (columnar, reference)
            )
            assert ours == expected
    for magic, codec in ((0, 0), (1, 0), (0, 3), (1, 1), (1, 2), (1, 3)):
        ours, expected = (
            one.messages(magic, records, codec=codec) for one in (columnar, reference)
        )
        assert ours == expected


@both
def test_uncompressed_batch_is_as_large_as_its_limit_allows(encode: Encoder) -> None:
    records = plain_records(500)
    data = bulk(encode, records, 2000)
    sizes = [12 + header.len_batch for header in headers_of(data)]
    assert all(2000 - 140 < size <= 2000 for size in sizes[:-1])


@both
def test_record_larger_than_the_limit_is_a_batch_of_its_own(encode: Encoder) -> None:
    values = [b"a", bytes(3 << 20), b"b", b"c"]
    records = pa.record_batch({"value": pa.array(values, pa.binary())})
    for codec in (0, 3, 4):
        data = bulk(encode, records, 1000, codec=codec)
        assert [header.num_records for header in headers_of(data)] == [1, 1, 2]
        assert_read_back(data, records, ("value",))


@both
def test_sequences_go_on_from_batch_to_batch_and_start_at_0_after_the_last_one(
    encode: Encoder,
) -> None:
    data = bulk(encode, plain_records(100), 1500, base_sequence=(1 << 31) - 15, producer_id=1)
    headers = headers_of(data)
    for header, following in pairwise(headers):
        assert following.base_sequence == (header.base_sequence + header.num_records) % (1 << 31)
    assert headers[0].base_sequence == (1 << 31) - 15


@both
def test_batch_without_records_has_the_header_that_compaction_leaves(encode: Encoder) -> None:
    fields = BatchFields(
        base_offset=5, last_offset_delta=9, max_timestamp=TIME, codec=4, producer_id=3
    )
    expected = twin.record_batch(
        [],
        base_offset=5,
        last_offset_delta=9,
        base_timestamp=TIME,
        max_timestamp=TIME,
        producer_id=3,
        partition_leader_epoch=0,
    )
    empty = SCHEMA.empty_table().to_batches() or [pa.RecordBatch.from_pylist([], SCHEMA)]
    assert encode.batch(fields, empty[0]) == expected
    assert len(expected) == 61


@both
def test_batch_without_records_needs_its_offsets(encode: Encoder) -> None:
    with pytest.raises(InputError, match="expected base_offset and last_offset_delta"):
        encode.batch(BatchFields(base_offset=3), pa.RecordBatch.from_pylist([], SCHEMA))


@both
def test_records_without_rows_give_no_batches_and_no_messages(encode: Encoder) -> None:
    empty = pa.RecordBatch.from_pylist([], SCHEMA)
    assert bulk(encode, empty) == encode.messages(1, empty, codec=1) == b""


@both
def test_timestamp_deltas_wrap_around_at_64_bits(encode: Encoder) -> None:
    times = [INT64_MAX, INT64_MIN, -1, INT64_MAX, 0]
    records = pa.record_batch({"offset": pa.array(range(5)), "timestamp": pa.array(times)})
    assert_read_back(encode.batch(BatchFields(), records), records, ("offset", "timestamp"))


@both
def test_offsets_are_written_up_to_the_largest_one(encode: Encoder) -> None:
    offsets = [INT64_MAX - (1 << 31) + 1, INT64_MAX - 1, INT64_MAX]
    records = pa.record_batch({"offset": pa.array(offsets)})
    assert_read_back(encode.batch(BatchFields(), records), records, ("offset",))


@both
def test_offsets_too_far_apart_for_one_batch_begin_another(encode: Encoder) -> None:
    records = pa.record_batch({"offset": pa.array([0, 5, 5 + (1 << 31), 6 + (1 << 31)])})
    data = bulk(encode, records)
    assert [header.last_offset_delta for header in headers_of(data)] == [5, 1]
    with pytest.raises(InputError, match="expected a last offset of 2147483647 at most"):
        encode.batch(BatchFields(), records)


@both
def test_given_fields_take_the_place_of_derived_ones(encode: Encoder) -> None:
    records = plain_records(3)
    fields = BatchFields(
        base_offset=0,
        last_offset_delta=10,
        base_timestamp=TIME + 10**9,
        max_timestamp=TIME + 5,
        has_delete_horizon=True,
        is_control=True,
        timestamp_type=1,
    )
    (header,) = headers_of(encode.batch(fields, records))
    assert (header.last_offset_delta, header.max_timestamp) == (10, TIME + 5)
    assert header.base_timestamp == TIME + 10**9
    assert header.has_delete_horizon and header.is_control and header.timestamp_type == 1


@both
def test_records_too_large_for_the_size_field_of_a_batch_are_refused(
    encode: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is lowered: 2 GiB of records would take a minute."""
    for module in (_reference_encoder, columnar_encoder):
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 1000)
    records = plain_records(8)
    assert len(encode.batch(BatchFields(), records)) <= 1000 + RecordBatchHeader.SIZE
    for codec in (0, 1, 4):
        with pytest.raises(InputError, match="9 records of more than"):
            encode.batch(BatchFields(codec=codec), plain_records(9))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"base_offset": 1}, "expected at most the first record's offset, 0"),
        ({"last_offset_delta": 1}, "expected at least 2, that of the last record"),
    ],
)
@both
def test_header_that_contradicts_the_records_is_refused(
    encode: Encoder, fields: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        encode.batch(BatchFields(**fields), plain_records(3))


@pytest.mark.parametrize(
    "fields",
    [
        {"leader_epoch": 1 << 31},
        {"producer_epoch": 1 << 15},
        {"base_offset": 1 << 63},
        {"codec": 5},
        {"timestamp_type": 2},
        {"has_delete_horizon": True},
    ],
)
def test_fields_that_no_header_can_have_are_refused(fields: dict[str, int]) -> None:
    with pytest.raises(InputError):
        BatchFields(**fields)


@both
def test_fields_of_one_batch_are_refused_for_many(encode: Encoder) -> None:
    with pytest.raises(InputError, match="base_offset 0 for many batches"):
        bulk(encode, plain_records(3), base_offset=0)


@both
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"offset": [1, 1]}, "offset 1 in row 1 after offset 1; expected rising offsets"),
        ({"offset": [1, None]}, "a record without an offset"),
        ({"value": [1, 2]}, "expected bytes or text"),
        ({"headers": [[1], []]}, "expected a list of structs of key and value"),
        ({"headers": [[{"key": None, "value": b""}], []]}, "a record header without a key"),
    ],
)
def test_columns_that_are_no_records_are_refused(
    encode: Encoder, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        encode.batch(BatchFields(), pa.RecordBatch.from_pydict(columns))


@both
def test_columns_may_have_other_types_and_be_slices(encode: Encoder) -> None:
    records = drawn_records(7, 60)
    expected = encode.batch(BatchFields(), records.slice(11, 23))
    headers = pa.large_list(pa.struct([("key", pa.binary()), ("value", pa.large_binary())]))
    others = pa.record_batch(
        {
            "key": records["key"].cast(pa.large_binary()),
            "value": records["value"].cast(pa.binary_view()),
            "headers": records["headers"].cast(headers),
            "offset": records["offset"],
            "timestamp": records["timestamp"].cast(pa.timestamp("ms", tz="UTC")),
        }
    )
    assert encode.batch(BatchFields(), others.slice(11, 23)) == expected
    texts = pa.record_batch({"key": ["é", None], "timestamp": [None, 5], "offset": [3, 4]})
    built = [{"key": "é".encode(), "offset": 3, "timestamp": -1}, {"offset": 4, "timestamp": 5}]
    rows = [{"key": None, "value": None, **row} for row in built]
    expected = twin.record_batch(rows, base_offset=3, base_timestamp=-1, partition_leader_epoch=0)
    assert encode.batch(BatchFields(), texts) == expected


@both
def test_microseconds_become_milliseconds(encode: Encoder) -> None:
    times = pa.array([TIME * 1000 + 999], pa.timestamp("us"))
    (header,) = headers_of(encode.batch(BatchFields(), pa.record_batch({"timestamp": times})))
    assert header.max_timestamp == TIME


@both
def test_records_without_offsets_are_numbered_from_the_base_offset(encode: Encoder) -> None:
    records = pa.record_batch({"value": [b"a", b"b"]})
    (header,) = headers_of(encode.batch(BatchFields(base_offset=70), records))
    assert (header.base_offset, header.last_offset_delta) == (70, 1)


def test_batches_stay_as_they_are_while_others_are_encoded() -> None:
    """Their memory is pooled: it is used again only once it is dropped."""
    records = plain_records(40_000)
    pieces = list(ColumnarEncoder().batches(records, BatchFields(), batch_bytes=16384))
    assert len(pieces) > 1
    assert_read_back(joined(pieces), records, ("key", "value", "offset", "timestamp"))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [0, 1, 2, 3])
@both
def test_messages_are_those_that_the_construct_twin_builds(
    encode: Encoder, magic: int, codec: int
) -> None:
    records = drawn_records(30 + magic, first_offset=40, has_headers=False)
    rows = [
        {name: row[name] for name in ("key", "value", "offset", "timestamp")[: 3 + magic]}
        for row in records.to_pylist()
    ]
    data = encode.messages(magic, records, codec=codec)
    if codec == 0:
        expected = b"".join(twin.message(row.pop("value"), **row, magic=magic) for row in rows)
    else:
        if magic:
            rows = [{**row, "offset": row["offset"] - 40} for row in rows]
        expected = twin.wrapper(
            rows,
            codec,
            lambda message_set: codecs.compress(codec, message_set, magic=magic),
            magic,
            base_offset=40,
        )
    assert data == expected
    columns = ("key", "value", "offset", "timestamp")[: 3 + magic]
    assert_read_back(data, records, columns)


@both
def test_messages_with_append_time_say_so(encode: Encoder) -> None:
    times = pa.array([TIME] * 3)
    records = pa.record_batch({"value": [b"a", b"b", b"c"], "timestamp": times})
    for codec in (0, 3):
        data = encode.messages(1, records, codec=codec, timestamp_type=1)
        rows = mb.from_bytes(data).records(("timestamp", "timestamp_type")).to_table()
        assert rows.column("timestamp_type").to_pylist() == ["LogAppendTime"] * 3
        assert rows.column("timestamp").cast(pa.int64()).to_pylist() == [TIME] * 3


@pytest.mark.parametrize(
    ("magic", "options"),
    [(2, {}), (0, {"timestamp_type": 1}), (1, {"codec": 4}), (1, {"codec": 1, "level": 10})],
)
@both
def test_messages_of_impossible_attributes_are_refused(
    encode: Encoder, magic: int, options: dict[str, int]
) -> None:
    with pytest.raises(InputError):
        encode.messages(magic, plain_records(1), **options)


def test_default_encoder_is_columnar_where_kernels_are_built() -> None:
    assert encoder().name == "columnar"
    assert encoder("reference").name == "reference"
    with pytest.raises(InputError, match="expected auto, columnar or reference"):
        encoder("other")


WITHOUT_COMPILING = """
from encoded_records import drawn_records
from magicbyte.engines.columnar.encoder import ColumnarEncoder
from magicbyte.engines.encoding import BatchFields

records, encoder = drawn_records(3, 20), ColumnarEncoder()
for codec in (0, 3, 4):
    pieces = encoder.batches(records, BatchFields(codec=codec), batch_bytes=9000)
    print(b"".join(bytes(piece.data) for piece in pieces).hex())
print(encoder.messages(1, records).hex())
"""


def test_kernels_write_the_same_as_ordinary_python() -> None:
    variables = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WITHOUT_COMPILING]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    records, encode = drawn_records(3, 20), ColumnarEncoder()
    expected = [bulk(encode, records, 9000, codec=codec) for codec in (0, 3, 4)]
    assert done.stdout.split() == [
        *(data.hex() for data in expected),
        encode.messages(1, records).hex(),
    ]


BETWEEN_GUARD_PAGES = """
import numpy as np
import pyarrow as pa

from encoded_records import drawn_records
from magicbyte.engines.columnar import _buffers
from magicbyte.engines.columnar.encoder import ColumnarEncoder
from magicbyte.engines.encoding import BatchFields
from magicbyte.engines.factory import encoder
from magicbyte_tools.fuzz.memory import GuardedBuffers

guarded = GuardedBuffers()
_buffers.allocate = guarded.allocate


def moved(array):
    buffers = []
    for buffer in array.buffers()[: array.type.num_buffers]:
        if buffer is not None:
            place = guarded.allocate(buffer.size)
            place[:] = np.frombuffer(buffer, np.uint8)
            buffer = pa.py_buffer(place)
        buffers.append(buffer)
    children = []
    if pa.types.is_list(array.type):
        children = [moved(array.values)]
    elif pa.types.is_struct(array.type):
        children = [moved(array.field(number)) for number in range(array.type.num_fields)]
    return pa.Array.from_buffers(array.type, len(array), buffers, children=children)


for seed in range(20):
    records = drawn_records(seed, 40)
    columns = [moved(column) for column in records.columns]
    copied = pa.RecordBatch.from_arrays(columns, schema=records.schema)
    for codec in (0, 3, 4):
        for batch_bytes in (1, 3000, 1 << 20):
            pieces = list(
                ColumnarEncoder().batches(copied, BatchFields(codec=codec), batch_bytes=batch_bytes)
            )
            if codec == 0:
                expected = encoder("reference").batches(
                    records, BatchFields(), batch_bytes=batch_bytes
                )
                data, built = (b"".join(bytes(one.data) for one in two) for two in (pieces, expected))
                assert data == built
    ColumnarEncoder().messages(1, copied)
print("read and written within the buffers")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no mprotect")
def test_kernels_stay_within_the_buffers_of_records_and_batches() -> None:
    """The process ends at the first byte that is read or written outside."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", BETWEEN_GUARD_PAGES]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "read and written within the buffers\n"), done


def test_memory_of_batches_that_were_dropped_is_used_again() -> None:
    """So memory is bounded by two pieces of about 1 MiB, however many records there are."""
    records = plain_records(100_000)
    addresses = [
        pa.py_buffer(piece.data).address
        for piece in ColumnarEncoder().batches(records, BatchFields(), batch_bytes=16384)
    ]
    assert len(addresses) > 5
    assert len(set(addresses)) <= 2
