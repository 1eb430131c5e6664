"""What the tool says of keys and values: as text or numbers, or as the records of an internal topic."""

from collections.abc import Callable

Said = tuple[str | None, str | None]
"""What is printed of a key and of a value; None: nothing."""

Decoder = Callable[[int, bytes | None, bytes | None], Said]
"""Takes a record's offset, key and value; EndError where the tool meets an exception."""
