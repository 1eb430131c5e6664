"""Writes patterns for the hex editor ImHex, from the specifications."""

from magicbyte_tools.parsers.imhex.patterns import patterns

__all__ = ["patterns"]
