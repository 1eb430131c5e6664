"""Turns the Kaitai compiler's Python into a module of the generated package."""

import re
from collections.abc import Iterator

from magicbyte_tools.generate.source import Spec


def module(source: str, spec: Spec) -> str:
    """Return the compiler's *source* of *spec* with three changes.

    Its header is removed, since it disables type checks ("type: ignore"). Imports of other specs
    become relative. A field whose `if` is false, which the compiler's parser does not set, is None:
    the class gets an attribute of that value, which the parser's assignment hides.
    """
    source = re.sub(r"\A(#.*\n)+\n?", "", source)
    source = re.sub(r"[ \t]+$", "", source, flags=re.MULTILINE)
    imports = "|".join(spec["meta"].get("imports", []))
    if imports:
        # The compiler's order varies: it is the order in which it finished the imported files.
        block = re.compile(rf"^(?:import (?:{imports})\n)+", re.MULTILINE)
        source = block.sub(
            lambda match: "".join(f"from . {line}\n" for line in sorted(match[0].splitlines())),
            source,
        )
    lines = _with_absent_fields(source.splitlines(), _absent(spec))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def camel(name: str) -> str:
    """Return the class name that the Kaitai compiler derives from the id *name* of a specification."""
    return "".join(word.capitalize() for word in name.split("_"))


def _absent(spec: Spec) -> dict[str, list[str]]:
    """Return the fields that can be absent, by the qualified name of their class."""
    fields_by_class: dict[str, list[str]] = {}

    def collect(name: str, structure: Spec) -> None:
        fields_by_class[name] = [field["id"] for field in structure.get("seq", []) if "if" in field]
        for inner, definition in structure.get("types", {}).items():
            collect(f"{name}.{camel(inner)}", definition)

    collect(camel(spec["meta"]["id"]), spec)
    return fields_by_class


def _with_absent_fields(lines: list[str], absent: dict[str, list[str]]) -> Iterator[str]:
    class_path: list[str] = []
    for line in lines:
        opened = re.match(r"( *)class (\w+)\(KaitaiStruct\):", line)
        if opened:
            class_path = [*class_path[: len(opened[1]) // 4], opened[2]]
        begins = re.match(r"( *)def __init__\(self", line)
        if begins:
            qualified = ".".join(class_path[: len(begins[1]) // 4])
            for name in absent.pop(qualified, []):
                yield f"{begins[1]}{name} = None"
        yield line
    if any(absent.values()):
        raise ValueError(f"the compiler's Python has no class for {sorted(absent)}")
