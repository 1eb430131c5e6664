"""Damages files for tests."""

from pathlib import Path


def flip(path: Path, position: int, bits: int = 0xFF) -> None:
    """Flip *bits* of the byte at *position*; a negative position counts from the end."""
    data = bytearray(path.read_bytes())
    data[position] ^= bits
    path.write_bytes(data)
