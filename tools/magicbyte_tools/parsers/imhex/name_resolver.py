"""Resolves the names in a structure's expressions to the pattern language, and writes functions for its instances."""

from typing import Any

from magicbyte_tools.generate.parsers import camel
from magicbyte_tools.parsers.imhex.expressions import UnsupportedExpression, translate
from magicbyte_tools.reference.field_cells import valid_words
from magicbyte_tools.reference.library import INTEGER, FormatStructure, Library, Spec

STREAM = {"size": "(end_io - ofs_io)", "pos": "($ - ofs_io)", "eof": "($ >= end_io)"}
"""Properties of Kaitai's `_io`."""


class NameResolver:
    """Names that the expressions of one structure may use."""

    def __init__(self, structure: FormatStructure, library: Library) -> None:
        self.structure, self.library = structure, library
        self.from_parent: list[str] = []
        """Paths of the values from the structure around it, without `_parent.`."""
        self.functions: dict[str, str] = {}
        """Written functions of instances, by their names."""
        self.num_members_used = 0

    def parameters(self) -> list[str]:
        """Return the names of the type's parameters after the ends of the stream."""
        given = [str(one["id"]) for one in self.structure.spec.get("params", [])]
        return [*given, *map(_parent_name, self.from_parent)]

    def expression(
        self, text: object, prefix: str = "", structure: FormatStructure | None = None
    ) -> str:
        """Translate the Kaitai expression *text* of *structure*, which is at *prefix* in this one."""
        owner = structure or self.structure
        try:
            return translate(
                str(text),
                lambda parts: self._resolve(parts, owner, prefix),
                lambda parts: self._enum_value(parts, owner),
            )
        except ValueError as error:
            raise UnsupportedExpression(str(error)) from error

    def _enum_value(self, parts: list[str], owner: FormatStructure) -> str:
        *names, member = parts
        *outer, enum = names
        declaring = self.library.formats.get(outer[0], owner) if outer else owner
        found = self.library.enum(enum, declaring)
        if found is None:
            raise UnsupportedExpression(f"there is no enum {'::'.join(names)!r}")
        return f"{type_name(found[0])}{camel(enum)}::{member}"

    def _resolve(self, parts: list[str], owner: FormatStructure, prefix: str) -> str:
        head, rest = parts[0], parts[1:]
        if rest and rest[-1] == "to_i":
            return f"s64({self._resolve(parts[:-1], owner, prefix)})"
        if head == "_":
            return self._resolve(rest, owner, prefix)
        if head == "_io" and not prefix:
            return STREAM[rest[0]]
        if head == "_parent" and not prefix:
            name = ".".join(rest)
            if name not in self.from_parent:
                self.from_parent.append(name)
            return _parent_name(name)
        if any(one["id"] == head for one in owner.spec.get("params", [])) and not prefix:
            return head
        for one in owner.fields:
            if one["id"] == head:
                return self._member(one, owner, f"{prefix}{head}", rest)
        instance = owner.spec.get("instances", {}).get(head)
        if instance is None:
            raise UnsupportedExpression(f"{owner.name}: {'.'.join(parts)!r} is not translated")
        return self._instance_value(head, instance, rest, owner, prefix)

    def _member(self, one: Spec, owner: FormatStructure, path: str, rest: list[str]) -> str:
        self.num_members_used += 1
        if "repeat" in one and rest:
            if rest == ["size"]:
                return f"std::core::member_count({path})"
            if rest[0] != "first":
                raise UnsupportedExpression(f"{owner.name}: {path}.{rest[0]} is not translated")
            path, rest = f"{path}[0]", rest[1:]
        target = self.library.of(one, owner)
        if not rest:
            return path
        if target is None:
            raise UnsupportedExpression(f"{owner.name}: {path}.{rest[0]} is not translated")
        if target.is_primitive:
            if rest == ["value"]:
                return path
            if rest == ["num_bytes"]:
                return f"sizeof({path})"
            return self.expression(target.spec["instances"][rest[0]]["value"], path, target)
        return self._resolve(rest, target, f"{path}.")

    def _instance_value(
        self, name: str, one: Spec, rest: list[str], owner: FormatStructure, prefix: str
    ) -> str:
        if owner.is_primitive and name == "value":
            return prefix
        if "value" in one and not rest:
            used = self.num_members_used
            value = self.expression(one["value"], prefix, owner)
            is_closed = not prefix and used == self.num_members_used
            return self._call(name, value) if is_closed else value
        if "pos" in one and self.library.of(one, owner):
            target = self.library.of(one, owner)
            assert target is not None
            return self._resolve(rest, target, f"{prefix}{name}.") if rest else f"{prefix}{name}"
        if "pos" in one and not prefix:
            at = f"ofs_io + {self.expression(one['pos'])}"
            if rest == ["length"] and "size-eos" in one and one.get("pad-right") == 0:
                return f"bytes_before_zeros({at}, end_io)"
            if not rest and INTEGER.fullmatch(str(one.get("type"))):
                return f"{self._reader(name, one)}({at})"
        raise UnsupportedExpression(f"{owner.name}: {'.'.join([name, *rest])!r} is not translated")

    def _call(self, name: str, value: str) -> str:
        """Write the function of an instance whose *value* depends on no field; return a call of it."""
        function, parameters = self._function_name(name), ["ofs_io", "end_io", *self.parameters()]
        declared = ", ".join(f"auto {each}" for each in parameters)
        self.functions[function] = f"fn {function}({declared}) {{\n    return {bare(value)};\n}};"
        return f"{function}({', '.join(parameters)})"

    def _function_name(self, name: str) -> str:
        return "_".join((self.structure.format, *self.structure.type_path, name))

    def _reader(self, name: str, one: Spec) -> str:
        """Write the function that reads an integer instance at an address, and checks it; return its name."""
        function = self._function_name(name)
        if function not in self.functions:
            match = INTEGER.fullmatch(str(one["type"]))
            assert match is not None
            kind = "signed" if match[1] == "s" else "unsigned"
            lines = [
                f"fn {function}(u128 address) {{",
                f"    {match[1]}{8 * int(match[2])} value = std::mem::read_{kind}(address, {match[2]}, std::mem::Endian::Big);",
            ]
            if "valid" in one:
                where = place(self.structure, name)
                condition = valid_condition(one["valid"], "value", where)
                message = f"{where} is {{}}, expected: {expected_words(one)} (at byte {{}})"
                lines += [
                    f"    if (!({condition}))",
                    f"        std::error(std::format({quoted(message)}, value, address));",
                ]
            self.functions[function] = "\n".join([*lines, "    return value;", "};"])
        return function


