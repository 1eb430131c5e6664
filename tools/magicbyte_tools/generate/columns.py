"""Columns of the tables, as declared by `-table`, `-entry`, `-column` and `-derived`."""

import re
from collections.abc import Iterator

from magicbyte_kernels.wire_types import WireColumn
from magicbyte_tools.generate.source import Spec

ARROW = {f"s{size}": f"int{8 * size}" for size in (1, 2, 4, 8)}
ARROW |= {f"u{size}": f"uint{8 * size}" for size in (1, 2, 4, 8)}
TIMESTAMP = {"ms": "timestamp[ms, tz=UTC]"}


def columns(specs: dict[str, Spec]) -> dict[str, list[WireColumn]]:
    """Return the columns of each table, from all formats that feed it.

    Formats must agree on a column's type. A column that a format lacks is null in its rows.
    """
    tables: dict[str, dict[str, dict[str, WireColumn]]] = {}
    for name, spec in specs.items():
        for table, column in ColumnReader(name, specs).read(spec):
            tables.setdefault(table, {}).setdefault(name, {})[column.name] = column
    return {table: [*merged(table, by_format)] for table, by_format in sorted(tables.items())}


def merged(table: str, by_format: dict[str, dict[str, WireColumn]]) -> Iterator[WireColumn]:
    """Yield a table's columns, in the order of the format with the most columns."""
    richest = sorted(by_format.values(), key=len, reverse=True)
    for name in dict.fromkeys(name for columns in richest for name in columns):
        same_name = [columns[name] for columns in richest if name in columns]
        first = same_name[0]
        if any(column.type != first.type for column in same_name):
            raise ValueError(f"{table}.{name}: {' and '.join(c.type for c in same_name)}")
        yield first._replace(
            nullable=len(same_name) < len(by_format) or any(c.nullable for c in same_name),
            sentinel=next((c.sentinel for c in same_name if c.sentinel is not None), None),
            source=", ".join(c.source for c in same_name),
        )


class ColumnReader:
    """Reads the columns that one specification declares, itself and in those that it imports."""

    def __init__(self, name: str, specs: dict[str, Spec]) -> None:
        self.name, self.specs = name, specs

    def read(self, spec: Spec) -> Iterator[tuple[str, WireColumn]]:
        """Yield the columns that *spec* declares, each with the name of its table."""
        entry = spec.get("-entry")
        if entry:
            yield from self.rows(entry, spec, spec, self.name)
            for derived_spec in spec.get("-derived", []):
                yield derived_spec.get("table", entry), derived(derived_spec, self.name)
        yield from self.tables(spec, spec, self.name)

    def tables(
        self, structure: Spec, root: Spec, spec_path: str
    ) -> Iterator[tuple[str, WireColumn]]:
        """Yield the columns of repeated fields that are the rows of a table."""
        for field_spec in structure.get("seq", []):
            table = field_spec.get("-table")
            if table:
                for derived_spec in field_spec.get("-derived", []):
                    yield table, derived(derived_spec, f"{spec_path}/{field_spec['id']}")
                inner, inner_root, inner_path = self.structure(field_spec["type"], root, spec_path)
                yield from self.rows(table, inner, inner_root, inner_path)
        for name, inner in structure.get("types", {}).items():
            yield from self.tables(inner, root, f"{spec_path}/{name}")

    def rows(
        self, table: str, structure: Spec, root: Spec, spec_path: str
    ) -> Iterator[tuple[str, WireColumn]]:
        """Yield the columns of *structure* and of the structures in it."""
        for field_spec in structure.get("seq", []):
            field_path = f"{spec_path}/{field_spec['id']}"
            declared = field_spec.get("-column")
            if declared:
                column_spec = {} if declared is True else declared
                column = self.column(field_spec, column_spec, root, field_path)
                yield column_spec.get("table", table), column
            elif isinstance(field_spec.get("type"), str) and "repeat" not in field_spec:
                inner = self.structure(field_spec["type"], root, spec_path)
                if inner[0] and "-primitive" not in inner[0] and "-table" not in field_spec:
                    yield from self.rows(table, *inner)

    def structure(self, type_name: str, root: Spec, spec_path: str) -> tuple[Spec, Spec, str]:
        """Return the user type *type_name*, the specification that declares it, and its path."""
        name = type_name.split("(")[0]
        if name in root.get("types", {}):
            return root["types"][name], root, f"{spec_path.split('/')[0]}/{name}"
        if name in self.specs:
            return self.specs[name], self.specs[name], name
        return {}, root, spec_path

    def column(self, field_spec: Spec, column_spec: Spec, root: Spec, spec_path: str) -> WireColumn:
        """Return the column of a field, declared by *column_spec*."""
        sentinel = column_spec.get("sentinel")
        is_optional = "if" in field_spec or sentinel is not None
        return WireColumn(
            name=str(column_spec.get("name") or field_spec["id"]),
            type=self.type(field_spec, column_spec, root, spec_path),
            nullable=is_optional or column_spec.get("nullable", False),
            sentinel=sentinel,
            unit=column_spec.get("unit"),
            doc=sentence(column_spec.get("doc") or field_spec.get("doc", "")),
            source=spec_path,
        )

    def type(self, field_spec: Spec, column_spec: Spec, root: Spec, spec_path: str) -> str:
        """Return the Arrow type that is declared for a field, or follows from its type."""
        if column_spec.get("type") == "list":
            inner = self.rows("", *self.structure(field_spec["type"], root, spec_path))
            members = ", ".join(f"{column.name}: {column.type}" for _, column in inner)
            return f"list<struct<{members}>>"
        if "type" in column_spec:
            return str(column_spec["type"])
        if column_spec.get("unit") in TIMESTAMP:
            return TIMESTAMP[column_spec["unit"]]
        type_name = field_spec.get("type")
        if type_name is None:
            return "binary"
        if "enum" in field_spec:
            return "string"
        if type_name in ARROW:
            return ARROW[type_name]
        if re.fullmatch(r"b1", type_name):
            return "bool"
        primitive = self.structure(type_name, root, spec_path)[0].get("-primitive")
        if primitive:
            return f"int{primitive['bits']}"
        raise ValueError(f"{spec_path}: no Arrow type follows from {type_name!r}; declare one")


def derived(derived_spec: Spec, spec_path: str) -> WireColumn:
    """Return a column that is computed, declared at *spec_path*."""
    sentinel = derived_spec.get("sentinel")
    return WireColumn(
        name=derived_spec["id"],
        type=derived_spec.get("type") or TIMESTAMP[derived_spec["unit"]],
        nullable=sentinel is not None or "if" in derived_spec,
        sentinel=sentinel,
        unit=derived_spec.get("unit"),
        doc=sentence(derived_spec["doc"]),
        source=f"{spec_path}/-derived/{derived_spec['id']}",
    )


def sentence(doc: str) -> str:
    """Return *doc*, the documentation of a field, as one line."""
    return " ".join(doc.split())
