"""Turns the compiler's output for a target into a package of that language.

The npm build of the compiler lacks the options `--python-package`, `--go-package` and
`--java-package`, so this module edits the text instead.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from magicbyte_tools.generate import parsers, source
from magicbyte_tools.parsers.compiler_output import (
    VISUAL,
    Files,
    Spec,
    by_spec,
    noted,
    types,
    with_parameters,
)
from magicbyte_tools.parsers.identifier_names import camel

TEMPLATES = Path(__file__).with_name("templates")

PACKAGE = "kafka_formats"

Specs = Mapping[str, Spec]
Layout = Callable[[str, str, str, Specs], tuple[str, str]]
"""Maps a file's name, text and specification id, and all specifications, to its path and text."""


class Refused(Exception):
    """A target whose compiler output does not work; the message says what to use instead."""


def package(target: str, compiled: Files, specs: Specs, *, with_reader: bool = True) -> Files:
    """Return the package for *target*: parsers, reader, README, example and licence, by relative path.

    Without the reader, the package needs no library but Kaitai's.
    """
    if target in REFUSED:
        raise Refused(REFUSED[target])
    names = sorted(specs.keys() - left_out(target, specs))
    found = by_spec(compiled, specs)
    files = static(target)
    if not with_reader:
        files = {path: text for path, text in files.items() if Path(path).stem not in READER}
    for name in names:
        for file, text in found[name].items():
            path, changed = LAYOUTS[target](file, text, name, specs)
            files[path] = noted(changed, name)
    if target in INDEXES:
        readers = [Path(path).stem for path in files if Path(path).stem in {"codecs", "reader"}]
        files |= INDEXES[target]([*readers, *names])
    files["LICENSE"] = (source.SPEC / "LICENSE").read_text("utf-8")
    return files


def left_out(target: str, specs: Specs) -> set[str]:
    """Return the names of the specifications for which *target* gets no parser."""
    absent = {*VISUAL} if target in WITHOUT_VISUAL else set()
    return absent | with_parameters(specs) if target in WITHOUT_PARAMETERS else absent


