"""Markdown pages about the messages of spec/messages, one per file: each message and its fields."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from magicbyte_tools.generate.message_schemas import SCALARS
from magicbyte_tools.reference.anchors import anchored, field_anchor, slug
from magicbyte_tools.reference.library import Library, Spec
from magicbyte_tools.reference.pages import NOTE, cell, table, text

FOLDER = "messages"

LEVEL = "· "
"""Prefix of the name of a nested field, once per level of nesting."""

ABSENT = {"string": "empty", "bytes": "empty", "uuid": "zeros", "bool": "false"}
"""Default values of omitted tagged fields, by type; 0 for numbers."""


class MessageFile:
    """All message files by id, with the page and anchor that describe each message."""

    def __init__(self, files: Mapping[str, Spec], library: Library) -> None:
        self.files = files
        self.places = {
            message["name"]: (file, slug(message["name"]))
            for file, spec in files.items()
            for message in spec["messages"]
        }
        self.formats = library.formats

    def linked(self, words: str, file: str, own: str = "") -> str:
        """Turn the names of messages (except *own*) and formats in *words* into Markdown links."""

        def link(match: re.Match[str]) -> str:
            if match[1] in self.formats:
                return f"[`{match[1]}`](../{match[1]}.md)"
            name = match[2]
            if name not in self.places or name == own:
                return match[0]
            where, anchor = self.places[name]
            return f"[{name}]({'' if where == file else f'{where}.md'}#{anchor})"

        return re.sub(r"`(\w+)`|(?<![`\w])([A-Z]\w+)(?![`\w])", link, words)


@dataclass(frozen=True)
class MessagesPage:
    """The Markdown page of one message file."""

    name: str
    spec: Spec
    messages: MessageFile

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.name}.md"

    def markdown(self) -> str:
        parts = [
            f"{NOTE}# {self.spec['title']}",
            self.head(),
            self.messages.linked(text(self.spec["doc"]), self.name),
            self.index(),
        ]
        for message in self.spec["messages"]:
            parts += _Section(message, self).parts()
        return "\n\n".join(parts) + "\n"

    def head(self) -> str:
        source = f"spec/messages/{self.name}.yaml"
        return (
            f"[All formats](../README.md) · [`{source}`](../../../{source}) · "
            "[How a message becomes bytes](../../../spec/messages/README.md)"
        )

    def index(self) -> str:
        """Return the table of the file's messages; the key and value of a topic share one row."""
        rows: list[dict[str, str]] = []
        for message in self.spec["messages"]:
            name = message["name"]
            link = f"[{name}](#{slug(name)})"
            first = re.match(r".*?[.](?=\s|$)", " ".join(message["doc"].split()))
            row = {
                "type": str(message.get("type", "")),
                "message": link,
                "known": known_words(message),
                "meaning": cell(first[0]) if first else "",
            }
            if name.endswith("Value") and rows:  # its key is in the row before
                row["message"] = f"{rows.pop()['message']}<br>{link}"
            rows.append(row)
        return table(rows)


