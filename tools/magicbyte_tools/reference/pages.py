"""Markdown pages of the format reference, one per format, with their pictures."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from magicbyte_tools.reference.anchors import anchored, field_anchor
from magicbyte_tools.reference.diagram import diagram
from magicbyte_tools.reference.dump import dump
from magicbyte_tools.reference.examples import Example
from magicbyte_tools.reference.field_cells import is_impossible, null_words, type_words, valid_words
from magicbyte_tools.reference.layout import FieldPlacement, expression, opposite, places
from magicbyte_tools.reference.library import FormatStructure, Library, Spec, bits
from magicbyte_tools.reference.prose import Prose
from magicbyte_tools.reference.svg import ORIGIN
from magicbyte_tools.reference.tested_by import TestedBy
from magicbyte_tools.reference.values import hex_words, value_words
from magicbyte_tools.reference.walk import Leaf, leaves, parse

NOTE = f"{ORIGIN}\n"


@dataclass(frozen=True)
class Page:
    """The page of one format: Markdown, diagrams of its structures, hex dumps of its examples."""

    format: FormatStructure
    library: Library
    prose: Prose
    examples: Sequence[Example]
    tested_by: TestedBy

    @property
    def name(self) -> str:
        return self.format.format

    @cached_property
    def covered(self) -> set[tuple[str, ...]]:
        """Paths of the format's types whose bytes a checksum covers."""
        covered_paths: set[tuple[str, ...]] = set()
        for structure in self.library.structures(self.name):
            for place in places(
                structure, self.library, covered=structure.type_path in covered_paths
            ):
                for inner in self._inner(place):
                    if place.covered:
                        covered_paths.add(inner.type_path)
        return covered_paths

    def _inner(self, placement: FieldPlacement) -> list[FormatStructure]:
        """Return the types of this format that the field of *placement* may have."""
        one = self.library.of(placement.field, placement.owner)
        several = [one] if one else []
        several += [case for _, case in self.library.cases(placement.field, placement.owner)]
        return [inner for inner in several if inner.format == self.name and inner.type_path]

    def files(self) -> dict[str, str]:
        """Return the page and its pictures as text, by path below docs/formats."""
        found = {f"{self.name}.md": self.markdown()}
        for structure in self.library.structures(self.name):
            picture = self.picture(structure)
            if picture and (not structure.type_path or structure.name not in self.inlined):
                found[self.picture_name(structure)] = picture
        for number, example in enumerate(self.examples, 1):
            found[self.dump_name(number)] = dump(example.title, example.data, self.leaves(example))
        return found

    def picture(self, structure: FormatStructure) -> str | None:
        covered = structure.type_path in self.covered
        return diagram(structure, self.library, covered=covered)

    def picture_name(self, structure: FormatStructure) -> str:
        return f"pictures/{'.'.join((self.name, *structure.type_path))}.svg"

    def dump_name(self, number: int) -> str:
        return f"pictures/{self.name}.example-{number}.svg"

    def leaves(self, example: Example) -> list[Leaf]:
        """Return the parsed fields of *example*, without absent fields that need no mention."""
        data = example.data
        parsed = parse(self.format, data, parameters=example.parameters)
        found = leaves(self.format, parsed, data, self.library)
        return [leaf for leaf in found if leaf.value is not None or not _is_silent(leaf)]

    def markdown(self) -> str:
        first, _, rest = linked(text(self.format.doc), self.library, self.name).partition("\n\n")
        parts = [
            f"{NOTE}# {self.format.spec['meta']['title']}",
            self.head(),
            first,
            self.drawn(self.format),
            rest,
            self.prose.section("Where it lies"),
            *self.body(),
            *self.parts(),
            *self.enums(),
            *self.real_bytes(),
            self.prose.section("What the fields do not say", heading_shown=True),
            self.prose.section("Often said, and wrong", heading_shown=True),
        ]
        return "\n\n".join(filter(None, parts)) + "\n"

    def head(self) -> str:
        meta = self.format.spec["meta"]
        words = [f"[All formats](README.md) · [`spec/{self.name}.ksy`](../../spec/{self.name}.ksy)"]
        if "file-extension" in meta:
            words.append(f"files `*.{meta['file-extension']}`")
        words += _references(self.format)
        return " · ".join(words)

    def drawn(self, structure: FormatStructure) -> str:
        if not self.picture(structure):
            return ""
        return f"![The bytes of {structure.name}, as boxes]({self.picture_name(structure)})"

    def body(self) -> Iterator[str]:
        yield "## Fields"
        yield from self.parameters(self.format)
        if self.format.fields:
            yield self.fields(self.format)
        yield from self.follows(self.format)
        yield self.tested_by.section(self.format)

    def parts(self) -> Iterator[str]:
        """Yield the sections about the format's nested types."""
        inner = [one for one in self.library.structures(self.name) if one.type_path]
        if inner:
            yield "## Its parts"
        for structure in inner:
            yield f"### `{structure.name}`"
            yield linked(text(structure.doc), self.library, self.name)
            if references := _references(structure):
                yield f"Source: {' · '.join(references)}"
            if structure.name not in self.inlined:
                yield self.drawn(structure)
            yield from self.parameters(structure)
            if structure.fields:
                yield self.fields(structure)
            yield from self.follows(structure)
            yield self.tested_by.section(structure)

    @cached_property
    def inlined(self) -> set[str]:
        """Names of the types without a diagram: an outer structure's diagram shows their fields."""
        found = set()
        for structure in self.library.structures(self.name):
            for place in places(structure, self.library):
                inner = self.library.of(place.field, structure)
                if inner and inner.format == self.name and "repeat" not in place.field:
                    found.add(inner.name)
        return found

    def fields(self, structure: FormatStructure) -> str:
        """Return the table of *structure*'s fields: offset, size, type, valid values, meaning."""
        rows = []
        top = sum(map(bits, structure.fields))
        for place in places(structure, self.library, covered=structure.type_path in self.covered):
            attribute = place.field
            offset = place.offset
            if structure.is_bits:
                low = top - bits(attribute)
                offset = str(low) if bits(attribute) == 1 else f"{top - 1} to {low}"
                top = low
            name = anchored(field_anchor(structure.name, place.id), f"`{place.id}`")
            kafka = attribute.get("-orig-id")
            if kafka and kafka != place.id:
                name += f"<br>*{kafka}*"
            meaning = cell(str(attribute.get("doc", "")))
            if place.covered:  # as the column says
                meaning = meaning.removesuffix("Covered by `crc`.").rstrip()
            if place.condition:
                meaning = f"Only if `{place.condition}`. {meaning}".replace("|", "\\|")
            meaning = linked(meaning, self.library, self.name)
            if links := self.tested_by.links(structure, place.id):
                meaning += f"<br>{links}"
            rows.append(
                {
                    "bit" if structure.is_bits else "offset": offset,
                    "" if structure.is_bits else "size": "" if structure.is_bits else _size(place),
                    "field": name,
                    "type": self.type_cell(attribute, structure),
                    "valid": "never there"
                    if is_impossible(attribute)
                    else valid_words(attribute).replace("|", "\\|"),
                    "none": null_words(attribute, structure),
                    "crc": "✓" if place.covered else "",
                    "meaning": meaning,
                }
            )
        return table(rows)

    def type_cell(self, attribute: Spec, owner: FormatStructure) -> str:
        """Return the type of *attribute*, linked to the description of its structure or enum."""
        if "enum" in attribute:
            kind = type_words(attribute, owner, self.library)
            return f"{kind}: [{attribute['enum']}](#values-of-{attribute['enum']})"
        cases = self.library.cases(attribute, owner)
        if cases:
            kinds = {structure.name: structure for _, structure in cases}
            return "<br>".join(self.link(one) for one in kinds.values())
        structure = self.library.of(attribute, owner)
        words = type_words(attribute, owner, self.library)
        return self.link(structure, words) if structure else words

    def link(self, structure: FormatStructure, words: str = "") -> str:
        words = words or structure.name
        if structure.format != self.name:
            anchor = f"#{structure.name}" if structure.type_path else ""
            return f"[{words}]({structure.format}.md{anchor})"
        return f"[{words}](#{structure.name})" if structure.type_path else words

    def parameters(self, structure: FormatStructure) -> Iterator[str]:
        rows = [
            {"given from outside": f"`{one['id']}`", "meaning": cell(str(one.get("doc", "")))}
            for one in structure.spec.get("params", [])
        ]
        if rows:
            yield table(rows)

    def follows(self, structure: FormatStructure) -> Iterator[str]:
        """Yield the table of values that are not stored but derived from *structure*'s fields."""
        values = dict(structure.spec.get("instances", {}))
        for holder in (structure.spec, *structure.fields):
            for one in holder.get("-derived", []):
                if not _is_copy(one):
                    values.setdefault(one["id"], one)
        if values:
            yield "Not stored, but worked out from the fields or read ahead:"
            yield table([_worked_out(name, one) for name, one in values.items()])

    def enums(self) -> Iterator[str]:
        for structure in self.library.structures(self.name):
            for name, members in structure.spec.get("enums", {}).items():
                yield f"## Values of `{name}`"
                yield table(
                    [
                        {
                            "value": str(value),
                            "name": f"`{one['id']}`"
                            + (f"<br>*{one['-orig-id']}*" if one["-orig-id"] != one["id"] else ""),
                            "meaning": cell(one["doc"]),
                        }
                        for value, one in members.items()
                    ]
                )

    def real_bytes(self) -> Iterator[str]:
        if not self.examples:
            return
        yield "## Real bytes" if not all(one.given for one in self.examples) else "## An example"
        for number, example in enumerate(self.examples, 1):
            if example.title != "Real bytes":
                yield f"### {example.title}"
            yield linked(example.about, self.library, self.name)
            yield example.source
            yield f"![{example.title}, in hex]({self.dump_name(number)})"
            yield self.taken_apart(example)
            yield from self.worked_out(example)

    def taken_apart(self, example: Example) -> str:
        """Return the table of the example's fields: position, bytes in hex, name, value."""
        data, rows = example.data, []
        group: tuple[str, ...] = ()
        for leaf in self.leaves(example):
            if leaf.field_path[:-1] != group:
                group = leaf.field_path[:-1]
                if group:
                    rows.append(
                        {"at": "", "bytes": "", "field": f"**{'.'.join(group)}**", "value": ""}
                    )
            rows.append(
                {
                    "at": str(leaf.start),
                    "bytes": hex_words(data[leaf.start : leaf.end]),
                    "field": f"`{leaf.field_path[-1]}`",
                    "value": value_words(leaf, self.library),
                }
            )
        return table(rows)

    def worked_out(self, example: Example) -> Iterator[str]:
        parsed: Any = parse(self.format, example.data, parameters=example.parameters)
        found = [f"`{name}` is `{getattr(parsed, name)}`" for name in example.worked_out]
        if found:
            yield f"From that follows: {', '.join(found)}."


