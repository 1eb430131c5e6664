"""Links from the structures and fields of a format to conformance vectors in tests/vectors that test them."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.reference._fault_fields import fault_field
from magicbyte_tools.reference.library import FormatStructure, Library, Spec

VECTORS = CHECKOUT / "tests" / "vectors"
LINK_BASE = "../../tests/vectors"
"""Path of the vectors as seen from docs/formats."""

MAX_INVALID = 2
"""Invalid vectors linked for a format, each with another code of the finding."""

MAX_FOR_FIELD = 3
"""Vectors linked for a field."""

DEFAULTS: tuple[Any, ...] = (0, -1, "", "0", "-1", None, [], {})
"""Values that a field has where a file does not use it."""


@dataclass(frozen=True, slots=True)
class LinkedVector:
    """A conformance vector of one format: its path below tests/vectors and the contents of its JSON file."""

    path: str
    data_path: Path
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

    @property
    def name(self) -> str:
        """Id of the vector, kafka_log/v2-gzip."""
        return self.path.removesuffix(".json").partition("/")[2]

    def line(self) -> str:
        """Return the item of a Markdown list that links the vector and says why it exists."""
        kind = "sound" if self.case["verdict"] == "valid" else "invalid"
        if self.code:
            kind += f", `{self.code}`"
        return f"- {self.link('')} ({kind}): {self.case['why']}"

    def link(self, format: str) -> str:
        """Return the vector's name, which a vector of *format* has without the format, as a link."""
        return f"[`{self.name.removeprefix(f'{format}/')}`]({LINK_BASE}/{self.path})"


@dataclass(slots=True)
class FieldVectors:
    """Vectors that test one field, the smallest first."""

    sound: list[LinkedVector] = field(default_factory=list)
    """Vectors in which the field has a value that no smaller one has."""
    repeated: list[LinkedVector] = field(default_factory=list)
    invalid: list[LinkedVector] = field(default_factory=list)
    values: set[str] = field(default_factory=set)

    def add(self, vector: LinkedVector, value: Any) -> None:
        """Add the sound *vector*, in which the field has *value*."""
        if vector in self.sound or vector in self.repeated:
            return
        shown = json.dumps(value)
        vectors = self.repeated if shown in self.values else self.sound
        self.values.add(shown)
        vectors.append(vector)

    def chosen(self, format: str) -> list[LinkedVector]:
        """Return the vectors to link: sound ones and an invalid one, vectors of *format* first."""
        in_order = [*self.sound, *self.repeated]
        in_order.sort(key=lambda vector: vector.case["format"] != format)
        invalid = self.invalid[:1]
        return [*in_order[: MAX_FOR_FIELD - len(invalid)], *invalid]


def read_vectors(folder: Path = VECTORS) -> list[LinkedVector]:
    """Return the vectors of *folder* that are a single file, the smallest first."""
    found = []
    for path in folder.glob("*valid/*/*.json"):
        data = path.with_suffix(".bin")
        if data.is_file():
            case = json.loads(path.read_bytes())
            name = path.relative_to(folder).as_posix()
            found.append(LinkedVector(name, data, data.stat().st_size, case))
    return sorted(found, key=lambda vector: vector.order)


class TestedBy:
    """Vectors that test each structure of the formats in a library, and each of its fields."""

    def __init__(self, library: Library, vectors: list[LinkedVector]) -> None:
        self.library = library
        self.sound: dict[FormatKey, LinkedVector] = {}
        self.invalid: dict[str, dict[str, LinkedVector]] = {}
        self.of_fields: dict[FieldKey, FieldVectors] = defaultdict(FieldVectors)
        for vector in vectors:
            name, verdict = vector.case.get("format"), vector.case["verdict"]
            if name not in library.formats:
                continue
            if verdict == "valid" and vector.case.get("fields") is not None:
                self._add_sound(vector, library.formats[name])
            elif verdict == "invalid":
                self.invalid.setdefault(name, {}).setdefault(vector.code, vector)
                if key := fault_field(vector.case, vector.data_path, library):
                    self.of_fields[key].invalid.append(vector)

    def _add_sound(self, vector: LinkedVector, structure: FormatStructure) -> None:
        for inner, tree in self._used(structure, vector.case["fields"]):
            key = _key(inner)
            for name, value in tree.items() if isinstance(tree, dict) else ():
                if _is_used(value):
                    self.of_fields[*key, name].add(vector, value)
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

    def links(self, structure: FormatStructure, field_id: str) -> str:
        """Return links to up to three vectors that test a field of *structure*, empty where none does.

        In the sound ones the field has a value other than 0, -1 or nothing, each another one where there
        are such. An invalid one has its fault in the field.
        """
        key = (*_key(structure), field_id)
        if key not in self.of_fields:
            return ""
        vectors = self.of_fields[key].chosen(structure.format)
        words = [
            one.link(structure.format) + (" (invalid)" if one.case["verdict"] == "invalid" else "")
            for one in vectors
        ]
        return f"Tested by {', '.join(words)}."

    def _used(
        self, structure: FormatStructure, value: Any
    ) -> Iterator[tuple[FormatStructure, Any]]:
        """Yield *structure* and *value*, and those within, where the value has more than defaults."""
        if not _is_used(value):
            return
        yield structure, value
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
FieldKey = tuple[str, tuple[str, ...], str]


def _key(structure: FormatStructure) -> FormatKey:
    return structure.format, structure.type_path


def _is_used(value: Any) -> bool:
    """Return whether a field in the tree *value* has a value that is not a default."""
    if isinstance(value, dict):
        return any(map(_is_used, value.values()))
    if isinstance(value, list):
        return any(map(_is_used, value))
    return value not in DEFAULTS