@dataclass(frozen=True)
class _Section:
    """The section of a page about one message."""

    message: Spec
    page: MessagesPage

    @property
    def structs(self) -> dict[str, list[Spec]]:
        by_name: dict[str, list[Spec]] = self.message.get("structs", {})
        return by_name

    def parts(self) -> Iterator[str]:
        name = self.message["name"]
        yield f"## {name}"
        yield self.linked(text(self.message["doc"]))
        yield facts(self.message)
        yield self.fields(self.message["fields"], name) or "It has no fields."
        for struct, fields in self.structs.items():
            yield f"### {self.heading(struct)}"
            yield self.fields(fields, f"{name}.{struct}")

    def heading(self, struct: str) -> str:
        return f"{struct} in {self.message['name']}"

    def linked(self, words: str) -> str:
        return self.page.messages.linked(words, self.page.name, self.message["name"])

    def fields(self, fields: Sequence[Spec], structure_name: str) -> str:
        rows = [self.row(*found) for found in _flat(fields, structure_name, 0)]
        return table(rows) if rows else ""

    def row(self, field: Spec, anchor: str, depth: int) -> dict[str, str]:
        return {
            "field": LEVEL * depth + anchored(anchor, f"`{field['name']}`"),
            "type": self.type_cell(field),
            "versions": field.get("versions", ""),
            "releases": field.get("releases", ""),
            "tag": str(field.get("tag", "")),
            "default": default_words(field) if "tag" in field else "",
            "meaning": self.linked(cell(field["doc"])) + _names(field),
        }

    def type_cell(self, field: Spec) -> str:
        struct = field["type"].removeprefix("[]")
        words = f"`{field['type']}`"
        if struct in self.structs:
            words = f"[{words}](#{slug(self.heading(struct))})"
        return f"{words} or null" if field.get("nullable") else words


def _names(field: Spec) -> str:
    """Return a sentence that lists the named values of *field*, empty if there are none."""
    names = (f"{number} {name}" for number, name in field.get("values", {}).items())
    words = ", ".join(names)
    return f" Numbers: {words}." if words else ""


def _flat(
    fields: Sequence[Spec], structure_name: str, depth: int
) -> Iterator[tuple[Spec, str, int]]:
    """Yield *fields*, each followed by its nested fields, with the anchor and the depth of nesting of each."""
    seen: set[str] = set()
    for field in fields:
        anchor = field_anchor(structure_name, field["name"])
        if field["name"] in seen:  # a field that has changed: its versions tell it apart
            anchor += f"-{field.get('versions', field.get('releases', ''))}"
        seen.add(field["name"])
        yield field, anchor, depth
        yield from _flat(field.get("fields", []), anchor, depth + 1)


def facts(message: Spec) -> str:
    """Return a line with the type, the versions and the flexible versions of *message*."""
    found = []
    if "type" in message:
        former = message.get("former_types", {}).items()
        also = "".join(f", {number} too in {_span(releases)}" for number, releases in former)
        found.append(f"Type {message['type']}{also}")
    found.append(version_words(message["versions"]))
    found.append(flexible_words(message.get("flexible", "none")))
    words = " · ".join(found)
    return words[0].upper() + words[1:]


def version_words(steps: dict[str, str]) -> str:
    """Return the text that states since which Kafka release each version exists."""
    known = [
        f"not known since {since}" if versions == "none" else f"{_span(versions)} since {since}"
        for since, versions in steps.items()
    ]
    several = any("-" in versions for versions in steps.values())
    return f"version{'s' if several else ''} {', '.join(known)}"


def flexible_words(flexible: str | dict[str, str]) -> str:
    """Return the text that states which versions have compact lengths and tagged fields."""
    if isinstance(flexible, dict):
        steps = [(since, one) for since, one in flexible.items() if one != "none"]
        return ", ".join(f"{flexible_words(one)} since {since}" for since, one in steps)
    if flexible == "none":
        return "not flexible"
    first = flexible.removesuffix("+")
    return "flexible" if first == "0" else f"flexible from version {first} on"


def known_words(message: Spec) -> str:
    """Return the text that states which Kafka releases have *message*."""
    first, *_ = message["versions"]
    gone = [since for since, versions in message["versions"].items() if versions == "none"]
    return f"{first} to before {gone[0]}" if gone else f"since {first}"


def default_words(field: Spec) -> str:
    """Return the default of a tagged *field* as text: the value of an omitted field."""
    if "default" in field:
        return "null" if field["default"] is None else str(field["default"]).lower()
    if field["type"].startswith("[]"):
        return "empty"
    return ABSENT.get(field["type"], "0" if field["type"] in SCALARS else "its defaults")


def _span(text: str) -> str:
    return text.replace("-", " to ")
