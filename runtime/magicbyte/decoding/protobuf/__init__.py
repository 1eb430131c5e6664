"""Decodes Protobuf messages into Arrow columns, by ptars, or by google.protobuf where ptars cannot."""

from magicbyte.decoding.protobuf._batch_decoder import ProtobufDecoder
from magicbyte.decoding.protobuf._compiler import ProtobufFiles, compile_schema
from magicbyte.decoding.protobuf._versions import union_of_versions

__all__ = ["ProtobufDecoder", "ProtobufFiles", "compile_schema", "union_of_versions"]
