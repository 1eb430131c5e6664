# Generated from spec/kafka_record_batch_checked.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 3c1c22a67cb278be6bc62193e35800814fb6389acad31c34aa66c3b2ee1692c7, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_crc import KafkaCrc
from .kafka_record_batch import KafkaRecordBatch

class KafkaRecordBatchChecked(KaitaiStruct):
    """For looking at a batch in a visualizer; see `kafka_crc` for what it costs."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaRecordBatchChecked
    batch: KafkaRecordBatch
    """The batch."""
    @property
    def computed_crc(self) -> KafkaCrc:
        """The checksum of the bytes that the batch's `crc` covers."""
    @property
    def is_crc_valid(self) -> bool:
        """Whether the batch is as it was when its checksum was written."""
