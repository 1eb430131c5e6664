# Generated from spec/kafka_kraft_snapshot.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 b7829eef89450601dab37f29964debbe7b27b1a8574c40722a69c2c2fe32d55a, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_record_batch import KafkaRecordBatch

class KafkaKraftSnapshot(KaitaiStruct):
    """The state of the metadata log just before the offset that its name gives,
    together with the epoch; since 3.0 (KIP-630). `bootstrap.checkpoint` has the
    same form. All files of a name such as `recovery-point-offset-checkpoint`
    are something else, text.

    It is batches of v2 like any log, and `kafka_log` reads it as well; this
    description asks for more: a first batch that begins with SNAPSHOT_HEADER and
    a last one that begins with SNAPSHOT_FOOTER, both control batches, with
    nothing behind. Without the footer a file is incomplete, such as the
    `.checkpoint.part` that a stopped controller leaves behind.

    The offsets in it count from 0 and are not those of the log. The values of
    the records that are no control records are what `kafka_metadata_record`
    describes.
    """
    class SnapshotBatch(KaitaiStruct):
        """A batch, with what tells that it begins or ends the snapshot."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        batch: KafkaRecordBatch
        """The batch; its `crc` covers it as in any log."""
        @property
        def has_control_records(self) -> bool:
            """Whether the batch holds control records, as all but the state do."""
        @property
        def len_first_key(self) -> int | None:
            """Bytes in the key of the first control record."""
        @property
        def has_control_type(self) -> bool:
            """Whether the batch begins with a control record that has a key."""
        @property
        def control_type(self) -> int | None:
            """Kind of the batch's first control record, as the enum `control_types`
            of `kafka_control_record` numbers them.
            """
        @property
        def is_header(self) -> bool:
            """Whether the batch begins with SNAPSHOT_HEADER."""
        @property
        def is_footer(self) -> bool:
            """Whether the batch begins with SNAPSHOT_FOOTER."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaKraftSnapshot
    header: KafkaKraftSnapshot.SnapshotBatch
    """The first batch, of control records: SNAPSHOT_HEADER, and since 3.8 also
    KRAFT_VERSION and KRAFT_VOTERS (KIP-853).
    """
    batches: list[KafkaKraftSnapshot.SnapshotBatch]
    """The batches of records that make up the state, and as the last one the
    batch of SNAPSHOT_FOOTER. A file that ends before it is an error.
    """
    unexpected: int | None
    """A byte that must not be, as no value lies within both limits: a parser
    comes here where the first batch is no header or something follows the
    footer, and stops. Always null.
    """
