"""Parsers of other languages, and programs that print what they make of files. Not in the wheel."""

from magicbyte_tools.parsers.dumpers.build import dumper
from magicbyte_tools.parsers.dumpers.builders import ToolchainUnavailable

__all__ = ["ToolchainUnavailable", "dumper"]
