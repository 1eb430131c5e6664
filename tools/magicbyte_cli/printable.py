"""Text that a terminal can be trusted with: one line, nothing that moves the cursor."""


def printable(text: str) -> str:
    """Return *text* with every character that does not print escaped as Python would."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def text_line(text: str) -> bytes:
    """Return *text* as a line of output."""
    return f"{printable(text)}\n".encode("utf-8", "backslashreplace")


def printable_bytes(data: bytes) -> str:
    r"""Return *data* as text: UTF-8 where it is, `\x..` for each byte where it is not."""
    return printable(data.decode("utf-8", "backslashreplace"))
