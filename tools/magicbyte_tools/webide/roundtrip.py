"""Reads a file and writes it again, with Python classes compiled in read-write mode."""

from io import BytesIO

from kaitaistruct import KaitaiStream

from magicbyte_tools.webide.debug_parsers import Formats


def rewritten(formats: Formats, name: str, data: bytes, *, check: bool = True) -> bytes:
    """Parse *data* as the format *name*, and return the bytes that its fields are written as.

    A byte that belongs to no field is written as zero. With *check* the generated code first
    verifies that the fields agree with each other.
    """
    root = formats.new(name, KaitaiStream(BytesIO(data)))
    root._read()
    root._fetch_instances()
    if check:
        root._check()
    with KaitaiStream(BytesIO(bytearray(len(data)))) as output:
        root._write(output)
        written: bytes = output.to_byte_array()
    return written
