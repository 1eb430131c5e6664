"""What the files of spec/messages must be besides correct: their JSON Schema, and what it cannot say."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema

from magicbyte_tools.generate.linted_yaml import Checked, Node, Problem
from magicbyte_tools.generate.message_schemas import SCALARS, json_name
from magicbyte_tools.generate.presence import (
    Places,
    Release,
    beginnings,
    differences,
    known_versions,
    latest,
    numbers,
    place_text,
    release_of,
    release_text,
    releases_of,
    there,
    versions_of,
)
from magicbyte_tools.generate.source import Spec

FILE = "id title doc messages"
MESSAGE = "name type former_types doc versions flexible structs fields"
FIELD = "name type versions nullable tag default releases values doc fields"

NULLABLE = {"string", "bytes"}
UNFINISHED = re.compile(r"\b(TODO|TBD|FIXME|XXX)\b")


def lint_messages(folder: Path) -> list[Problem]:
    """Return all problems of the files of messages in *folder*."""
    files = sorted((folder / "messages").glob("*.yaml"))
    if not files:
        return []
    schema = json.loads((folder / "schema" / "messages.schema.json").read_text("utf-8"))
    return [found for file in files for found in _File(file, schema).problems()]


class _File(Checked):
    """One file of messages, and what is wrong with it."""

    width = 100

    def __init__(self, file: Path, schema: Spec) -> None:
        super().__init__(file, f"messages/{file.name}")
        self.schema = schema

    def problems(self) -> list[Problem]:
        found = [*self.lines()]
        wrong = [*self.index()]
        if not wrong and not isinstance(self.spec, dict):
            wrong.append(self.problem(None, "has no keys"))
        wrong = wrong or [*self.shape()] or [*self.rules()]
        return sorted(found + wrong, key=lambda problem: problem.line)

    def shape(self) -> Iterator[Problem]:
        """What the schema says."""
        for error in jsonschema.Draft202012Validator(self.schema).iter_errors(self.spec):
            steps = [*error.absolute_path]
            inner: list[str] = []
            while "".join(f"/{step}" for step in steps) not in self.nodes:
                inner.insert(0, str(steps.pop()))
            node = self.nodes["".join(f"/{step}" for step in steps)]
            where = f"{'/'.join(inner)}: " if inner else ""
            yield self.problem(node, f"{where}{error.message}")

    def rules(self) -> Iterator[Problem]:
        """What it does not say."""
        top = self.nodes[""]
        yield from self.order(top, FILE)
        yield from self.doc(top)
        if self.spec["id"] != self.file.stem:
            yield self.problem(top, f"id is not the file's name, {self.file.stem}")
        nodes = [self.nodes[f"/messages/{n}"] for n in range(len(self.spec["messages"]))]
        yield from self.names(nodes)
        for node in nodes:
            yield from _Message(self, node).problems()
        if all(not [*self.ranges(node)] for node in nodes):
            yield from self.types(nodes)
            yield from self.pairs(nodes)

    def doc(self, node: Node) -> Iterator[Problem]:
        doc = node.value["doc"].strip()
        if not doc.endswith("."):
            yield self.problem(node, "doc is a sentence, with a full stop")
        if UNFINISHED.search(doc):
            yield self.problem(node, "doc is not written yet")

    def ranges(self, node: Node) -> Iterator[Problem]:
        """Ranges of a message or a field that end before they begin."""
        one = node.value
        releases = [*one.get("former_types", {}).values()]
        releases += [one["releases"]] if "releases" in one else []
        for text in releases:
            first, last = releases_of(text)
            if last is not None and last < first:
                yield self.problem(node, f"releases {text} end before they begin")
        versions = one.get("versions", "0")
        for text in versions.values() if isinstance(versions, dict) else [versions]:
            if not versions_of(text) and text != "none":
                yield self.problem(node, f"versions {text} end before they begin")

    def names(self, nodes: list[Node]) -> Iterator[Problem]:
        seen = set()
        for node in nodes:
            if node.value["name"] in seen:
                yield self.problem(node, f"a message {node.value['name']} is there already")
            seen.add(node.value["name"])

    def types(self, nodes: list[Node]) -> Iterator[Problem]:
        """A number says which message it is: all have one, or none has."""
        if len({"type" in node.value for node in nodes}) > 1:
            for node in nodes:
                if "type" not in node.value:
                    yield self.problem(node, "has no type, which others in the file have")
            return
        releases = {release for node in nodes for release in beginnings(node.value)}
        for release in sorted(releases):
            seen: dict[tuple[str, int], str] = {}
            for node in nodes:
                name = node.value["name"]
                for number in numbers(node.value, release):
                    other = seen.setdefault((_part(name), number), name)
                    if other != name:
                        where = f"in {release_text(release)}"
                        yield self.problem(node, f"type {number} is {other} too, {where}")

    def pairs(self, nodes: list[Node]) -> Iterator[Problem]:
        """Where one message is a key or a value, all are, each value behind its key."""
        if not any(_part(node.value["name"]) for node in nodes):
            return
        waiting: Spec | None = None
        for node in nodes:
            one, part = node.value, _part(node.value["name"])
            stem = one["name"].removesuffix(part)
            if not part:
                yield self.problem(node, "is neither key nor value, as others in the file are")
                continue
            if waiting is not None and (part == "Key" or waiting["name"] != f"{stem}Key"):
                yield self.problem(node, f"{waiting['name']} has no value behind it")
            if part == "Value":
                if waiting is None or waiting["name"] != f"{stem}Key":
                    yield self.problem(node, "has no key before it")
                else:
                    for what in differences(waiting, one):
                        yield self.problem(node, f"{what} are not those of its key")
            waiting = one if part == "Key" else None
        if waiting is not None:
            yield self.problem(nodes[-1], f"{waiting['name']} has no value behind it")


class _Message:
    """One message of a file, and what is wrong with it."""

    def __init__(self, file: _File, node: Node) -> None:
        self.file, self.node, self.spec = file, node, node.value
        self.structs: Spec = self.spec.get("structs", {})

    def problems(self) -> Iterator[Problem]:
        yield from self.file.order(self.node, MESSAGE)
        yield from self.file.doc(self.node)
        wrong = [*self.steps(), *self.ranges()]
        wrong += self.kinds()
        yield from wrong
        for field in self.fields():
            yield from self.file.order(field, FIELD)
            yield from self.file.doc(field)
            yield from self.null(field)
            yield from self.default(field)
            yield from self.values(field)
        if not wrong:
            yield from self.presence()

    # What is wrong by itself.

    def lists(self) -> Iterator[str]:
        """Yield the path of every list of fields: the message's, the structures'."""
        waiting = [self.file.path(self.node, "fields")]
        waiting += [self.file.path(self.node, "structs", name) for name in self.structs]
        while waiting:
            path = waiting.pop(0)
            yield path
            for field in self.listed(path):
                if "fields" in field.value:
                    waiting.append(self.file.path(field, "fields"))

    def listed(self, path: str) -> list[Node]:
        found: list[Node] = []
        while f"{path}/{len(found)}" in self.file.nodes:
            found.append(self.file.nodes[f"{path}/{len(found)}"])
        return found

    def fields(self) -> list[Node]:
        return [field for path in self.lists() for field in self.listed(path)]

    def steps(self) -> Iterator[Problem]:
        for key in ("versions", "flexible"):
            steps = self.spec.get(key, {})
            since = [release_of(text) for text in steps] if isinstance(steps, dict) else []
            if since != sorted(since):
                yield self.file.problem(self.node, f"{key}: releases are to be in their order")

    def ranges(self) -> Iterator[Problem]:
        for node in (self.node, *self.fields()):
            yield from self.file.ranges(node)

    def kinds(self) -> Iterator[Problem]:
        """A structure is described once: inline, or below `structs` where several have it."""
        inline, used = set(), set()
        for field in self.fields():
            name = _element(field.value)
            is_inline = "fields" in field.value
            if name in SCALARS:
                if is_inline:
                    yield self.file.problem(field, f"{name} is no structure, and has fields")
                continue
            if is_inline:
                if name in inline or name in self.structs:
                    yield self.file.problem(field, f"{name} is there twice: it belongs in structs")
                inline.add(name)
            elif name not in self.structs:
                yield self.file.problem(field, f"{name} is no type and no structure")
            else:
                used.add(name)
        for name in self.structs:
            if name not in used:
                yield self.file.problem(self.node, f"structs: {name} is not used")
            if name in self.inside(name):
                yield self.file.problem(self.node, f"structs: {name} has itself in it")

    def inside(self, name: str) -> set[str]:
        """Return the structures with a name that are in the one called *name*."""
        found: set[str] = set()
        waiting = [self.structs[name]]
        while waiting:
            for field in waiting.pop():
                waiting.append(field.get("fields", []))
                inner = _element(field)
                if inner in self.structs and inner not in found:
                    found.add(inner)
                    waiting.append(self.structs[inner])
        return found

    def null(self, node: Node) -> Iterator[Problem]:
        field = node.value
        element = _element(field)
        can_be = field["type"].startswith("[]") or element in NULLABLE or element not in SCALARS
        if "nullable" in field and not can_be:
            yield self.file.problem(node, f"{element} is never null")

    def default(self, node: Node) -> Iterator[Problem]:
        field = node.value
        if "default" not in field:
            return
        default, kind = field["default"], field["type"]
        if default is None:
            if "nullable" not in field:
                yield self.file.problem(node, "default is null, and the field is not nullable")
        elif isinstance(default, bool):
            if kind != "bool":
                yield self.file.problem(node, f"default {default} is no {kind}")
        elif default not in _values(kind):
            yield self.file.problem(node, f"default {default} is no {kind}")

    def values(self, node: Node) -> Iterator[Problem]:
        """Numbers with names are numbers that the field can be, each with a name of its own."""
        kind, names = node.value["type"], node.value.get("values", {})
        for number in names:
            if int(number) not in _values(kind):
                yield self.file.problem(node, f"values: {number} is no {kind}")
        if len({*names.values()}) < len(names):
            yield self.file.problem(node, "values: two are called the same")

    # What is wrong in some versions, in some releases.

    def presence(self) -> Iterator[Problem]:
        known = known_versions(self.spec)
        everywhere = {(release, v) for release, versions in known.items() for v in versions}
        shared: dict[str, Places] = {name: set() for name in self.structs}
        self.spread(self.spec["fields"], everywhere, shared)
        yield from self.structure(self.file.path(self.node, "fields"), everywhere)
        for name, places in shared.items():
            yield from self.structure(self.file.path(self.node, "structs", name), places)

    def spread(self, fields: list[Spec], places: Places, shared: dict[str, Places]) -> None:
        """Add to *shared* where the structures with names are that *fields* have at *places*."""
        for field in fields:
            here = there(field, places)
            self.spread(field.get("fields", []), here, shared)
            name = _element(field)
            if name in self.structs and not here <= shared[name]:
                shared[name] |= here
                self.spread(self.structs[name], here, shared)

    def structure(self, path: str, places: Places) -> Iterator[Problem]:
        """What is wrong with the fields at *path* of a structure that is there at *places*."""
        names: dict[str, Places] = {}
        tags: dict[int, Places] = {}
        for node in self.listed(path):
            field = node.value
            here = there(field, places)
            yield from self.reach(node, places, here)
            yield from self.twice(
                node, f"a field {field['name']}", names, json_name(field["name"]), here
            )
            if "tag" in field:
                yield from self.twice(node, f"tag {field['tag']}", tags, field["tag"], here)
                stiff = {place for place in here if not self.is_flexible(*place)}
                if stiff:
                    where = place_text(min(stiff))
                    yield self.file.problem(node, f"is tagged, and {where} is not flexible")
            if "fields" in field:
                yield from self.structure(self.file.path(node, "fields"), here)

    def reach(self, node: Node, places: Places, here: Places) -> Iterator[Problem]:
        """A field is there where its versions and its releases begin, and in the last version."""
        field = node.value
        if not here:
            yield self.file.problem(node, "is in no version of any release")
            return
        if "versions" in field:
            versions = {version for _, version in here}
            named = [int(text) for text in re.findall(r"\d+", field["versions"])]
            for version in named:
                if version not in versions:
                    yield self.file.problem(node, f"version {version} is none of the message's")
        if "releases" in field:
            first, _ = releases_of(field["releases"])
            if first not in {release for release, _ in here}:
                yield self.file.problem(node, f"{release_text(first)} knows no version that has it")

    def twice(
        self, node: Node, what: str, seen: dict[Any, Places], key: object, here: Places
    ) -> Iterator[Problem]:
        both = seen.setdefault(key, set()) & here
        if both:
            yield self.file.problem(node, f"{what} is there already in {place_text(min(both))}")
        seen[key] |= here

    def is_flexible(self, release: Release, version: int) -> bool:
        steps = self.spec.get("flexible", "none")
        if not isinstance(steps, dict):
            steps = {next(iter(self.spec["versions"])): steps}
        flexible = latest(steps, release)
        return flexible != "none" and version in versions_of(flexible)


def _element(field: Spec) -> str:
    name: str = field["type"].removeprefix("[]")
    return name


def _part(name: str) -> str:
    """Return whether the message called *name* is a Key or a Value, in this word."""
    return next((part for part in ("Key", "Value") if name.endswith(part)), "")


def _values(kind: str) -> range:
    """Return the integers that *kind* can be; none of what is no integer."""
    found = re.fullmatch(r"(u?)int(\d+)", kind)
    if found is None:
        return range(0)
    bits = int(found[2])
    return range(0, 1 << bits) if found[1] else range(-(1 << bits - 1), 1 << bits - 1)
