# Generated from spec/kafka_tagged_fields.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 c9c4f3df24611a8ccae5812aa74431234874f0f6562ad3df6a10031cbd3194cf, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_uvarint import KafkaUvarint

class KafkaTaggedFields(KaitaiStruct):
    """The end of every structure of a flexible version (KIP-482): fields that a
    reader skips if it does not know their tags. None is one zero byte.
    """
    class TaggedField(KaitaiStruct):
        """A field that may be there or not."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        tag: KafkaUvarint
        """Which field it is."""
        len_data: KafkaUvarint
        """Bytes in `data`."""
        data: bytes
        """The field's value."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaTaggedFields
    num_fields: KafkaUvarint
    """Fields that follow."""
    fields: list[KafkaTaggedFields.TaggedField]
    """The fields, by rising tag."""