def _is_silent(leaf: Leaf) -> bool:
    """Return whether an absent field is left out of an example's table.

    True for regions that Kafka does not name (`-ours`), for fields without a valid value, and for
    fields in whose place another field is present under the opposite condition.
    """
    if "-ours" in leaf.field or is_impossible(leaf.field):
        return True
    return any(
        opposite(leaf.field.get("if"), other.get("if"))
        or opposite(other.get("if"), leaf.field.get("if"))
        for other in leaf.owner.fields
        if other is not leaf.field
    )


def _size(placement: FieldPlacement) -> str:
    is_expression = "size" in placement.field and placement.fixed is None
    return f"`{placement.size}`" if is_expression else placement.size


def _worked_out(name: str, instance: Spec) -> dict[str, str]:
    if "value" in instance:
        source = f"`{expression(instance['value'])}`"
    else:
        source = f"at `{expression(instance.get('pos', 0))}`"
    if "if" in instance:
        source += f" if `{expression(instance['if'])}`"
    return {
        "name": f"`{name}`",
        "from": source.replace("|", "\\|"),
        "meaning": cell(str(instance.get("doc", ""))),
    }


def _is_copy(derived: Spec) -> bool:
    """Return whether a derived column only copies a field or constant, which pages leave out."""
    value = derived["value"]
    return "if" not in derived and (not isinstance(value, str) or not re.search(r"\s", value))


