"""Decode text as Java's UTF-8 decoder does."""

import codecs


def _replace(unicode_error: UnicodeError) -> tuple[str, int]:
    """Replace malformed bytes by one U+FFFD for as many bytes as Java does.

    Java and Python agree except for encoded surrogates (ED A0..BF ..): one malformed character in
    Java, one per byte in Python.
    """
    assert isinstance(unicode_error, UnicodeDecodeError)
    data, start, end = unicode_error.object, unicode_error.start, unicode_error.end
    if data[start] == 0xED and start + 1 < len(data) and 0xA0 <= data[start + 1] <= 0xBF:
        end = start + 2
        if end < len(data) and 0x80 <= data[end] <= 0xBF:
            end += 1
    return "\ufffd", end


codecs.register_error("magicbyte-java", _replace)


def decode_utf8(data: bytes) -> str:
    """Return *data* as text; bytes that are not UTF-8 become U+FFFD."""
    return data.decode("utf-8", "magicbyte-java")