def static(target: str) -> Files:
    """Return the package files of *target* that are not parsers: README, example, project file."""
    root = TEMPLATES / target
    return {
        path.relative_to(root).as_posix().removesuffix(".in"): path.read_text("utf-8").replace(
            "@VERSION@", version()
        )
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def version() -> str:
    """Return magicbyte's version, which the packages share."""
    project = tomllib.loads((source.SPEC.parent / "pyproject.toml").read_text("utf-8"))
    return str(project["project"]["version"])


def _in(folder: str) -> Layout:
    return lambda file, text, name, specs: (f"{folder}{file}", text)


def _python(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    first = text.splitlines()[0]
    return f"{PACKAGE}/{file}", f"{first}\n{parsers.module(text, specs[name])}"


def _java(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    first, rest = text.split("\n", 1)
    return f"src/main/java/kafkaformats/{file}", f"{first}\n\npackage kafkaformats;\n{rest}"


def _go(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    """Put Go parsers into a package, and have a length compared with the bytes left before it is reserved."""
    first, rest = text.split("\n", 1)
    rest = rest.replace("this._io.ReadBytes(", "readBounded(this._io, ")
    return file, f"{first}\n\npackage kafkaformats\n{rest}"


def _cpp(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    """Initialize members that the compiler forgets in C++, so that a bad file causes no crash.

    A parser that throws deletes its fields. The constructor does not initialize the pointer of a
    field with a `switch-on` type, nor the flag that says whether a field is absent. And have a length
    compared with the bytes left before memory is reserved for it.
    """
    for cls, body in re.findall(r"(?ms)^void (\S+)::_clean_up\(\) {$(.*?)^}$", text):
        begins = text.index(f"\n{cls}::{cls.rsplit('::', 1)[-1]}(")
        at = text.index("\n", text.index("\n    m__root = ", begins) + 1)
        constructor = text[begins : text.index("\n}\n", begins)]
        values = dict.fromkeys(re.findall(r"delete (m_\w+);", body), "0")
        values |= dict.fromkeys(re.findall(r"!(n_\w+)", body), "true")
        forgotten = [f for f in values if f"\n    {f} = " not in constructor]
        text = text[:at] + "".join(f"\n    {f} = {values[f]};" for f in forgotten) + text[at:]
    if "m__io->read_bytes(" in text:
        text = text.replace("m__io->read_bytes(", "read_bounded(m__io, ")
        include = f'#include "{name}.h"\n'
        text = text.replace(include, f'{include}#include "bounded.h"\n', 1)
    return f"src/{file}", text


def _csharp(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    text = text.replace("m_io.ReadBytes(", "Bounded.Read(m_io, ")
    return f"KafkaFormats/{file}", text.replace(
        "\nnamespace Kaitai\n", "\nusing Kaitai;\n\nnamespace KafkaFormats\n", 1
    )


def _javascript(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    """Make JavaScript parsers read a 64-bit integer as two 32-bit halves.

    Kaitai's runtime library misreads some negative integers: it treats the lower half as negative
    where its highest bit is clear.
    """
    halves = "(this._io.readS4be() * 0x100000000 + this._io.readU4be())"
    return file, text.replace("this._io.readS8be()", halves)


def _nim(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    """Add all indirect imports to a Nim parser: expressions may need them; Nim inherits none."""
    reached, new = set(), [name]
    while new:
        imports = specs[new.pop()]["meta"].get("imports", [])
        new += [one for one in imports if one not in reached]
        reached |= {*imports}
    missing = sorted(one for one in reached if f"\nimport {one}\n" not in text)
    return file, "".join(f"import {one}\n" for one in missing) + text


def _rust(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    """Make Rust parsers import nested types, and set the stream position before reading instances.

    The compiler forgets both. An object keeps a copy of its stream, whose position stays where the
    object began.
    """
    for one in specs[name]["meta"].get("imports", []):
        line = f"\nuse super::{one}::{camel(one)};\n"
        within = sorted(set(re.findall(rf"\b{camel(one)}_\w+", text)))
        uses = "".join(f"use super::{one}::{each};\n" for each in within)
        text = text.replace(line, line + uses, 1)
    for _, structure in types((name,), specs[name]):
        for instance, given in structure.get("instances", {}).items():
            if "_io.pos" in str(given.get("value")):
                asked = rf"(?m)^( +)(?=if \*self_rc\.{instance}\(\)\?)"
                text = re.sub(asked, r"\1*self_rc._io.borrow_mut() = _io.clone();\n\1", text)
    return f"src/{file}", text


def _rust_modules(names: list[str]) -> Files:
    modules = "".join(f"pub mod {name};\n" for name in sorted(names))
    return {"src/lib.rs": f"//! Apache Kafka's record formats, a module for each.\n\n{modules}"}


def _javascript_index(names: list[str]) -> Files:
    modules = [name if name in READER else camel(name) for name in names]
    exports = "".join(f'  ...require("./{module}"),\n' for module in modules)
    return {"index.js": f'"use strict";\n\nmodule.exports = {{\n{exports}}};\n'}


def _python_package(names: list[str]) -> Files:
    return {f"{PACKAGE}/__init__.py": '"""Apache Kafka\'s record formats, a module for each."""\n'}


def _php(file: str, text: str, name: str, specs: Specs) -> tuple[str, str]:
    """Have PHP parsers compare a length with the bytes left before memory is reserved for it."""
    return f"src/{file}", text.replace("new \\Kaitai\\Struct\\Stream(", "new \\KafkaBoundedStream(")


LAYOUTS: dict[str, Layout] = {
    "cpp_stl": _cpp,
    "csharp": _csharp,
    "go": _go,
    "graphviz": _in(""),
    "html": _in(""),
    "java": _java,
    "javascript": _javascript,
    "lua": _in(""),
    "nim": _nim,
    "perl": _in("lib/"),
    "php": _php,
    "python": _python,
    "ruby": _in("lib/"),
    "rust": _rust,
}

INDEXES: dict[str, Callable[[list[str]], Files]] = {
    "javascript": _javascript_index,
    "python": _python_package,
    "rust": _rust_modules,
}

REFUSED = {
    "construct": (
        "The compiler's output for Construct is broken: it has no types for fields of bits, drops"
        " imports and parameters, and puts instances behind the fields that use them. The package"
        " magicbyte_construct (pip install 'magicbyte[construct]') parses and builds the same"
        " formats, written by hand."
    ),
}

READER = {
    *("checksums", "codecs", "reader", "Checksum"),
    *("print_records", "main", "PrintRecords"),
    *("Codecs", "Decompressor", "Decompressors", "LogEntry", "LogReader", "LogRecord"),
}
"""Stems of the files that read records: they need libraries besides Kaitai's."""

WITHOUT_VISUAL = {"go", "nim", "perl"}
WITHOUT_PARAMETERS = {"perl"}
