"""python -m magicbyte_tools.generate.lint: what the files of spec/ must be besides correct.

For .ksy files style after the official guide, the rules that keep one file working in all of the
compiler's languages, and the JSON Schema of the keys that begin with a hyphen; for those of
messages see lint_messages. A rule says why it is there where it reports.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema

from magicbyte_tools.generate.expressions import tokens
from magicbyte_tools.generate.lint_messages import lint_messages
from magicbyte_tools.generate.linted_yaml import Checked, Node, Problem
from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.generate.source import SPEC, Spec, load

WIDTH = 80

# The order of keys, after the style guide; ours stand before what explains them.
META = (
    "id title application file-extension xref tags license ks-version imports encoding endian"
    " bit-endian"
)
SECTIONS = (
    "meta doc doc-ref to-string -entry -header -derived -primitive -webide-representation"
    " -webide-parse-mode params seq instances types enums"
)
ATTRIBUTE = (
    "id -orig-id io pos value size size-eos type enum pad-right terminator consume include"
    " eos-error encoding process contents valid repeat repeat-expr repeat-until if -ours -name"
    " -table -until -derived -column -valid -sentinel -exact -length-of -checksum -compressed -webide-parse-mode"
    " doc doc-ref"
)
MEMBER = "id -orig-id doc"
NESTED_META = {"encoding", "endian", "bit-endian"}
ENCODINGS = {"ASCII", "UTF-8"}

# Of the compiler's languages; Rust's backend escapes none, and Nim's `len` shadows a field.
RESERVED = (
    "abstract as async await become box break const continue crate do dyn else enum extern false"
    " final fn for if impl in len let loop macro match mod move mut override priv pub ref return"
    " self static struct super trait true try type typeof unsafe unsized use virtual where while"
    " yield"
)
ARITHMETIC = set("+-*/%")


def lint(folder: Path = SPEC) -> list[Problem]:
    """Return all problems of the specifications in *folder*."""
    schema = json.loads((folder / "schema" / "magicbyte-keys.schema.json").read_text("utf-8"))
    files = sorted(folder.glob("*.ksy"))
    instances = {name for file in files for name in _instances(load(file))}
    found = [found for file in files for found in _File(file, schema, instances).problems()]
    return found + lint_messages(folder)


def _instances(structure: Spec) -> Iterator[str]:
    """Yield the names of all instances of a structure and of those in it."""
    yield from structure.get("instances", {})
    for inner in structure.get("types", {}).values():
        yield from _instances(inner)


class _File(Checked):
    """One specification, and what is wrong with it."""

    width = WIDTH
    numbered = re.compile(r"/enums/\w+$|/cases$")

    def __init__(self, file: Path, schema: Spec, instances: set[str]) -> None:
        super().__init__(file, file.name)
        self.schema, self.instances = schema, instances

    def problems(self) -> list[Problem]:
        found = [*self.lines()]
        wrong_keys = [*self.index()]
        if not wrong_keys:
            found += self.meta(self.nodes["/meta"])
            found += self.structure(self.nodes[""])
        return sorted(found + wrong_keys, key=lambda problem: problem.line)

    # The sections.

    def meta(self, node: Node) -> Iterator[Problem]:
        meta = node.value
        yield from self.order(node, META)
        for key in ("title", "application", "license", "ks-version"):
            if key not in meta:
                yield self.problem(node, f"{key} is missing")
        if meta.get("id") != self.file.stem:
            yield self.problem(node, f"id is not the file's name, {self.file.stem}")
        if meta.get("license") != "CC0-1.0":
            yield self.problem(node, "license is not CC0-1.0")
        if not isinstance(meta.get("ks-version"), str):
            yield self.problem(node, "ks-version is to be quoted: 0.10 is not 0.1")
        for key in ("xref", "tags", "imports"):
            values = list(meta.get(key, []))
            if values != sorted(values):
                yield self.problem(node, f"{key} are to be sorted")
        if any(name.startswith("/") for name in meta.get("imports", [])):
            yield self.problem(node, "an absolute import needs the gallery checked out")
        if meta.get("encoding", "UTF-8") not in ENCODINGS:
            yield self.problem(node, f"encoding is none of {', '.join(sorted(ENCODINGS))}")

    def structure(self, node: Node) -> Iterator[Problem]:
        spec = node.value
        yield from self.order(node, SECTIONS)
        yield from self.doc(node)
        yield from self.keys(node, "structure")
        nested_meta = self.nodes.get(self.path(node, "meta"))
        if node.path and nested_meta and set(nested_meta.value) - NESTED_META:
            yield self.problem(nested_meta, "a nested meta has only encoding and byte order")
        for section in ("params", "seq"):
            for number, _ in enumerate(spec.get(section, [])):
                field = self.nodes[self.path(node, section, number)]
                yield from self.attribute(field, spec, section)
        for name in spec.get("instances", {}):
            instance = self.nodes[self.path(node, "instances", name)]
            yield from self.attribute(instance, spec, "instances", name)
        for name in spec.get("enums", {}):
            yield from self.enum(node, name)
        yield from self.class_names(node)
        yield from self.representations(node)
        for name in spec.get("types", {}):
            inner = self.nodes[self.path(node, "types", name)]
            yield from self.structure(inner)

    def enum(self, node: Node, name: str) -> Iterator[Problem]:
        for value in node.value["enums"][name]:
            member = self.nodes.get(self.path(node, "enums", name, value))
            if member is None:
                yield self.problem(node, f"enum {name}, {value}: a value has id and doc")
                continue
            yield from self.order(member, MEMBER)
            yield from self.doc(member)
            yield from self.keys(member, "member")

    def attribute(
        self, node: Node, structure: Spec, section: str, name: str = ""
    ) -> Iterator[Problem]:
        field, name = node.value, name or node.value.get("id", "")
        yield from self.order(node, ATTRIBUTE)
        yield from self.doc(node)
        yield from self.keys(node, "field")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            yield self.problem(node, f"{name!r} is not an identifier in lower case")
        if name in RESERVED.split():
            yield self.problem(node, f"{name!r} is a word of some language (Rust, Nim)")
        if "repeat" in field and not name.endswith("s"):
            yield self.problem(node, f"{name!r} is repeated; its name is a plural")
        named = "-orig-id" in field or "-ours" in field or name.startswith("reserved")
        if section == "seq" and not named:
            yield self.problem(node, "has neither -orig-id nor -ours")
        yield from self.portable(node, structure, section)

    # The rules.

    def keys(self, node: Node, place: str) -> Iterator[Problem]:
        ours = {key: value for key, value in node.value.items() if str(key).startswith("-")}
        schema = {**self.schema, "$ref": f"#/$defs/{place}"}
        del schema["anyOf"]
        for error in jsonschema.Draft202012Validator(schema).iter_errors(ours):
            where = "/".join(map(str, error.absolute_path))
            yield self.problem(node, f"{where}: {error.message}" if where else error.message)

    def class_names(self, node: Node) -> Iterator[Problem]:
        """A class in a class must not be called like a member of it, nor like the class (C#)."""
        spec = node.value
        members = [field["id"] for key in ("params", "seq") for field in spec.get(key, [])]
        members += spec.get("instances", {})
        own = camel(node.path.rpartition("/")[2] or self.file.stem)
        for inner in [*spec.get("types", {}), *spec.get("enums", {})]:
            if camel(inner) in map(camel, members):
                yield self.problem(node, f"{inner!r} is a type and a field beside it (C#)")
        for member in members:
            if camel(member) == own:
                yield self.problem(node, f"{member!r} is called like the type around it (C#)")

    def representations(self, node: Node) -> Iterator[Problem]:
        """A type that appears in a list shows what it is in a line."""
        for field in node.value.get("seq", []):
            kind = str(field.get("type", "")).split("(")[0].strip()
            target = self.nodes.get(f"/types/{kind}")
            if "repeat" in field and target and "-webide-representation" not in target.value:
                yield self.problem(target, "is in a list and has no -webide-representation")

    def portable(self, node: Node, structure: Spec, section: str) -> Iterator[Problem]:
        """What compiles everywhere and yet does not work everywhere."""
        field = node.value
        valid = field.get("valid")
        if isinstance(valid, dict) and "expr" in valid:
            yield self.problem(node, "valid: expr crashes the compiler for Nim")
        if valid is not None and "value" in field:
            yield self.problem(node, "a value instance cannot have valid")
        if field.get("repeat") == "until":
            if valid is not None:
                yield self.problem(node, "valid in repeat: until panics in Go")
            if "_index" in f"{field.get('repeat-until')} {field.get('type')}":
                yield self.problem(node, "_index in repeat: until counts from 1 in Go")
        kind = field.get("type")
        if isinstance(kind, dict) and field.get("id") in self.instances:
            yield self.problem(node, "a switch is called like an instance elsewhere (Rust)")
        if isinstance(kind, dict) and "size" in field and "_" not in kind.get("cases", {}):
            yield self.problem(node, "a switch with size needs the case _ (Nim)")
        if section == "params" and field.get("type") in ("u8", "u8be", "u8le"):
            yield self.problem(node, "a parameter is s8, not u8 (C# mixes them up)")
        encoded = "encoding" in field or "encoding" in self.spec["meta"]
        if field.get("type") in ("str", "strz") and not encoded:
            yield self.problem(node, "a string has an encoding")
        for key in ("value", "size", "pos", "if", "repeat-expr", "repeat-until"):
            if isinstance(field.get(key), str):
                yield from self.expression(node, field[key], structure)

    def expression(self, node: Node, text: str, structure: Spec) -> Iterator[Problem]:
        try:
            words = ["", *tokens(text), ""]
        except ValueError as error:
            yield self.problem(node, str(error))
            return
        optional = {name for name, one in structure.get("instances", {}).items() if "if" in one}
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            if word == "[" and not re.match(r"[A-Za-z_)\]]", before):
                yield self.problem(node, "an array literal is not C++98")
            is_cast = after.startswith(".as<")
            if word in optional and not is_cast and ARITHMETIC & {before, after}:
                yield self.problem(
                    node, f"{word!r} has a condition and is to be cast before arithmetic (C#)"
                )


def main() -> int:
    """Print what is wrong; return the exit status."""
    found = lint()
    for problem in found:
        print(problem)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
