"""Base of the lints of YAML files: reads the lines, and all mappings with their paths and lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

from magicbyte_tools.generate.source import Spec, YamlLoader


@dataclass(frozen=True, slots=True)
class LintProblem:
    """Broken rule, with its position in a file."""

    file: str
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path or '/'}: {self.message}"


@dataclass(frozen=True, slots=True)
class YamlMapping:
    """Mapping in a file, with its path and line."""

    path: str
    line: int
    key_names: tuple[str, ...]
    value: Spec


class LintedFile:
    """Lint of a YAML file: its lines and mappings, and the rules for all kinds of files."""

    width: ClassVar[int]
    """Largest number of characters in a line."""
    numbered: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    """Paths of mappings whose keys may be numbers."""

    def __init__(self, path: Path, name: str) -> None:
        self.file, self.name = path, name
        self.text = path.read_bytes().decode("utf-8")
        self.mappings: dict[str, YamlMapping] = {}
        self.spec: Spec = {}

    def problem(self, mapping: YamlMapping | None, message: str) -> LintProblem:
        line, path = (mapping.line, mapping.path) if mapping else (1, "")
        return LintProblem(self.name, line, path, message)

    def path(self, mapping: YamlMapping, *steps: object) -> str:
        return "/".join([mapping.path, *map(str, steps)])

    def lines(self) -> Iterator[LintProblem]:
        if "\r" in self.text or not self.text.endswith("\n") or self.text.endswith("\n\n"):
            yield LintProblem(self.name, 1, "", "lines end with LF, and the last one does too")
        for number, line in enumerate(self.text.splitlines(), 1):
            if len(line) > self.width and "https://" not in line:
                yield LintProblem(self.name, number, "", f"longer than {self.width} columns")
            if line != line.rstrip() or "\t" in line:
                yield LintProblem(self.name, number, "", "trailing space or a tab")

    def index(self) -> Iterator[LintProblem]:
        """Read the file and record all mappings. Yield keys that are not strings, or repeated.

        Some readers of YAML take a bare `null`, `yes` or `on` for another type than string, and such
        a key would silently be missing. Of repeated keys YAML uses the last.
        """
        try:
            self.spec = yaml.load(self.text, YamlLoader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            yield LintProblem(self.name, line, "", f"is not YAML: {error.problem}")
            return
        yield from self._index(yaml.compose(self.text, YamlLoader), self.spec, "")

    def _index(self, yaml_node: yaml.Node | None, value: Any, path: str) -> Iterator[LintProblem]:
        if isinstance(yaml_node, yaml.MappingNode):
            keys = list(value)
            self.mappings[path] = YamlMapping(
                path, yaml_node.start_mark.line + 1, tuple(map(str, keys)), value
            )
            if len(yaml_node.value) != len(keys):
                yield self.problem(self.mappings[path], "a key is there twice")
                return
            for (key, inner), known in zip(yaml_node.value, keys, strict=True):
                is_number = type(known) is int and self.numbered.search(path)
                if not isinstance(known, str) and not is_number:
                    message = f"the key {key.value!r} is not a string"
                    yield LintProblem(self.name, key.start_mark.line + 1, path, message)
                yield from self._index(inner, value[known], f"{path}/{known}")
        elif isinstance(yaml_node, yaml.SequenceNode):
            for number, inner in enumerate(yaml_node.value):
                yield from self._index(inner, value[number], f"{path}/{number}")

    def order(self, mapping: YamlMapping, keys: str) -> Iterator[LintProblem]:
        in_order = keys.split()
        unknown = [key for key in mapping.key_names if key not in in_order]
        if unknown:
            yield self.problem(mapping, f"the key {unknown[0]!r} is not known here")
        known = [key for key in mapping.key_names if key in in_order]
        if known != sorted(known, key=in_order.index):
            order = " ".join(sorted(known, key=in_order.index))
            yield self.problem(mapping, f"keys are to be in the order {order}")

    def doc(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        doc = str(mapping.value.get("doc", "")).strip()
        if not doc:
            yield self.problem(mapping, "has no doc")
        elif not doc.endswith((".", "!", ":")):
            yield self.problem(mapping, "doc is a sentence, with a full stop")
