"""Links from the structures of a format to conformance vectors in tests/vectors that test them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.reference.library import FormatStructure, Library, Spec

VECTORS = CHECKOUT / "tests" / "vectors"
LINK_BASE = "../../tests/vectors"
"""Path of the vectors as seen from docs/formats."""

MAX_INVALID = 2
"""Invalid vectors linked for a format, each with another code of the finding."""

DEFAULTS: tuple[Any, ...] = (0, -1, "", "0", "-1", None, [], {})
"""Values that a field has where a file does not use it."""


@dataclass(frozen=True, slots=True)
class LinkedVector:
    """A conformance vector of one format: its path below tests/vectors and the contents of its JSON file."""

    path: str
    size: int
    case: Mapping[str, Any]

    @property
    def order(self) -> tuple[int, str]:
        """Sort key: small files first, then by path."""
        return self.size, self.path

    @property
    def code(self) -> str:
        """Code of the finding that an invalid vector must lead to, empty where it states none."""
        return str(self.case.get("code", ""))

    def line(self) -> str:
        """Return the item of a Markdown list that links the vector and says why it exists."""
        kind = "sound" if self.case["verdict"] == "valid" else "invalid"
        if self.code:
            kind += f", `{self.code}`"
        name = self.path.removesuffix(".json").partition("/")[2]
        return f"- [`{name}`]({LINK_BASE}/{self.path}) ({kind}): {self.case['why']}"


def read_vectors(folder: Path = VECTORS) -> list[LinkedVector]:
    """Return the vectors of *folder* that are a single file, the smallest first."""
    found = []
    for path in folder.glob("*valid/*/*.json"):
        data = path.with_suffix(".bin")
        if data.is_file():
            case = json.loads(path.read_bytes())
            name = path.relative_to(folder).as_posix()
            found.append(LinkedVector(name, data.stat().st_size, case))
    return sorted(found, key=lambda vector: vector.order)


class TestedBy:
    """Vectors that test each structure of the formats in a library."""

    def __init__(self, library: Library, vectors: list[LinkedVector]) -> None:
        self.library = library
        self.sound: dict[FormatKey, LinkedVector] = {}
        self.invalid: dict[str, dict[str, LinkedVector]] = {}
        for vector in vectors:
            name, verdict = vector.case.get("format"), vector.case["verdict"]
            if name not in library.formats:
                continue
            if verdict == "valid" and vector.case.get("fields") is not None:
                self._add_sound(vector, library.formats[name])
            elif verdict == "invalid":
                self.invalid.setdefault(name, {}).setdefault(vector.code, vector)

    def _add_sound(self, vector: LinkedVector, structure: FormatStructure) -> None:
        for inner in self._used(structure, vector.case["fields"]):
            key = _key(inner)
            known = self.sound.get(key)
            # A vector of the structure's own format shows it best, even if another one is smaller.
            if known is None or (known.case["format"] != inner.format == vector.case["format"]):
                self.sound[key] = vector

    def section(self, structure: FormatStructure) -> str:
        """Return a Markdown list of vectors that test *structure*, empty where none does.

        The first is the smallest sound vector in which a field of the structure has a value other
        than 0, -1 or nothing. A format also has its smallest invalid vectors.
        """
        sound = self.sound.get(_key(structure))
        vectors = [sound] if sound else []
        if not structure.type_path:
            vectors += list(self.invalid.get(structure.format, {}).values())[:MAX_INVALID]
        return "\n".join(["Tested by:", "", *(one.line() for one in vectors)]) if vectors else ""

    def _used(self, structure: FormatStructure, value: Any) -> Iterator[FormatStructure]:
        """Yield *structure*, and the structures within, where *value* has more than defaults."""
        if not _is_used(value):
            return
        yield structure
        if not isinstance(value, dict):
            return
        for attribute in structure.fields:
            name = str(attribute["id"])
            inner = value.get(name)
            for one in inner if isinstance(inner, list) else [inner]:
                target = self._target(attribute, structure, one)
                if target:
                    yield from self._used(target, one)

    def _target(
        self, attribute: Spec, owner: FormatStructure, value: Any
    ) -> FormatStructure | None:
        """Return the structure of the field *attribute* whose fields the tree *value* has."""
        if not isinstance(value, dict):
            return None
        one = self.library.of(attribute, owner)
        choices = [one] if one else [case for _, case in self.library.cases(attribute, owner)]
        fitting = {
            _key(choice): choice
            for choice in choices
            if value.keys() <= {str(field["id"]) for field in choice.fields}
        }
        # Versions of a structure may have the same fields: then the tree does not tell which it is.
        return next(iter(fitting.values())) if len(fitting) == 1 else None


FormatKey = tuple[str, tuple[str, ...]]


def _key(structure: FormatStructure) -> FormatKey:
    return structure.format, structure.type_path


def _is_used(value: Any) -> bool:
    """Return whether a field in the tree *value* has a value that is not a default."""
    if isinstance(value, dict):
        return any(map(_is_used, value.values()))
    if isinstance(value, list):
        return any(map(_is_used, value))
    return value not in DEFAULTS
