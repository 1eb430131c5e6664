"""The part of the specifications that the viewer shows: names, types and sentences of all fields."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.generate.source import Spec

BITS = re.compile(r"b(\d+)")

Json = dict[str, Any]


def viewer_specification(specs: Mapping[str, Spec]) -> Json:
    """Return structures by the path of their class, and the values of enums by qualified name."""
    structures: Json = {}
    enums: Json = {}
    for name, spec in specs.items():
        for path, structure in _structures((camel(name),), spec):
            # The parsers of Kaitai's compiler are modules that hold the class of the same name.
            structures[".".join((camel(name), *path))] = _structure(structure, path, specs)
            for enum, values in structure.get("enums", {}).items():
                enums[".".join((*path, enum))] = {
                    str(number): [value["id"], _line(value["doc"])]
                    for number, value in values.items()
                }
    return {"structures": structures, "enums": enums}


def _structures(class_path: tuple[str, ...], spec: Spec) -> Iterator[tuple[tuple[str, ...], Spec]]:
    """Yield *spec* and its types, each with the names of the classes around it."""
    yield class_path, spec
    for name, inner in spec.get("types", {}).items():
        yield from _structures((*class_path, camel(name)), inner)


def _structure(structure: Spec, class_path: tuple[str, ...], specs: Mapping[str, Spec]) -> Json:
    read_again = (
        (name, instance)
        for name, instance in structure.get("instances", {}).items()
        if "pos" in instance and isinstance(instance.get("type"), str) and "if" in instance
        if instance["type"].split("(")[0] in specs
    )
    shown: Json = {
        "name": class_path[-1],
        "doc": _line(structure.get("doc", "")),
        "seq": [
            _field(field["id"], field, class_path, specs) for field in structure.get("seq", [])
        ],
        "instances": [_field(name, instance, class_path, specs) for name, instance in read_again],
    }
    if "-primitive" in structure:
        shown["primitive"] = structure["-primitive"]
    if "-webide-representation" in structure:
        shown["label"] = structure["-webide-representation"]
    return shown


def _field(name: str, field: Spec, class_path: tuple[str, ...], specs: Mapping[str, Spec]) -> Json:
    kind = field.get("type")
    shown: Json = {"id": name, "js": _lower_camel(name), "doc": _line(field["doc"])}
    if isinstance(kind, str):
        shown["type"] = kind.split("(")[0]
        if bits := BITS.fullmatch(kind):
            shown["bits"] = int(bits[1])
    elif kind is None and ("size" in field or "size-eos" in field):
        shown["type"] = "bytes"
    if "-orig-id" in field:
        shown["kafka"] = field["-orig-id"]
    if isinstance(column := field.get("-column"), dict) and "unit" in column:
        shown["unit"] = column["unit"]
    if "enum" in field:
        shown["enum"] = _enum(field["enum"], class_path, specs)
    return shown


def _enum(name: str, class_path: tuple[str, ...], specs: Mapping[str, Spec]) -> str:
    """Return the qualified name of the enum that a field in the structure *class_path* calls *name*."""
    *types, enum = name.split("::")
    if types:
        return ".".join((*map(camel, types), enum))
    by_name = {camel(one): spec for one, spec in specs.items()}
    for depth in range(len(class_path), 0, -1):
        shown = dict(_structures((class_path[0],), by_name[class_path[0]]))[class_path[:depth]]
        if enum in shown.get("enums", {}):
            return ".".join((*class_path[:depth], enum))
    raise KeyError(f"{'.'.join(class_path)}: no enum {name}")


def _lower_camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _line(text: str) -> str:
    """Return *text* with each paragraph on a line."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
