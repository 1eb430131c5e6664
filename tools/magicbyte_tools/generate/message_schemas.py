"""messages/: the schemas of Kafka's messages as tables of Python, from spec/messages/*.yaml.

Kafka's protocol has what Kaitai Struct has not: fields that come and go with versions and releases,
and tagged fields in any struct. So these have a form of their own, which `spec/messages/README.md`
describes and a JSON Schema checks.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from magicbyte_tools.generate.source import SPEC, Spec, load

PACKAGE = '"""Schemas of Kafka\'s messages, a module for each topic they are kept in."""\n'

SCALARS = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint16", "float64", "uuid", "string", "bytes"}
)

_RANGE = re.compile(r"(\d+)(?:-(\d+)|(\+))?")
_RELEASES = re.compile(r"(\d+\.\d+)(?:-(\d+\.\d+)|(\+))?")


def load_all(folder: Path = SPEC / "messages") -> dict[str, Spec]:
    """Return every file of messages in *folder* by its id, sorted."""
    return {path.stem: load(path) for path in sorted(folder.glob("*.yaml"))}


def module(spec: Spec) -> str:
    """Return the module of the messages of a file."""
    parts = [f'"""{spec["title"]}."""\n']
    parts.append(
        "from magicbyte_kernels.message_schema import (\n"
        "    MessageField,\n    MessageSchema,\n    ReleaseRange,\n    VersionRange,\n)\n"
    )
    names = []
    for message in spec["messages"]:
        for name, fields in _structs(message):
            parts.append(f"{_constant(message['name'], name)} = {_fields(fields, message, 0)}\n")
        name = _constant(message["name"])
        names.append(name)
        parts.append(f"{name} = {_message(message)}\n{_sentence(message['doc'])}\n")
    listed = "".join(f"    {name},\n" for name in names)
    parts.append(f"MESSAGES = (\n{listed})\n")
    return "\n".join(parts)


def _structs(message: Spec) -> list[tuple[str, list[Spec]]]:
    """Return the structs of *message* that have names, each behind those that are in it."""
    structs: dict[str, list[Spec]] = message.get("structs", {})
    found: dict[str, list[Spec]] = {}

    def visit(fields: list[Spec]) -> None:
        for field in fields:
            name = field["type"].removeprefix("[]")
            visit(field.get("fields", []))
            if name in structs and name not in found:
                visit(structs[name])
                found[name] = structs[name]

    visit(message["fields"])
    return list(found.items())


def _constant(*names: str) -> str:
    return "_".join(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper() for name in names)


def _sentence(text: str) -> str:
    return f'"""{" ".join(text.split())}"""'.replace("\\", "\\\\")


def _message(message: Spec) -> str:
    former = [
        f"({number}, {_releases(releases)})"
        for number, releases in message.get("former_types", {}).items()
    ]
    versions = [(since, known) for since, known in message["versions"].items()]
    flexible = message.get("flexible", "none")
    if not isinstance(flexible, dict):
        flexible = {versions[0][0]: flexible}
    return (
        "MessageSchema(\n"
        f"    name={_text(message['name'])},\n"
        f"    type={message.get('type')},\n"
        f"    former_types={_tuple(former)},\n"
        f"    versions={_steps(versions)},\n"
        f"    flexible={_steps(list(flexible.items()))},\n"
        f"    fields={_fields(message['fields'], message, 1)},\n"
        ")"
    )


def _steps(steps: Sequence[tuple[str, str]]) -> str:
    return _tuple([f"({_release(since)}, {_range(known)})" for since, known in steps])


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _fields(fields: Sequence[Spec], message: Spec, depth: int) -> str:
    inner = "    " * (depth + 1)
    lines = "".join(f"{inner}{_field(field, message, depth + 1)},\n" for field in fields)
    return f"(\n{lines}{'    ' * depth})" if lines else "()"


def _field(field: Spec, message: Spec, depth: int) -> str:
    kind: str = field["type"]
    element = kind.removeprefix("[]")
    said = {
        "name": _text(json_name(field["name"])),
        "kind": _text(element),
        "is_array": kind.startswith("[]") or None,
        "is_nullable": field.get("nullable"),
        "versions": _range(field["versions"]) if "versions" in field else None,
        "releases": _releases(field["releases"]) if "releases" in field else None,
        "tag": field.get("tag"),
        "default": field.get("default"),
        "values": _names(field["values"]) if "values" in field else None,
        "is_null_by_default": ("default" in field and field["default"] is None) or None,
    }
    if element in message.get("structs", {}):
        said |= {"kind": _text("struct"), "fields": _constant(message["name"], element)}
    elif element not in SCALARS:
        said |= {"kind": _text("struct"), "struct": _text(element)}
        said["fields"] = _fields(field["fields"], message, depth)
    told = (f"{key}={value}" for key, value in said.items() if value is not None)
    return f"MessageField({', '.join(told)})"


def _names(values: dict[str, str]) -> str:
    return _tuple([f"({number}, {_text(name)})" for number, name in values.items()])


def _text(text: str) -> str:
    return f'"{text}"'


def json_name(name: str) -> str:
    """Return the name that Kafka's JSON has for a field."""
    return name[0].lower() + name[1:]


def _range(text: str) -> str:
    if text == "none":
        return "None"
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no range of versions, as 0, 0-3 or 1+")
    first, last, rest = found.groups()
    return f"VersionRange({first}, {None if rest else last or first})"


def _release(text: str) -> str:
    major, minor = text.split(".")
    return f"({major}, {minor})"


def _releases(text: str) -> str:
    found = _RELEASES.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no range of releases, as 3.3, 2.8-3.2 or 3.3+")
    first, last, rest = found.groups()
    return f"ReleaseRange({_release(first)}, {None if rest else _release(last or first)})"
