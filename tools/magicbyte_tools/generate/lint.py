"""python -m magicbyte_tools.generate.lint: check style and portability of the files in spec/.

For .ksy files: style after Kaitai's guide, rules that keep a file working in all languages of the
compiler, and the JSON Schema of the keys that begin with a hyphen. For files of messages see
lint_messages. The message of a broken rule gives its reason.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema

from magicbyte_tools.generate.expressions import tokens
from magicbyte_tools.generate.lint_messages import lint_messages
from magicbyte_tools.generate.linted_yaml import LintedFile, LintProblem, YamlMapping
from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.generate.source import SPEC, Spec, load

WIDTH = 80

# Order of keys, after the style guide; keys with a hyphen precede the documentation.
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

# Words of the compiler's languages. Rust's backend does not escape its own; Nim's `len` hides a field.
RESERVED = (
    "abstract as async await become box break const continue crate do dyn else enum extern false"
    " final fn for if impl in len let loop macro match mod move mut override priv pub ref return"
    " self static struct super trait true try type typeof unsafe unsized use virtual where while"
    " yield"
)
ARITHMETIC = set("+-*/%")


def lint(folder: Path = SPEC) -> list[LintProblem]:
    """Return all broken rules in the specifications in *folder*."""
    schema = json.loads((folder / "schema" / "magicbyte-keys.schema.json").read_text("utf-8"))
    files = sorted(folder.glob("*.ksy"))
    instances = {name for file in files for name in _instances(load(file))}
    problems = [
        problem for file in files for problem in KsyFile(file, schema, instances).problems()
    ]
    return problems + lint_messages(folder)


def _instances(structure: Spec) -> Iterator[str]:
    """Yield the names of all instances of a structure and of its types."""
    yield from structure.get("instances", {})
    for inner in structure.get("types", {}).values():
        yield from _instances(inner)


class KsyFile(LintedFile):
    """Lint of a .ksy file, a specification in Kaitai's language."""

    width = WIDTH
    numbered = re.compile(r"/enums/\w+$|/cases$")

    def __init__(self, path: Path, schema: Spec, instances: set[str]) -> None:
        super().__init__(path, path.name)
        self.schema, self.instances = schema, instances

    def problems(self) -> list[LintProblem]:
        problems, wrong_keys = [*self.lines()], [*self.index()]
        if not wrong_keys:
            problems += self.meta(self.mappings["/meta"])
            problems += self.structure(self.mappings[""])
        return sorted(problems + wrong_keys, key=lambda problem: problem.line)

    # Sections

    def meta(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        meta = mapping.value
        yield from self.order(mapping, META)
        for key in ("title", "application", "license", "ks-version"):
            if key not in meta:
                yield self.problem(mapping, f"{key} is missing")
        if meta.get("id") != self.file.stem:
            yield self.problem(mapping, f"id is not the file's name, {self.file.stem}")
        if meta.get("license") != "CC0-1.0":
            yield self.problem(mapping, "license is not CC0-1.0")
        if not isinstance(meta.get("ks-version"), str):
            yield self.problem(mapping, "ks-version is to be quoted: 0.10 is not 0.1")
        for key in ("xref", "tags", "imports"):
            values = list(meta.get(key, []))
            if values != sorted(values):
                yield self.problem(mapping, f"{key} are to be sorted")
        if any(name.startswith("/") for name in meta.get("imports", [])):
            yield self.problem(mapping, "an absolute import needs the gallery checked out")
        if meta.get("encoding", "UTF-8") not in ENCODINGS:
            yield self.problem(mapping, f"encoding is none of {', '.join(sorted(ENCODINGS))}")

    def structure(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        spec = mapping.value
        yield from self.order(mapping, SECTIONS)
        yield from self.doc(mapping)
        yield from self.keys(mapping, "structure")
        yield from self.references(mapping)
        nested_meta = self.mappings.get(self.path(mapping, "meta"))
        if mapping.path and nested_meta and set(nested_meta.value) - NESTED_META:
            yield self.problem(nested_meta, "a nested meta has only encoding and byte order")
        for section in ("params", "seq"):
            for number, _ in enumerate(spec.get(section, [])):
                field = self.mappings[self.path(mapping, section, number)]
                yield from self.attribute(field, spec, section)
        for name in spec.get("instances", {}):
            instance = self.mappings[self.path(mapping, "instances", name)]
            yield from self.attribute(instance, spec, "instances", name)
        for name in spec.get("enums", {}):
            yield from self.enum(mapping, name)
        yield from self.class_names(mapping)
        yield from self.representations(mapping)
        for name in spec.get("types", {}):
            inner = self.mappings[self.path(mapping, "types", name)]
            yield from self.structure(inner)

    def references(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        """Yield structures of Kafka's without a `doc-ref`, and addresses of what Kafka may move."""
        references = mapping.value.get("doc-ref", [])
        named = any("-ours" not in field for field in mapping.value.get("seq", []))
        if not references and (named or not mapping.path):
            yield self.problem(mapping, "has no doc-ref: Kafka's documentation, class or KIP")
        for reference in [references] if isinstance(references, str) else references:
            if re.match(r"https://github\.com/apache/kafka/\w+/(?!\d+\.\d+\.\d+/)", reference):
                yield self.problem(mapping, "doc-ref to Kafka's code has the tag of a release")

    def enum(self, mapping: YamlMapping, name: str) -> Iterator[LintProblem]:
        for value in mapping.value["enums"][name]:
            member = self.mappings.get(self.path(mapping, "enums", name, value))
            if member is None:
                yield self.problem(mapping, f"enum {name}, {value}: a value has id and doc")
                continue
            yield from self.order(member, MEMBER)
            yield from self.doc(member)
            yield from self.keys(member, "member")

    def attribute(
        self, mapping: YamlMapping, structure: Spec, section_name: str, name: str = ""
    ) -> Iterator[LintProblem]:
        field, name = mapping.value, name or mapping.value.get("id", "")
        yield from self.order(mapping, ATTRIBUTE)
        yield from self.doc(mapping)
        yield from self.keys(mapping, "field")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            yield self.problem(mapping, f"{name!r} is not an identifier in lower case")
        if name in RESERVED.split():
            yield self.problem(mapping, f"{name!r} is a word of some language (Rust, Nim)")
        if "repeat" in field and not name.endswith("s"):
            yield self.problem(mapping, f"{name!r} is repeated; its name is a plural")
        named = "-orig-id" in field or "-ours" in field or name.startswith("reserved")
        if section_name == "seq" and not named:
            yield self.problem(mapping, "has neither -orig-id nor -ours")
        yield from self.portable(mapping, structure, section_name)

    # Rules

    def keys(self, mapping: YamlMapping, definition: str) -> Iterator[LintProblem]:
        ours = {key: value for key, value in mapping.value.items() if str(key).startswith("-")}
        schema = {**self.schema, "$ref": f"#/$defs/{definition}"}
        del schema["anyOf"]
        for error in jsonschema.Draft202012Validator(schema).iter_errors(ours):
            where = "/".join(map(str, error.absolute_path))
            yield self.problem(mapping, f"{where}: {error.message}" if where else error.message)

    def class_names(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        """Yield inner types with the name of a member, and members with the name of their type (C#)."""
        spec = mapping.value
        members = [field["id"] for key in ("params", "seq") for field in spec.get(key, [])]
        members += spec.get("instances", {})
        own = camel(mapping.path.rpartition("/")[2] or self.file.stem)
        for inner in [*spec.get("types", {}), *spec.get("enums", {})]:
            if camel(inner) in map(camel, members):
                yield self.problem(mapping, f"{inner!r} is a type and a field beside it (C#)")
        for member in members:
            if camel(member) == own:
                yield self.problem(mapping, f"{member!r} is called like the type around it (C#)")

    def representations(self, mapping: YamlMapping) -> Iterator[LintProblem]:
        """Yield types of list elements that have no one-line representation."""
        for field in mapping.value.get("seq", []):
            kind = str(field.get("type", "")).split("(")[0].strip()
            target = self.mappings.get(f"/types/{kind}")
            if "repeat" in field and target and "-webide-representation" not in target.value:
                yield self.problem(target, "is in a list and has no -webide-representation")

    def portable(
        self, mapping: YamlMapping, structure: Spec, section_name: str
    ) -> Iterator[LintProblem]:
        """Yield constructs that compile in all languages but fail in some of them."""
        field = mapping.value
        valid = field.get("valid")
        if isinstance(valid, dict) and "expr" in valid:
            yield self.problem(mapping, "valid: expr crashes the compiler for Nim")
        if valid is not None and "value" in field:
            yield self.problem(mapping, "a value instance cannot have valid")
        if field.get("repeat") == "until":
            if valid is not None:
                yield self.problem(mapping, "valid in repeat: until panics in Go")
            if "_index" in f"{field.get('repeat-until')} {field.get('type')}":
                yield self.problem(mapping, "_index in repeat: until counts from 1 in Go")
        kind = field.get("type")
        if isinstance(kind, dict) and field.get("id") in self.instances:
            yield self.problem(mapping, "a switch is called like an instance elsewhere (Rust)")
        if isinstance(kind, dict) and "size" in field and "_" not in kind.get("cases", {}):
            yield self.problem(mapping, "a switch with size needs the case _ (Nim)")
        if section_name == "params" and field.get("type") in ("u8", "u8be", "u8le"):
            yield self.problem(mapping, "a parameter is s8, not u8 (C# mixes them up)")
        encoded = "encoding" in field or "encoding" in self.spec["meta"]
        if field.get("type") in ("str", "strz") and not encoded:
            yield self.problem(mapping, "a string has an encoding")
        for key in ("value", "size", "pos", "if", "repeat-expr", "repeat-until"):
            if isinstance(field.get(key), str):
                yield from self.expression(mapping, field[key], structure)

    def expression(self, mapping: YamlMapping, text: str, structure: Spec) -> Iterator[LintProblem]:
        try:
            words = ["", *tokens(text), ""]
        except ValueError as error:
            yield self.problem(mapping, str(error))
            return
        optional = {name for name, one in structure.get("instances", {}).items() if "if" in one}
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            if word == "[" and not re.match(r"[A-Za-z_)\]]", before):
                yield self.problem(mapping, "an array literal is not C++98")
            is_cast = after.startswith(".as<")
            if word in optional and not is_cast and ARITHMETIC & {before, after}:
                yield self.problem(
                    mapping, f"{word!r} has a condition and is to be cast before arithmetic (C#)"
                )


def main() -> int:
    """Print the broken rules; return the exit status."""
    problems = lint()
    for problem in problems:
        print(problem)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
