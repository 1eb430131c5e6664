"""Kaitai's expressions and `valid` keys as Python over 64-bit integers.

Casts are dropped: every number of a kernel is an int64 and wraps around as in Java.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from magicbyte_tools.generate.expressions import tokens

LEVELS = {"or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4}
LEVELS |= {"|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "%": 10}
"""Binding strength of each binary operator."""
NOT_LEVEL = 4
"""`not` applies to a whole comparison."""

COMPARISONS = {"eq": "==", "min": ">=", "max": "<="}
"""Python's operators for the keys of `valid`."""


class UnsupportedSpecError(ValueError):
    """The specification uses a feature outside the subset that columnar code is generated from."""

    def __init__(self, spec_path: str, message: str) -> None:
        super().__init__(f"{spec_path}: {message}")
        self.spec_path = spec_path
        """File and YAML path of the unsupported feature."""


@dataclass(frozen=True, slots=True)
class Expression:
    """Python expression over a kernel's variables."""

    source: str
    needs: frozenset[str] = frozenset()
    """Variables in the expression."""
    enum: tuple[tuple[int, str], ...] = ()
    """Kafka's names of its values, if the expression is a field with an enum."""

    @property
    def is_name(self) -> bool:
        """True if the expression is a single variable."""
        return self.needs == {self.source}

    @property
    def wrapped_source(self) -> str:
        """Python source of the value, which wraps around at 64 bits if it is computed."""
        return self.source if self.is_name or not self.needs else f"wrap({self.source})"


def translate(text: object, resolve: Callable[[str], Expression], spec_path: str) -> Expression:
    """Return the Kaitai expression *text* as Python; *resolve* translates its names.

    Raises UnsupportedSpecError if it is not arithmetic over numbers.
    """
    if isinstance(text, int):  # a bool too
        return Expression(str(int(text)))
    return _ExpressionParser(str(text), resolve, spec_path).parse()


def inverse(expression: Expression, variable: str, result_source: str) -> str | None:
    """Return the Python source of *variable*, given the source of the result of an *expression* in which it occurs.

    Sums and differences are solved. Of a conditional expression the branch with the variable counts:
    where the other one applies, readers do not use the variable. None: the expression is another one.
    """
    node: ast.expr = ast.parse(expression.source, mode="eval").body
    source = result_source
    while not (isinstance(node, ast.Name) and node.id == variable):
        if isinstance(node, ast.IfExp) and not _has_name(node.test, variable):
            node = node.body if _has_name(node.body, variable) else node.orelse
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if not _has_name(node.left, variable):
                node.left, node.right = node.right, node.left
            source, node = f"({source} - {ast.unparse(node.right)})", node.left
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            if _has_name(node.left, variable):
                source, node = f"({source} + {ast.unparse(node.right)})", node.left
            else:
                source, node = f"({ast.unparse(node.left)} - {source})", node.right
        else:
            return None
    return _unwrapped(source)


def _has_name(node: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def only_valid_number(field_spec: dict[str, Any], spec_path: str) -> int | None:
    """Return the only number that `valid` and `-valid` allow; None if they allow several."""
    for operator, alternatives in limits(field_spec, spec_path):
        if operator == "==" and len(alternatives) == 1:
            return alternatives[0]
    return None


def limits(field_spec: dict[str, Any], spec_path: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the comparisons that a field must pass: an operator, and alternative numbers.

    Raises UnsupportedSpecError, with a path below *spec_path*, for any other condition.
    """
    for key in ("valid", "-valid"):
        rules = field_spec.get(key, {})
        for name, limit in (rules if isinstance(rules, dict) else {"eq": rules}).items():
            if name == "any-of":
                yield "==", [int(number) for number in limit]
            elif name in COMPARISONS:
                yield COMPARISONS[name], [int(limit)]
            else:
                message = f"{name} is not a comparison with numbers"
                raise UnsupportedSpecError(f"{spec_path}/{key}/{name}", message)


class _ExpressionParser:
    """Precedence parser of one expression."""

    def __init__(self, text: str, resolve: Callable[[str], Expression], spec_path: str) -> None:
        self.resolve, self.spec_path = resolve, spec_path
        try:
            words = tokens(text)
        except ValueError as error:
            raise UnsupportedSpecError(spec_path, str(error)) from error
        self.words = [word for word in words if not word.startswith(".as<")]
        self.needs: set[str] = set()
        self.enum: tuple[tuple[int, str], ...] = ()

    def parse(self) -> Expression:
        """Parse the whole text; return it as a Python expression."""
        is_bare = len(self.words) == 1
        source = _unwrapped(self.choice())
        if self.words:
            raise UnsupportedSpecError(self.spec_path, f"{self.words[0]!r} is not translated")
        return Expression(source, frozenset(self.needs), self.enum if is_bare else ())

    def next(self) -> str | None:
        """Return the next token without consuming it."""
        return self.words[0] if self.words else None

    def expect(self, word: str) -> None:
        """Consume the token *word*; raise UnsupportedSpecError if the next token is another."""
        if self.next() != word:
            message = f"{word!r} expected, not {self.next()!r}"
            raise UnsupportedSpecError(self.spec_path, message)
        self.words.pop(0)

    def choice(self) -> str:
        """Consume an operation or a conditional expression; return its Python source."""
        condition = self.operation(1)
        if self.next() != "?":
            return condition
        self.expect("?")
        if_true = self.choice()
        self.expect(":")
        return f"({if_true} if {condition} else {self.choice()})"

    def operation(self, level: int) -> str:
        """Consume operators that bind at least as strongly as *level*."""
        left = self.operand()
        while (level_here := LEVELS.get(self.next() or "", 0)) >= level:
            operator = self.words.pop(0)
            left = f"({left} {operator} {self.operation(level_here + 1)})"
        return left

    def operand(self) -> str:
        """Consume a number, a name, or an expression in parentheses."""
        if not self.words:
            raise UnsupportedSpecError(self.spec_path, "the expression ends too early")
        word = self.words.pop(0)
        if word in ("-", "~"):
            return f"({word}{self.operand()})"
        if word == "not":
            return f"(not {self.operation(NOT_LEVEL)})"
        if word == "(":
            inner = self.choice()
            self.expect(")")
            return inner
        if word in ("true", "false"):
            return str(int(word == "true"))
        if word[0].isdigit():
            return str(int(word, 0))
        if not re.match(r"[A-Za-z_]", word):
            raise UnsupportedSpecError(self.spec_path, f"{word!r} is not translated")
        resolved = self.resolve(word)
        self.needs |= resolved.needs
        self.enum = resolved.enum
        return resolved.source if resolved.is_name or not resolved.needs else f"({resolved.source})"


def _unwrapped(source: str) -> str:
    """Return *source* without parentheses around the whole of it."""
    depth = 0
    for index, letter in enumerate(source):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and index < len(source) - 1:
            return source
    return source[1:-1] if source.startswith("(") else source
