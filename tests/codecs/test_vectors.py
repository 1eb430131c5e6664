"""Tests that other projects' compressed bytes are read as Kafka's Java classes read them."""

import hashlib
from typing import Any

import pytest

from log_reader import spans
from magicbyte import codecs
from magicbyte.checksum import crc32, crc32c
from magicbyte.errors import CodecError, LimitError

IDS = {"gzip": 1, "snappy": 2, "snappy-xerial": 2, "snappy-raw": 2, "lz4": 3, "zstd": 4}

STRICTER = {
    "franz-go__xerial_compressed_data_less_than_minimum_length.bin": "D12",
}
"""Vectors that Java reads and that raise here, by their row in the table of differences."""

MAGIC = {
    "kafka-java__lz4_frame_kafka3160.bin": 0,  # D9: legal in magic 0 only
}


def decompress(vector: dict[str, Any], section: bytes, magic: int) -> bytes:
    (codec,) = vector["codecs"]
    return codecs.decompress(IDS[codec], memoryview(section), magic=magic, max_bytes=1 << 20)


@pytest.mark.vectors("compressed")
def test_section_gives_what_kafka_reads_or_an_error_where_kafka_errs(
    vector: dict[str, Any], vector_bytes: bytes
) -> None:
    java = vector["peers"]["kafka-java"]
    if "error" in java or vector["file"] in STRICTER:
        with pytest.raises((CodecError, LimitError)):
            decompress(vector, vector_bytes, 2)
        return
    plain = decompress(vector, vector_bytes, 2)
    assert len(plain) == java["plain_len"]
    assert java["plain"] in (plain.hex(), f"sha256:{hashlib.sha256(plain).hexdigest()}")


@pytest.mark.vectors("compressed")
def test_section_gives_what_its_source_expects(vector: dict[str, Any], vector_bytes: bytes) -> None:
    expected = vector["expected"]
    magic = MAGIC.get(vector["file"], 2)
    if vector["validity"] != "valid":
        with pytest.raises((CodecError, LimitError)):
            decompress(vector, vector_bytes, magic)
        return
    plain = decompress(vector, vector_bytes, magic)
    for name in ("plain", "plain_by_reading"):
        assert plain.hex() == expected.get(name, plain.hex())
    assert len(plain) == expected.get("plain_len", len(plain))
    digest = hashlib.sha256(plain).hexdigest()
    assert digest == expected.get("plain_sha256", digest)


@pytest.mark.vectors("compressed_message_set")
def test_compressed_message_set_holds_its_messages(
    vector: dict[str, Any], vector_bytes: bytes
) -> None:
    plain = decompress(vector, vector_bytes, 0)
    messages = [plain[position:end] for position, end in spans(plain)]
    for message in messages:
        assert crc32(message[16:]) == int.from_bytes(message[12:16], "big")
    assert messages[0].endswith(bytes.fromhex(vector["expected"]["first_value"]))
    assert len(messages) == int(vector["expected"]["messages"])


@pytest.mark.vectors("crc32c")
def test_crc32c_is_what_its_source_expects(vector: dict[str, Any], vector_bytes: bytes) -> None:
    assert crc32c(vector_bytes) == int(vector["expected"]["crc32c"])
