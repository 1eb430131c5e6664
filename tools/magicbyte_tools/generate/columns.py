"""Which columns the tables have, as `-table`, `-entry`, `-column` and `-derived` declare them."""

import re
from collections.abc import Iterator
from typing import Any

from magicbyte_kernels.wire_types import WireColumn

Spec = dict[str, Any]

ARROW = {f"s{size}": f"int{8 * size}" for size in (1, 2, 4, 8)}
ARROW |= {f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)}
TIMESTAMP = {"ms": "timestamp[ms, tz=UTC]"}


def columns(specs: dict[str, Spec]) -> dict[str, list[WireColumn]]:
    """Return each table's columns, those of all formats that feed it.

    Formats must agree on a column's type. A column that only some of them have is null in the
    others.
    """
    tables: dict[str, dict[str, dict[str, WireColumn]]] = {}
    for name, spec in specs.items():
        for table, column in Reader(name, specs).read(spec):
            tables.setdefault(table, {}).setdefault(name, {})[column.name] = column
    return {table: [*merged(table, formats)] for table, formats in sorted(tables.items())}


def merged(table: str, formats: dict[str, dict[str, WireColumn]]) -> Iterator[WireColumn]:
    """Yield a table's columns, in the order of the format that has the most."""
    richest = sorted(formats.values(), key=len, reverse=True)
    for name in dict.fromkeys(name for columns in richest for name in columns):
        found = [columns[name] for columns in richest if name in columns]
        first = found[0]
        if any(other.type != first.type for other in found):
            raise ValueError(f"{table}.{name}: {' and '.join(c.type for c in found)}")
        yield first._replace(
            nullable=len(found) < len(formats) or any(c.nullable for c in found),
            sentinel=next((c.sentinel for c in found if c.sentinel is not None), None),
            source=", ".join(c.source for c in found),
        )


class Reader:
    """Reads the columns of one file, with the files it imports."""

    def __init__(self, name: str, specs: dict[str, Spec]) -> None:
        self.name, self.specs = name, specs

    def read(self, spec: Spec) -> Iterator[tuple[str, WireColumn]]:
        """Yield what *spec* declares: each table's name with a column of it."""
        entry = spec.get("-entry")
        if entry:
            yield from self.rows(entry, spec, spec, self.name)
            for one in spec.get("-derived", []):
                yield one.get("table", entry), derived(one, self.name)
        yield from self.tables(spec, spec, self.name)

    def tables(self, structure: Spec, root: Spec, path: str) -> Iterator[tuple[str, WireColumn]]:
        """Yield the columns of the repeated fields that are a table's rows."""
        for field in structure.get("seq", []):
            table = field.get("-table")
            if table:
                here = f"{path}/{field['id']}"
                for one in field.get("-derived", []):
                    yield table, derived(one, here)
                inner, inner_root, inner_path = self.structure(field["type"], root, path)
                yield from self.rows(table, inner, inner_root, inner_path)
        for name, inner in structure.get("types", {}).items():
            yield from self.tables(inner, root, f"{path}/{name}")

    def rows(
        self, table: str, structure: Spec, root: Spec, path: str
    ) -> Iterator[tuple[str, WireColumn]]:
        """Yield the columns of *structure* and of the structures in it."""
        for field in structure.get("seq", []):
            here = f"{path}/{field['id']}"
            declared = field.get("-column")
            if declared:
                given = {} if declared is True else declared
                yield given.get("table", table), self.column(field, given, root, here)
            elif isinstance(field.get("type"), str) and "repeat" not in field:
                found = self.structure(field["type"], root, path)
                if found[0] and "-primitive" not in found[0] and "-table" not in field:
                    yield from self.rows(table, *found)

    def structure(self, kind: str, root: Spec, path: str) -> tuple[Spec, Spec, str]:
        """Return the user type *kind*, the file it is in, and its path."""
        kind = kind.split("(")[0]
        if kind in root.get("types", {}):
            return root["types"][kind], root, f"{path.split('/')[0]}/{kind}"
        if kind in self.specs:
            return self.specs[kind], self.specs[kind], kind
        return {}, root, path

    def column(self, field: Spec, given: Spec, root: Spec, path: str) -> WireColumn:
        sentinel = given.get("sentinel")
        return WireColumn(
            name=str(given.get("name") or field["id"]),
            type=self.type(field, given, root, path),
            nullable="if" in field or sentinel is not None or given.get("nullable", False),
            sentinel=sentinel,
            unit=given.get("unit"),
            doc=sentence(given.get("doc") or field.get("doc", "")),
            source=path,
        )

    def type(self, field: Spec, given: Spec, root: Spec, path: str) -> str:
        """Return the Arrow type that follows from the field."""
        if given.get("type") == "list":
            found = self.rows("", *self.structure(field["type"], root, path))
            members = ", ".join(f"{column.name}: {column.type}" for _, column in found)
            return f"list<struct<{members}>>"
        if "type" in given:
            return str(given["type"])
        if given.get("unit") in TIMESTAMP:
            return TIMESTAMP[given["unit"]]
        kind = field.get("type")
        if kind is None:
            return "binary"
        if "enum" in field:
            return "string"
        if kind in ARROW:
            return ARROW[kind]
        if re.fullmatch(r"b1", kind):
            return "bool"
        primitive = self.structure(kind, root, path)[0].get("-primitive")
        if primitive:
            return f"int{primitive['bits']}"
        raise ValueError(f"{path}: no Arrow type follows from {kind!r}; give one")


def derived(one: Spec, path: str) -> WireColumn:
    sentinel = one.get("sentinel")
    kind = one.get("type") or TIMESTAMP[one["unit"]]
    return WireColumn(
        name=one["id"],
        type=kind,
        nullable=sentinel is not None or "if" in one,
        sentinel=sentinel,
        unit=one.get("unit"),
        doc=sentence(one["doc"]),
        source=f"{path}/-derived/{one['id']}",
    )


def sentence(doc: str) -> str:
    """Return *doc* in one line."""
    return " ".join(doc.split())
