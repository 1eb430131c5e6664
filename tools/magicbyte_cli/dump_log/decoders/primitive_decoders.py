"""Decoders of strings and numbers, which users of kafka-dump-log name by their Java classes."""

from collections.abc import Callable
from functools import partial

from magicbyte.text import decode_utf8
from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.decoders import DecodedText, Decoder


def _integer(size_bytes: int, data: bytes) -> str:
    """Return the integer in the first *size_bytes* bytes; like Kafka, ignore later bytes."""
    if len(data) < size_bytes:
        raise ToolError(f"a key or value has {len(data)} bytes; expected {size_bytes} for a number")
    return str(int.from_bytes(data[:size_bytes], "big", signed=True))


CLASSES: dict[str, Callable[[bytes], str]] = {
    "StringDecoder": decode_utf8,
    "IntegerDecoder": partial(_integer, 4),
    "LongDecoder": partial(_integer, 8),
}
"""Decoders by the names of Kafka's classes."""


def key_value_decoder(
    decode_key: Callable[[bytes], str], decode_value: Callable[[bytes], str]
) -> Decoder:
    """Return a decoder that decodes keys and values independently."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> DecodedText:
        return (
            None if key is None else decode_key(key),
            None if value is None else decode_value(value),
        )

    return decode


AS_TEXT = key_value_decoder(decode_utf8, decode_utf8)
