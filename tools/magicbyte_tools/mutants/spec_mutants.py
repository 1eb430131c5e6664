"""Mutants of a .ksy: width, sign, size, condition, enum, repetition, place, `valid`."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from magicbyte_tools.mutants.mutant import Mutant, numbered

Spec = dict[str, Any]
Change = tuple[str, str, Callable[[Spec], None]]
"""Operator, description of the change, and function that changes a field."""

WIDER = {"1": "2", "2": "4", "4": "8", "8": "4"}
OFF_BY_ONE = {
    "size": "size",
    "repeat-expr": "repetition",
    "pos": "place",
    "terminator": "terminator",
}
"""Operators that change a number by one, by the key of the number."""


def mutants(file: str, spec: Spec) -> Iterator[Mutant]:
    """Yield each mutant of *spec*, the specification in *file*, as JSON, which is valid YAML."""
    yield from numbered(_of_types(file, spec, (), spec["meta"]["id"]))


def _of_types(file: str, spec: Spec, spec_path: tuple[str, ...], name: str) -> Iterator[Mutant]:
    structure = _at(spec, spec_path)
    for key, number, field in _fields(structure):
        for operator, change, apply in _changes(field):
            mutated = copy.deepcopy(spec)
            apply(_at(mutated, (*spec_path, key))[number])
            place = f"{name}.{number if isinstance(number, str) else field['id']}"
            yield Mutant(file, place, operator, change, json.dumps(mutated))
    for enum, values in structure.get("enums", {}).items():
        for value in values:
            mutated = copy.deepcopy(spec)
            numbers = _at(mutated, (*spec_path, "enums", enum))
            numbers[value + 64] = numbers.pop(value)
            change = f"{value} -> {value + 64}"
            yield Mutant(file, f"{name}.{enum}", "enum", change, json.dumps(mutated))
    for inner in structure.get("types", {}):
        yield from _of_types(file, spec, (*spec_path, "types", inner), f"{name}.{inner}")


def _at(spec: Spec, spec_path: tuple[str, ...]) -> Any:
    element: Any = spec
    for key in spec_path:
        element = element[key]
    return element


def _fields(structure: Spec) -> Iterator[tuple[str, int | str, Spec]]:
    for number, field in enumerate(structure.get("seq", [])):
        yield "seq", number, field
    for name, field in structure.get("instances", {}).items():
        yield "instances", name, field


def _changes(field: Spec) -> Iterator[Change]:
    kind = field.get("type")
    if isinstance(kind, str):
        yield from _of_numbers(kind)
    elif isinstance(kind, dict):
        yield from _of_switches(kind)
    for key, operator in OFF_BY_ONE.items():
        if key in field:
            for sign in ("+", "-"):
                yield operator, f"{field[key]} {sign} 1", _set(key, _moved(field[key], sign))
    if "size-eos" in field:
        yield "size", "to the end -> 1 byte", _one_byte
    if "repeat-until" in field:
        negated = f"not ({field['repeat-until']})"
        yield "repetition", negated, _set("repeat-until", negated)
    if "if" in field:
        yield "condition", "dropped", lambda found: found.pop("if")
        yield "condition", f"not ({field['if']})", _set("if", f"not ({field['if']})")
        yield from _of_comparisons("if", field["if"])
    if "enum" in field:
        yield "enum", "dropped", lambda found: found.pop("enum")
    if "valid" in field:
        yield "valid", "dropped", lambda found: found.pop("valid")
        yield from _of_valid(field["valid"])
    if "value" in field:
        value = str(field["value"]).strip()
        yield "value", f"({value}) + 1", _set("value", f"({value}) + 1")
        yield "value", f"not ({value})", _set("value", f"not ({value})")
        yield from _of_comparisons("value", value)


def _set(key: str, value: Any) -> Callable[[Spec], None]:
    def apply(field: Spec) -> None:
        field[key] = value

    return apply


def _moved(value: Any, sign: str) -> Any:
    if isinstance(value, int):
        return value + 1 if sign == "+" else value - 1
    return f"({value}) {sign} 1"


def _one_byte(field: Spec) -> None:
    del field["size-eos"]
    field["size"] = 1


def _of_numbers(kind: str) -> Iterator[Change]:
    if number := re.fullmatch(r"([su])([1248])(le|be)?", kind):
        sign, width, order = number[1], number[2], number[3] or ""
        other_sign = "u" if sign == "s" else "s"
        wider, signed = f"{sign}{WIDER[width]}{order}", f"{other_sign}{width}{order}"
        yield "width", f"{kind} -> {wider}", _set("type", wider)
        yield "sign", f"{kind} -> {signed}", _set("type", signed)
    if bits := re.fullmatch(r"b(\d+)", kind):
        for other in (f"b{int(bits[1]) + 1}", f"b{int(bits[1]) - 1}"):
            if other != "b0":
                yield "width", f"{kind} -> {other}", _set("type", other)


def _of_switches(switch: Spec) -> Iterator[Change]:
    for case in switch["cases"]:
        if case != "_":
            cases = {key: value for key, value in switch["cases"].items() if key != case}
            yield "condition", f"case {case} dropped", _set("type", {**switch, "cases": cases})


def _of_comparisons(key: str, expression: str) -> Iterator[Change]:
    """Yield a change for each <, <=, > and >= in *expression*: `<` becomes `<=`. Casts are not changed."""
    for found in re.finditer(r"(?<![<>=!])(?<!as)(?<!as<[su]\d)([<>])(=?)(?![<>=])", expression):
        swapped = found[1] + ("" if found[2] else "=")
        changed = expression[: found.start()] + swapped + expression[found.end() :]
        yield "condition", changed, _set(key, changed)


def _of_valid(valid: Any) -> Iterator[Change]:
    if isinstance(valid, int):
        yield "valid", f"{valid} -> {valid + 1}", _set("valid", valid + 1)
        return
    for bound in ("min", "max"):
        if isinstance(valid, dict) and isinstance(valid.get(bound), int):
            for step in (1, -1):
                changed = {**valid, bound: valid[bound] + step}
                yield "valid", f"{bound} {changed[bound]}", _set("valid", changed)
    if isinstance(valid, dict) and "any-of" in valid:
        for value in valid["any-of"]:
            left = [other for other in valid["any-of"] if other != value]
            if left:
                yield "valid", f"any of {left}", _set("valid", {"any-of": left})
        if all(isinstance(value, int) for value in valid["any-of"]):
            more = [*valid["any-of"], max(valid["any-of"]) + 1]
            yield "valid", f"any of {more}", _set("valid", {"any-of": more})
