"""Generates Kaitai parsers and file dumpers in other languages. Not in the wheel."""

from magicbyte_tools.parsers.dumpers.build import dumper
from magicbyte_tools.parsers.dumpers.builders import ToolchainUnavailable

__all__ = ["ToolchainUnavailable", "dumper"]