def _site(address: str) -> str:
    """Return a short title for the link *address*, such as Kafka's `LogSegment.java`."""
    if "kafka.apache.org" in address:
        return "Kafka's documentation"
    last = address.rstrip("/").rpartition("/")[2]
    return f"Kafka's `{last}`" if "github.com/apache/kafka" in address else _host(address)


def _references(structure: FormatStructure) -> list[str]:
    """Return links to the references in the `doc-ref` of *structure*."""
    references = structure.spec.get("doc-ref", [])
    links = []
    for reference in [references] if isinstance(references, str) else references:
        address, _, title = reference.partition(" ")
        links.append(f"[{title or _site(address)}]({address})")
    return links


def _host(address: str) -> str:
    return re.sub(r"https?://(www\.)?([^/]+).*", r"\2", address)


def table(rows: Sequence[dict[str, str]]) -> str:
    """Format *rows* as a Markdown table, without the columns that are empty in all rows."""
    names = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(row[name] for name in names) + " |" for row in rows]
    return "\n".join(lines)


def cell(doc: str) -> str:
    """Join the lines of *doc* for a cell of a Markdown table."""
    paragraphs = re.split(r"\n\s*\n", doc.strip())
    return "<br>".join(" ".join(one.split()) for one in paragraphs).replace("|", "\\|")


def text(doc: str) -> str:
    """Reformat *doc* so that each paragraph is one line."""
    return "\n\n".join(" ".join(one.split()) for one in re.split(r"\n\s*\n", doc.strip()))


def linked(words: str, library: Library, own: str) -> str:
    """Turn the names of formats in *words*, except *own*, into links to their pages."""

    def link(match: re.Match[str]) -> str:
        name = match[1]
        return f"[`{name}`]({name}.md)" if name in library.formats and name != own else match[0]

    return re.sub(r"(?<!\[)`(kafka_\w+)`(?!\])", link, words)
