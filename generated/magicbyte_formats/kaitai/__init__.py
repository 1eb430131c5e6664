# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""Kaitai's classes: the reference parsers, an object per structure.

A field whose condition does not hold is None. A number that its enum does not know stays an int.
"""

from kaitaistruct import KaitaiStruct

__all__ = ["KaitaiStruct"]
