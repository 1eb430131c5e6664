"""A file read and written again by the compiler's Python in read-write mode."""

from io import BytesIO

from kaitaistruct import KaitaiStream

from magicbyte_tools.webide.debug_parsers import Formats


def rewritten(formats: Formats, name: str, data: bytes, *, check: bool = True) -> bytes:
    """Return *data* after the format *name* of *formats* has read, checked and written it.

    Written are the values of the fields, over zeros; a byte that belongs to no field is one.
    Without *check* nothing asks whether the fields agree with each other.
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
