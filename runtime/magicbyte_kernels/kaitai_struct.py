"""Base class of the Kaitai parsers. Its types are in the stub, since kaitaistruct has none."""

from kaitaistruct import KaitaiStruct

__all__ = ["KaitaiStruct"]
