"""Decodes Protobuf messages into Arrow columns, by a compiled kernel, and unusual ones by google.protobuf."""

from magicbyte.decoding.protobuf._batch_decoder import ProtobufDecoder
from magicbyte.decoding.protobuf._compiler import ProtobufFiles, compile_schema
from magicbyte.decoding.protobuf._versions import union_of_versions

__all__ = ["ProtobufDecoder", "ProtobufFiles", "compile_schema", "union_of_versions"]
