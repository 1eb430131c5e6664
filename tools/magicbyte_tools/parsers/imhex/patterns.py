"""Writes a pattern file for each format that a file of a log.dir has, and a README."""

from collections.abc import Mapping
from pathlib import Path

from magicbyte_cli.file_formats import FORMATS_BY_NAME, FORMATS_BY_SUFFIX
from magicbyte_tools.generate import source
from magicbyte_tools.parsers.imhex.name_resolver import type_name
from magicbyte_tools.parsers.imhex.structures import TypeWriter
from magicbyte_tools.reference.library import Library, Spec

HERE = Path(__file__).parent

PAYLOADS = ("kafka_records",)
"""Formats of decompressed payloads, as `magicbyte extract` writes them."""

MAX_PATTERNS = 1 << 22
"""Fields that ImHex may hold for one file; each takes some hundred bytes."""


def patterns(specs: Mapping[str, Spec]) -> dict[str, str]:
    """Return the pattern files, by name, with their README and licence."""
    library = Library(specs)
    names = sorted({*FORMATS_BY_SUFFIX.values(), *FORMATS_BY_NAME.values(), *PAYLOADS})
    files = {f"{name}.hexpat": pattern(name, library) for name in names}
    files["README.md"] = (HERE / "README.md").read_text("utf-8")
    files["LICENSE"] = (source.SPEC / "LICENSE").read_text("utf-8")
    return files


def pattern(name: str, library: Library) -> str:
    """Return the pattern of the format *name*, with all types that it imports."""
    structure = library.formats[name]
    writer = TypeWriter(library)
    writer.write_root(structure)
    title = structure.spec["meta"]["title"]
    head = [
        f"// Generated from {name}.ksy of magicbyte (CC0-1.0): edit that and `make parsers TARGET=imhex`.",
        f"#pragma description {title}",
        "#pragma endian big",
        "#pragma eval_depth 128",
        "#pragma loop_limit 0",
        "#pragma array_limit 0",
        f"#pragma pattern_limit {MAX_PATTERNS}",
        "\nimport std.core;\nimport std.io;\nimport std.mem;\n",
    ]
    ends = "std::mem::base_address(), std::mem::base_address() + std::mem::size()"
    root = f"{type_name(structure)}<{ends}> {name} @ std::mem::base_address();"
    types = [written.text for written in writer.types.values()]
    prelude = (HERE / "prelude.pat").read_text("utf-8").strip()
    return "\n\n".join(["\n".join(head).strip(), prelude, *types, root]) + "\n"
