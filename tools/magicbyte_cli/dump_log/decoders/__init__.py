"""Decoders of keys and values: as text, as numbers, or as records of an internal topic."""

from collections.abc import Callable

DecodedText = tuple[str | None, str | None]
"""Text of a key and of a value; None: nothing is printed."""

Decoder = Callable[[int, bytes | None, bytes | None], DecodedText]
"""Decodes a record's offset, key and value; ToolError if kafka-dump-log ends with an exception."""
