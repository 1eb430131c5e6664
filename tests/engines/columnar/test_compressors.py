"""Tests of the library functions that kernels compress with."""

import threading

import pytest

from encoded_records import plain_records
from magicbyte import codecs
from magicbyte.engines.columnar._libraries import compressor
from magicbyte.engines.columnar.encoder import ColumnarEncoder
from magicbyte.engines.encoding import BatchFields
from magicbyte_formats.wire import RecordBatchHeader


@pytest.mark.parametrize(("codec", "level"), [(3, None), (3, 12), (4, None), (4, -5), (4, 19)])
def test_kernels_compress_lz4_and_zstd(codec: int, level: int | None) -> None:
    chosen = compressor(codec, level)
    assert chosen is not None
    assert bool(chosen.context) == (codec == 4)


@pytest.mark.parametrize("codec", [0, 1, 2])
def test_other_codecs_have_no_function_that_kernels_call(codec: int) -> None:
    assert compressor(codec, None) is None


@pytest.mark.parametrize(("codec", "levels"), [(1, (1, 9)), (3, (None, 12)), (4, (-50, 19))])
def test_batches_are_compressed_at_the_level_that_is_asked_for(
    codec: int, levels: tuple[int | None, int]
) -> None:
    records = plain_records(2000)
    sizes = []
    for level in levels:
        batch = ColumnarEncoder().batch(BatchFields(codec=codec), records, level=level)
        section = codecs.compress(codec, payload_of(batch), magic=2, level=level)
        assert len(batch) - RecordBatchHeader.SIZE == pytest.approx(len(section), rel=0.1)
        sizes.append(len(batch))
    assert sizes[1] < sizes[0]


def payload_of(batch: bytes) -> bytes:
    codec = RecordBatchHeader.unpack_from(batch).codec
    section = batch[RecordBatchHeader.SIZE :]
    return codecs.decompress(codec, section, magic=2, max_bytes=1 << 30)


def test_batches_may_be_taken_by_other_threads_than_the_first() -> None:
    records = plain_records(30_000)
    fields = BatchFields(codec=4)
    expected = [
        bytes(one.data) for one in ColumnarEncoder().batches(records, fields, batch_bytes=999)
    ]
    pieces = ColumnarEncoder().batches(records, fields, batch_bytes=999)
    taken = []

    def take() -> None:
        taken.append(bytes(next(pieces).data))

    for _ in expected:
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
    assert len(expected) > 1
    assert taken == expected
