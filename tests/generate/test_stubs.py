"""Tests that the .pyi stubs match the objects that the parsers create from the test vectors."""

import __future__

import contextlib
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import kaitaistruct
import pytest

from magicbyte_formats import kaitai
from magicbyte_tools.generate.parsers import camel
from paths import CHECKOUT

STUBS = Path(kaitai.__path__[0])
PARAMETRIC = {"kafka_crc", "kafka_record"}
"""Formats that are parsed only inside other formats, which pass parameters to them."""


@pytest.mark.parametrize("name", sorted({path.stem for path in STUBS.glob("*.pyi")} - PARAMETRIC))
def test_every_attribute_is_of_the_type_that_the_stub_says(name: str) -> None:
    parser = getattr(import_module(f"{kaitai.__name__}.{name}"), camel(name))
    seen: set[str] = set()
    format_id = name.removesuffix("_checked").removesuffix("_lazy")
    for path in CHECKOUT.glob(f"tests/vectors/*valid/{format_id}/*.bin"):
        with contextlib.suppress(EOFError, kaitaistruct.KaitaiStructError):
            compare(parser.from_bytes(path.read_bytes()), seen)
    assert parser.__qualname__ in seen


def compare(thing: Any, seen: set[str]) -> None:
    """Compare the attributes of a parsed object, and of all objects in it, with their stubs."""
    kind = type(thing)
    seen.add(kind.__qualname__)
    declared = {name: annotation for name, annotation in stub(kind).items() if name[0] != "_"}
    public = {name for name in vars(thing) if not name.startswith("_")}
    public |= {name for name, one in vars(kind).items() if isinstance(one, property)}
    assert public <= set(declared), kind
    for name, annotation in declared.items():
        value = getattr(thing, name)
        assert matches(value, annotation), (kind, name, annotation, value)
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, kaitaistruct.KaitaiStruct) and kind.__name__ != "Step":
                compare(inner, seen)


def matches(value: Any, annotation: str) -> bool:
    """Return whether *value* has the type that a stub's *annotation* names."""
    many = re.fullmatch(r"list\[(.*)\](.*)", annotation)
    if many and isinstance(value, list):
        return all(matches(one, many[1]) for one in value)
    if many:
        return value is None and many[2] == " | None"
    return any(
        word == ("None" if value is None else one.__qualname__)
        for word in annotation.split(" | ")
        for one in (type(value).__mro__[:1] if isinstance(value, bool) else type(value).__mro__)
    )


@cache
def stub(kind: type) -> dict[str, str]:
    """Return {name: annotation} of the attributes and properties in the stub of class *kind*."""
    module = kind.__module__
    file = STUBS / f"{module.rpartition('.')[2]}.pyi"
    flags = __future__.annotations.compiler_flag
    text = re.sub(r"^from \.?.*$", "", file.read_text(), flags=re.MULTILINE)
    space: dict[str, Any] = {"KaitaiStruct": object, "IntEnum": object}
    exec(compile(text, str(file), "exec", flags=flags), space)
    found = space[kind.__qualname__.split(".")[0]]
    for step in kind.__qualname__.split(".")[1:]:
        found = getattr(found, step)
    annotations = dict(found.__annotations__)
    for name, one in vars(found).items():
        if isinstance(one, property) and one.fget:
            annotations[name] = one.fget.__annotations__["return"]
    return annotations