def type_name(structure: FormatStructure) -> str:
    """Return the name of the type of *structure*: KafkaLogEntry for the type `entry` of kafka_log."""
    return "".join(map(camel, (structure.format, *structure.type_path)))


def valid_condition(valid: Any, value: str, where: str) -> str:
    """Return the condition that the expression *value* fulfils if it is *valid*, as Kaitai's key has it."""
    rules = valid if isinstance(valid, dict) else {"eq": valid}
    conditions = []
    for key, operand in rules.items():
        if key == "any-of":
            conditions.append(" || ".join(f"{value} == {each}" for each in operand))
        elif key in ("eq", "min", "max"):
            sign = {"eq": "==", "min": ">=", "max": "<="}[key]
            conditions.append(f"{value} {sign} {operand}")
        else:
            raise UnsupportedExpression(f"{where}: valid: {key} is not translated")
    return " && ".join(conditions)


def expected_words(one: Spec) -> str:
    """Return the valid values of a field for an error."""
    return valid_words(one).replace("≥", "at least").replace("≤", "at most").replace('"', "'")


def place(structure: FormatStructure, name: str) -> str:
    """Return the place of a field or instance in the specification: kafka_log/entry/magic."""
    return "/".join((structure.format, *structure.type_path, name))


def _parent_name(path: str) -> str:
    """Return the parameter that has the value of *path* in the structure around a type."""
    return f"parent_{path.replace('.', '_')}"


def bare(expression: str) -> str:
    """Return *expression* without the parentheses around all of it."""
    depth = 0
    for at, sign in enumerate(expression):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and at < len(expression) - 1:
            return expression
    return expression[1:-1] if expression.startswith("(") else expression


def quoted(words: str) -> str:
    escaped = words.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
