"""A file of YAML that a lint looks at: its lines, and every mapping with where it stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import yaml

from magicbyte_tools.generate.source import Spec


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where."""

    file: str
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path or '/'}: {self.message}"


@dataclass(frozen=True, slots=True)
class Node:
    """A mapping of the file, with where it stands."""

    path: str
    line: int
    keys: tuple[str, ...]
    value: Spec


class Checked:
    """A file, and what is wrong with it as a text and as YAML."""

    width: ClassVar[int]
    """The most columns of a line."""
    numbered: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    """The paths of mappings whose keys may be numbers."""

    def __init__(self, file: Path, name: str) -> None:
        self.file, self.name = file, name
        self.text = file.read_bytes().decode("utf-8")
        self.nodes: dict[str, Node] = {}
        self.spec: Spec = {}

    def problem(self, node: Node | None, message: str) -> Problem:
        return Problem(self.name, node.line if node else 1, node.path if node else "", message)

    def path(self, node: Node, *steps: object) -> str:
        return "/".join([node.path, *map(str, steps)])

    def lines(self) -> Iterator[Problem]:
        if "\r" in self.text or not self.text.endswith("\n") or self.text.endswith("\n\n"):
            yield Problem(self.name, 1, "", "lines end with LF, and the last one does too")
        for number, line in enumerate(self.text.splitlines(), 1):
            if len(line) > self.width and "https://" not in line:
                yield Problem(self.name, number, "", f"longer than {self.width} columns")
            if line != line.rstrip() or "\t" in line:
                yield Problem(self.name, number, "", "trailing space or a tab")

    def index(self) -> Iterator[Problem]:
        """Read the file, and note where every mapping stands.

        A key that is no string is wrong but where numbers are meant: a bare `null`, `yes` or `on`
        is no string to some readers of YAML, and so a key of ours would silently not be there. Of
        a key that is there twice YAML keeps the last.
        """
        try:
            self.spec = yaml.safe_load(self.text)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            yield Problem(self.name, line, "", f"is no YAML: {error.problem}")
            return
        yield from self._index(yaml.compose(self.text, yaml.SafeLoader), self.spec, "")

    def _index(self, node: yaml.Node | None, value: Any, path: str) -> Iterator[Problem]:
        if isinstance(node, yaml.MappingNode):
            keys = list(value)
            self.nodes[path] = Node(path, node.start_mark.line + 1, tuple(map(str, keys)), value)
            if len(node.value) != len(keys):
                yield self.problem(self.nodes[path], "a key is there twice")
                return
            for (key, inner), known in zip(node.value, keys, strict=True):
                is_number = type(known) is int and self.numbered.search(path)
                if not isinstance(known, str) and not is_number:
                    message = f"the key {key.value!r} is not a string"
                    yield Problem(self.name, key.start_mark.line + 1, path, message)
                yield from self._index(inner, value[known], f"{path}/{known}")
        elif isinstance(node, yaml.SequenceNode):
            for number, inner in enumerate(node.value):
                yield from self._index(inner, value[number], f"{path}/{number}")

    def order(self, node: Node, keys: str) -> Iterator[Problem]:
        wanted = keys.split()
        unknown = [key for key in node.keys if key not in wanted]
        if unknown:
            yield self.problem(node, f"the key {unknown[0]!r} is not known here")
        known = [key for key in node.keys if key in wanted]
        if known != sorted(known, key=wanted.index):
            order = " ".join(sorted(known, key=wanted.index))
            yield self.problem(node, f"keys are to be in the order {order}")

    def doc(self, node: Node) -> Iterator[Problem]:
        doc = str(node.value.get("doc", "")).strip()
        if not doc:
            yield self.problem(node, "has no doc")
        elif not doc.endswith((".", "!", ":")):
            yield self.problem(node, "doc is a sentence, with a full stop")
