# Generated from spec/kafka_records.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 8fa1b223c28c1a926ed2c6b3c3d28a42314b4f529c277447d29de2684fc29c0f, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_record import KafkaRecord

class KafkaRecords(KaitaiStruct):
    """The records of one batch, as they lie in an uncompressed batch and as they
    come out of the decompressor of a compressed one. A specification cannot run
    Kafka's codecs; so decompress `compressed_payload` of `kafka_record_batch`
    and parse the result with this type.
    """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaRecords
    records: list[KafkaRecord]
    """As many records as the batch's `num_records` says; bytes left over are an
    error there. Control batches are never compressed.
    """
