"""Keys and values by themselves: the decoders that Kafka's tool is given as classes."""

from collections.abc import Callable
from functools import partial

from magicbyte.text import decode_utf8
from magicbyte_cli.dump_log.decoders import Decoder
from magicbyte_cli.dump_log.end_error import EndError


def _integer(size_bytes: int, data: bytes) -> str:
    """Return the number that the first bytes are, whatever follows, as Kafka's decoders do."""
    if len(data) < size_bytes:
        raise EndError(f"a key or value of {len(data)} bytes, where a number takes {size_bytes}")
    return str(int.from_bytes(data[:size_bytes], "big", signed=True))


CLASSES: dict[str, Callable[[bytes], str]] = {
    "StringDecoder": decode_utf8,
    "IntegerDecoder": partial(_integer, 4),
    "LongDecoder": partial(_integer, 8),
}
"""By the names of Kafka's classes."""


def plain(decode_key: Callable[[bytes], str], decode_value: Callable[[bytes], str]) -> Decoder:
    """Return the decoder of keys and values that have nothing to do with each other."""

    def decode(
        offset: int, key: bytes | None, value: bytes | None
    ) -> tuple[str | None, str | None]:
        return (
            None if key is None else decode_key(key),
            None if value is None else decode_value(value),
        )

    return decode


AS_TEXT = plain(decode_utf8, decode_utf8)
