"""What a generated file says of where it comes from."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.generate.kaitai import VERSION

# Of a file that no specification decides.
FIXED = "# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.\n"


def header(sources: Sequence[Path]) -> str:
    """Return the two lines that name *sources* and exactly what was in them."""
    name = sources[0].name if len(sources) == 1 else "*.ksy"
    return (
        f"# Generated from spec/{name}. Do not edit: change the .ksy and `make generate`.\n"
        f"# spec sha256 {_digest(sources)}, kaitai-struct-compiler {VERSION}\n"
    )


def messages_header(source: Path) -> str:
    """Return the two lines that name a file of messages and exactly what was in it."""
    return (
        f"# Generated from spec/messages/{source.name}. Do not edit: change it and `make generate`.\n"
        f"# spec sha256 {_digest([source])}\n"
    )


def _digest(sources: Sequence[Path]) -> str:
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
