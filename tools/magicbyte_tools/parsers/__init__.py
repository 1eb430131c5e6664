"""Generates parsers for other languages, and programs that print files with them. Not in the wheel."""

from magicbyte_tools.parsers.dumpers.build import dumper
from magicbyte_tools.parsers.dumpers.builders import ToolchainUnavailable

__all__ = ["ToolchainUnavailable", "dumper"]
