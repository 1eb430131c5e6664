"""Names that the expressions in a Kaitai type may use."""

from dataclasses import dataclass, field

from magicbyte_tools.generate.columnar.arithmetic import (
    Expression,
    UnsupportedSpecError,
    translate,
)
from magicbyte_tools.generate.columnar.entry_model import NumberNode
from magicbyte_tools.generate.source import Spec


@dataclass
class Scope:
    """Scope of a Kaitai type's expressions: its fields and parameters, and the enclosing types."""

    structure: Spec
    root: Spec
    spec_path: str
    parent: "Scope | None" = None
    params: dict[str, Expression] = field(default_factory=dict)
    members: "dict[str, NumberNode | Scope]" = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Name of the specification that declares the type."""
        return self.spec_path.partition(".ksy")[0]

    def field_specs(self) -> list[tuple[Spec, str]]:
        """Return the fields of the Kaitai type, each with its path in the YAML."""
        return [
            (field_spec, f"{self.spec_path}/seq/{index}")
            for index, field_spec in enumerate(self.structure.get("seq", []))
        ]

    def numbers(self) -> list[NumberNode]:
        """Return the number fields of the Kaitai type and of the types of its fields."""
        nodes: list[NumberNode] = []
        for member in self.members.values():
            nodes += [member] if isinstance(member, NumberNode) else member.numbers()
        return nodes

    def expression(self, text: object, spec_path: str) -> Expression:
        """Return the Kaitai expression *text* as a Python expression over the kernel's variables."""
        return translate(text, lambda name: self.resolve(name, spec_path), spec_path)

    def resolve(self, name: str, spec_path: str) -> Expression:
        """Return the number field or the enum value *name* as an expression."""
        if "::" in name:
            return self._enum_value(name, spec_path)
        expression = self._look_up(name.split("."))
        if expression is None:
            raise UnsupportedSpecError(spec_path, f"{name!r} is not a number of an earlier field")
        return expression

    def _look_up(self, steps: list[str]) -> Expression | None:
        first, rest = steps[0], steps[1:]
        if first == "_parent" and self.parent is not None and rest:
            return self.parent._look_up(rest)
        if first in self.params and not rest:
            return self.params[first]
        member = self.members.get(first)
        if isinstance(member, Scope) and rest:
            return member._look_up(rest)
        if isinstance(member, NumberNode):
            if not rest or (member.is_varint and rest == ["value"]):
                return Expression(member.var, frozenset([member.var]))
            for bit, _, _ in member.bits:
                if rest == [bit]:
                    return Expression(bit, frozenset([bit]), dict(member.enums).get(bit, ()))
        return None

    def _enum_value(self, name: str, spec_path: str) -> Expression:
        enum, _, key = name.partition("::")
        for number, member in self.root.get("enums", {}).get(enum, {}).items():
            if member["id"] == key:
                return Expression(str(number))
        raise UnsupportedSpecError(spec_path, f"{name} is not an enum value of this file")
