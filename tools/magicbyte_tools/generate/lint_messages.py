"""Checks of the files in spec/messages: their JSON Schema, and rules that it cannot express."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema

from magicbyte_tools.generate import presence
from magicbyte_tools.generate.linted_yaml import LintedFile, LintProblem, YamlMapping
from magicbyte_tools.generate.message_schemas import SCALARS, json_name
from magicbyte_tools.generate.presence import Occurrences, Release
from magicbyte_tools.generate.source import Spec

FILE = "id title doc messages"
MESSAGE = "name type former_types doc versions flexible structs fields"
FIELD = "name type versions nullable tag default releases values doc fields"

NULLABLE = {"string", "bytes"}
UNFINISHED = re.compile(r"\b(TODO|TBD|FIXME|XXX)\b")


def lint_messages(folder: Path) -> list[LintProblem]:
    """Return all broken rules in the files of messages in *folder*."""
    files = sorted((folder / "messages").glob("*.yaml"))
    if not files:
        return []
    schema = json.loads((folder / "schema" / "messages.schema.json").read_text("utf-8"))
    return [problem for file in files for problem in MessagesFile(file, schema).problems()]


class MessagesFile(LintedFile):
    """Lint of a file of message schemas."""

    width = 100

    def __init__(self, path: Path, schema: Spec) -> None:
        super().__init__(path, f"messages/{path.name}")
        self.schema = schema

    def problems(self) -> list[LintProblem]:
        line_problems, problems = [*self.lines()], [*self.index()]
        if not problems and not isinstance(self.spec, dict):
            problems.append(self.problem(None, "has no keys"))
        problems = problems or [*self.shape()] or [*self.rules()]
        return sorted(line_problems + problems, key=lambda problem: problem.line)

    def shape(self) -> Iterator[LintProblem]:
        """Yield violations of the JSON Schema."""
        for error in jsonschema.Draft202012Validator(self.schema).iter_errors(self.spec):
            steps = [*error.absolute_path]
            inner: list[str] = []
            while "".join(f"/{step}" for step in steps) not in self.mappings:
                inner.insert(0, str(steps.pop()))
            mapping = self.mappings["".join(f"/{step}" for step in steps)]
            where = f"{'/'.join(inner)}: " if inner else ""
            yield self.problem(mapping, f"{where}{error.message}")

    def rules(self) -> Iterator[LintProblem]:
        """Yield violations of the rules that the JSON Schema cannot express."""
        top = self.mappings[""]
        yield from self.order(top, FILE)
        yield from self.doc(top)
        if self.spec["id"] != self.file.stem:
            yield self.problem(top, f"id is not the file's name, {self.file.stem}")
        mappings = [self.mappings[f"/messages/{n}"] for n in range(len(self.spec["messages"]))]
        yield from self.names(mappings)
        for mapping in mappings:
            yield from MessageLint(self, mapping).problems()
        if all(not [*self.ranges(mapping)] for mapping in mappings):
            yield from self.types(mappings)
            yield from self.pairs(mappings)

    def doc(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        doc = mapping.value["doc"].strip()
        if not doc.endswith("."):
            yield self.problem(mapping, "doc is a sentence, with a full stop")
        if UNFINISHED.search(doc):
            yield self.problem(mapping, "doc is not written yet")

    def ranges(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        """Yield ranges of a message or a field that end before they begin."""
        one = mapping.value
        releases = [*one.get("former_types", {}).values()]
        releases += [one["releases"]] if "releases" in one else []
        for text in releases:
            first, last = presence.releases_of(text)
            if last is not None and last < first:
                yield self.problem(mapping, f"releases {text} end before they begin")
        versions = one.get("versions", "0")
        for text in versions.values() if isinstance(versions, dict) else [versions]:
            if not presence.versions_of(text) and text != "none":
                yield self.problem(mapping, f"versions {text} end before they begin")

    def names(self, mappings: list[YamlMapping]) -> Iterator[LintProblem]:
        seen = set()
        for mapping in mappings:
            if mapping.value["name"] in seen:
                yield self.problem(mapping, f"a message {mapping.value['name']} is there already")
            seen.add(mapping.value["name"])

    def types(self, mappings: list[YamlMapping]) -> Iterator[LintProblem]:
        """Yield messages without a number where others have one, and numbers used twice."""
        if len({"type" in mapping.value for mapping in mappings}) > 1:
            for mapping in mappings:
                if "type" not in mapping.value:
                    yield self.problem(mapping, "has no type, which others in the file have")
            return
        releases = {
            release for mapping in mappings for release in presence.beginnings(mapping.value)
        }
        for release in sorted(releases):
            seen: dict[tuple[str, int], str] = {}
            for mapping in mappings:
                name = mapping.value["name"]
                for number in presence.numbers(mapping.value, release):
                    other = seen.setdefault((_part(name), number), name)
                    if other != name:
                        where = f"in {presence.release_text(release)}"
                        yield self.problem(mapping, f"type {number} is {other} too, {where}")

    def pairs(self, mappings: list[YamlMapping]) -> Iterator[LintProblem]:
        """Yield keys and values that do not form pairs: each value must follow its key."""
        if not any(_part(mapping.value["name"]) for mapping in mappings):
            return
        waiting: Spec | None = None
        for mapping in mappings:
            one, part = mapping.value, _part(mapping.value["name"])
            stem = one["name"].removesuffix(part)
            if not part:
                yield self.problem(mapping, "is neither key nor value, as others in the file are")
                continue
            if waiting is not None and (part == "Key" or waiting["name"] != f"{stem}Key"):
                yield self.problem(mapping, f"{waiting['name']} has no value after it")
            if part == "Value":
                if waiting is None or waiting["name"] != f"{stem}Key":
                    yield self.problem(mapping, "has no key before it")
                else:
                    for what in presence.differences(waiting, one):
                        yield self.problem(mapping, f"{what} are not those of its key")
            waiting = one if part == "Key" else None
        if waiting is not None:
            yield self.problem(mappings[-1], f"{waiting['name']} has no value after it")


class MessageLint:
    """Lint of the schema of one Kafka message."""

    def __init__(self, messages_file: MessagesFile, mapping: YamlMapping) -> None:
        self.file, self.mapping, self.spec = messages_file, mapping, mapping.value
        self.structs: Spec = self.spec.get("structs", {})

    def problems(self) -> Iterator[LintProblem]:
        yield from self.file.order(self.mapping, MESSAGE)
        yield from self.file.doc(self.mapping)
        wrong = [*self.steps(), *self.ranges(), *self.kinds()]
        yield from wrong
        for field_spec in self.field_mappings():
            yield from self.file.order(field_spec, FIELD)
            yield from self.file.doc(field_spec)
            yield from self.null(field_spec)
            yield from self.default(field_spec)
            yield from self.values(field_spec)
        if not wrong:
            yield from self.presence()

    # Rules for the message as written

    def lists(self) -> Iterator[str]:
        """Yield the path of every list of fields, of the message and of its structs."""
        waiting = [self.file.path(self.mapping, "fields")]
        waiting += [self.file.path(self.mapping, "structs", name) for name in self.structs]
        while waiting:
            path = waiting.pop(0)
            yield path
            for field_spec in self.listed(path):
                if "fields" in field_spec.value:
                    waiting.append(self.file.path(field_spec, "fields"))

    def listed(self, path: str) -> list[YamlMapping]:
        listed: list[YamlMapping] = []
        while f"{path}/{len(listed)}" in self.file.mappings:
            listed.append(self.file.mappings[f"{path}/{len(listed)}"])
        return listed

    def field_mappings(self) -> list[YamlMapping]:
        return [field_spec for path in self.lists() for field_spec in self.listed(path)]

    def steps(self) -> Iterator[LintProblem]:
        for key in ("versions", "flexible"):
            steps = self.spec.get(key, {})
            since = [presence.release_of(text) for text in steps] if isinstance(steps, dict) else []
            if since != sorted(since):
                yield self.file.problem(self.mapping, f"{key}: releases are to be in their order")

    def ranges(self) -> Iterator[LintProblem]:
        for mapping in (self.mapping, *self.field_mappings()):
            yield from self.file.ranges(mapping)

    def kinds(self) -> Iterator[LintProblem]:
        """Yield unknown types, and structs that are not described exactly once."""
        inline, used = set(), set()
        for field_spec in self.field_mappings():
            name = _element(field_spec.value)
            is_inline = "fields" in field_spec.value
            if name in SCALARS:
                if is_inline:
                    yield self.file.problem(field_spec, f"{name} is no structure, and has fields")
            elif is_inline:
                if name in inline or name in self.structs:
                    message = f"{name} is there twice: it belongs in structs"
                    yield self.file.problem(field_spec, message)
                inline.add(name)
            elif name not in self.structs:
                yield self.file.problem(field_spec, f"{name} is no type and no structure")
            else:
                used.add(name)
        for name in self.structs:
            if name not in used:
                yield self.file.problem(self.mapping, f"structs: {name} is not used")
            if name in self.inside(name):
                yield self.file.problem(self.mapping, f"structs: {name} has itself in it")

    def inside(self, name: str) -> set[str]:
        """Return the shared structs that the shared struct *name* contains."""
        contained: set[str] = set()
        waiting = [self.structs[name]]
        while waiting:
            for field_spec in waiting.pop():
                waiting.append(field_spec.get("fields", []))
                inner = _element(field_spec)
                if inner in self.structs and inner not in contained:
                    contained.add(inner)
                    waiting.append(self.structs[inner])
        return contained

    def null(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        field_spec = mapping.value
        element = _element(field_spec)
        is_array = field_spec["type"].startswith("[]")
        is_never_null = element in SCALARS - NULLABLE and not is_array
        if "nullable" in field_spec and is_never_null:
            yield self.file.problem(mapping, f"{element} is never null")

    def default(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        field_spec = mapping.value
        if "default" not in field_spec:
            return
        default, kind = field_spec["default"], field_spec["type"]
        if default is None:
            if "nullable" not in field_spec:
                yield self.file.problem(mapping, "default is null, and the field is not nullable")
        elif isinstance(default, bool):
            if kind != "bool":
                yield self.file.problem(mapping, f"default {default} is no {kind}")
        elif default not in _values(kind):
            yield self.file.problem(mapping, f"default {default} is no {kind}")

    def values(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        """Yield named numbers that the field cannot have, and names that are used twice."""
        kind, names = mapping.value["type"], mapping.value.get("values", {})
        for number in names:
            if int(number) not in _values(kind):
                yield self.file.problem(mapping, f"values: {number} is no {kind}")
        if len({*names.values()}) < len(names):
            yield self.file.problem(mapping, "values: two are called the same")

    # Rules for each version and release

    def presence(self) -> Iterator[LintProblem]:
        known = presence.known_versions(self.spec)
        everywhere = {(release, v) for release, versions in known.items() for v in versions}
        shared: dict[str, Occurrences] = {name: set() for name in self.structs}
        self.spread(self.spec["fields"], everywhere, shared)
        yield from self.structure(self.file.path(self.mapping, "fields"), everywhere)
        for name, occurrences in shared.items():
            yield from self.structure(self.file.path(self.mapping, "structs", name), occurrences)

    def spread(
        self, field_specs: list[Spec], occurrences: Occurrences, shared: dict[str, Occurrences]
    ) -> None:
        """Add to *shared* the occurrences of shared structs in fields of a struct with *occurrences*."""
        for field_spec in field_specs:
            here = presence.field_occurrences(field_spec, occurrences)
            self.spread(field_spec.get("fields", []), here, shared)
            name = _element(field_spec)
            if name in self.structs and not here <= shared[name]:
                shared[name] |= here
                self.spread(self.structs[name], here, shared)

    def structure(self, path: str, occurrences: Occurrences) -> Iterator[LintProblem]:
        """Yield broken rules of the fields at *path*, in all *occurrences* of their struct."""
        seen: dict[str | int, Occurrences] = {}
        for mapping in self.listed(path):
            field_spec = mapping.value
            here = presence.field_occurrences(field_spec, occurrences)
            yield from self.reach(mapping, here)
            identities = {json_name(field_spec["name"]): f"a field {field_spec['name']}"}
            if "tag" in field_spec:
                identities[field_spec["tag"]] = f"tag {field_spec['tag']}"
            for identity, what in identities.items():
                if both := seen.setdefault(identity, set()) & here:
                    message = f"{what} is there already in {presence.occurrence_text(min(both))}"
                    yield self.file.problem(mapping, message)
                seen[identity] |= here
            rigid = {occurrence for occurrence in here if not self.is_flexible(*occurrence)}
            if "tag" in field_spec and rigid:
                where = presence.occurrence_text(min(rigid))
                yield self.file.problem(mapping, f"is tagged, and {where} is not flexible")
            if "fields" in field_spec:
                yield from self.structure(self.file.path(mapping, "fields"), here)

    def reach(self, mapping: YamlMapping, here: Occurrences) -> Iterator[LintProblem]:
        """Yield versions and releases of a field that its message does not have."""
        field_spec = mapping.value
        if not here:
            yield self.file.problem(mapping, "is in no version of any release")
            return
        if "versions" in field_spec:
            versions = {version for _, version in here}
            named = [int(text) for text in re.findall(r"\d+", field_spec["versions"])]
            for version in named:
                if version not in versions:
                    yield self.file.problem(mapping, f"version {version} is none of the message's")
        if "releases" in field_spec:
            first, _ = presence.releases_of(field_spec["releases"])
            if first not in {release for release, _ in here}:
                message = f"{presence.release_text(first)} knows no version that has it"
                yield self.file.problem(mapping, message)

    def is_flexible(self, release: Release, version: int) -> bool:
        steps = self.spec.get("flexible", "none")
        if not isinstance(steps, dict):
            steps = {next(iter(self.spec["versions"])): steps}
        flexible = presence.latest(steps, release)
        return flexible != "none" and version in presence.versions_of(flexible)


def _element(field_spec: Spec) -> str:
    name: str = field_spec["type"].removeprefix("[]")
    return name


def _part(name: str) -> str:
    """Return "Key" or "Value" if the message *name* is one; otherwise an empty text."""
    return next((part for part in ("Key", "Value") if name.endswith(part)), "")


def _values(kind: str) -> range:
    """Return the numbers that the integer type *kind* can represent; none for other types."""
    match = re.fullmatch(r"(u?)int(\d+)", kind)
    if match is None:
        return range(0)
    bits = int(match[2])
    return range(0, 1 << bits) if match[1] else range(-(1 << bits - 1), 1 << bits - 1)
