"""Tests that recompressing an entry keeps its records and its other fields."""

from itertools import product

import pytest

import log_builder as build
import magicbyte as mb
import magicbyte_construct as twin
from encoded_records import drawn_records
from magicbyte import codecs
from magicbyte.engines.encoding import BatchFields
from magicbyte.engines.factory import encoder
from magicbyte.engines.recompression import recompress
from magicbyte.errors import CodecError, FormatError, InputError, LimitError
from magicbyte.limits import Limits
from magicbyte_formats.wire import RecordBatchHeader

FIELDS = BatchFields(
    base_offset=0,
    last_offset_delta=10**6,
    leader_epoch=7,
    timestamp_type=1,
    is_transactional=True,
    has_delete_horizon=True,
    base_timestamp=5,
    max_timestamp=99,
    producer_id=3,
    producer_epoch=2,
    base_sequence=1,
)


@pytest.mark.parametrize(("old", "new"), list(product(range(5), range(5))))
def test_batch_keeps_its_fields_and_the_bytes_of_its_records(old: int, new: int) -> None:
    plain = encoder().batch(FIELDS, drawn_records(1))
    data = recompress(recompress(plain, old), new)
    header, before = (RecordBatchHeader.unpack_from(batch) for batch in (data, plain))
    assert header.codec == new
    unchanged = {"len_batch": 0, "crc": 0, "attributes": before.attributes}
    assert header._replace(**unchanged) == before._replace(**unchanged)
    assert header.attributes - new == before.attributes
    section = data[RecordBatchHeader.SIZE :]
    records = codecs.decompress(new, section, magic=2, max_bytes=1 << 30)
    assert records == plain[RecordBatchHeader.SIZE :]
    assert twin.RecordBatch.parse(data).crc == header.crc


def test_batch_without_records_stays_uncompressed() -> None:
    batch = encoder().batch(FIELDS, drawn_records(1, 0))
    assert recompress(batch, 4) == batch


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize(("old", "new"), list(product((1, 2, 3), (1, 2, 3))))
def test_wrapper_message_keeps_the_messages_in_it(magic: int, old: int, new: int) -> None:
    records = drawn_records(2, 20, first_offset=50, has_headers=False)
    data = recompress(encoder().messages(magic, records, codec=old), new)
    before, after = (
        twin.Message.parse(encoder().messages(magic, records, codec=codec)) for codec in (old, new)
    )
    parsed = twin.Message.parse(data)
    assert parsed.attributes.codec == new
    assert (parsed.offset, parsed.timestamp) == (before.offset, before.timestamp)
    assert data == twin.Message.build(after)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [1, 2, 3])
def test_ordinary_message_becomes_a_wrapper_message_around_it(magic: int, codec: int) -> None:
    message = build.message(b"value", 77, key=b"key", magic=magic)
    data = recompress(message, codec)
    assert twin.Message.parse(data).attributes.codec == codec
    columns = ("key", "value", "offset", "timestamp")
    tables = [mb.from_bytes(one).records(columns).to_table() for one in (message, data)]
    assert tables[0] == tables[1]
    assert recompress(message, 0) == message


def test_wrapper_message_does_not_become_several_messages() -> None:
    data = encoder().messages(1, drawn_records(3, has_headers=False), codec=3)
    with pytest.raises(InputError, match="codec none for a wrapper message"):
        recompress(data, 0)


def test_zstd_is_refused_for_messages() -> None:
    with pytest.raises(InputError, match="codec zstd in magic 1"):
        recompress(build.message(b"value", 0), 4)


def test_bytes_that_do_not_decompress_are_refused() -> None:
    batch = build.batch(build.records(3), codec=3, section=b"no lz4 frame")
    with pytest.raises(CodecError):
        recompress(batch, 1)


def test_payload_over_the_limit_is_refused() -> None:
    batch = build.batch([build.record(bytes(5000))], codec=4)
    with pytest.raises(LimitError):
        recompress(batch, 1, limits=Limits(max_batch_bytes=4999))


def test_message_that_ends_inside_its_value_is_refused() -> None:
    whole = build.message(b"value", 0, key=b"key")
    with pytest.raises(FormatError, match="value of 5 bytes"):
        recompress(whole[:-1], 1)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_batch_in_a_buffer_of_signed_bytes_is_compressed(codec: int) -> None:
    # memoryview(pyarrow.Buffer) has the format "b", in which bytes above 127 are negative.
    batch = build.batch([build.record(bytes(range(256)))])
    compressed = recompress(memoryview(batch).cast("b"), codec)
    assert recompress(compressed, 0) == batch


def test_library_that_gives_back_other_bytes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = build.batch([build.record(b"v")])
    monkeypatch.setattr("magicbyte.codecs.decompress", lambda *_, **__: b"other")
    with pytest.raises(mb.CodecError, match="does not give back the bytes"):
        recompress(batch, 4)
