"""Kaitai's expressions as Python over 64-bit integers.

Casts are dropped: every number of a kernel is an int64 and wraps around as in Java.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from magicbyte_tools.generate.columnar.unsupported import Unsupported
from magicbyte_tools.generate.expressions import tokens

LEVELS = {"or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4}
LEVELS |= {"|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "%": 10}
NOT = 4
"""`not` takes a whole comparison."""


@dataclass(frozen=True, slots=True)
class Expression:
    """Python source over a kernel's variables."""

    source: str
    needs: frozenset[str] = frozenset()
    """The variables in it."""
    enum: tuple[tuple[int, str], ...] = ()
    """Where it is a field with an enum: Kafka's words for its values."""

    @property
    def is_name(self) -> bool:
        return self.needs == {self.source}


def translate(text: object, resolve: Callable[[str], Expression], place: str) -> Expression:
    """Return the expression *text*, whose names are what *resolve* says.

    Raises Unsupported, at *place*, for what is not arithmetic over numbers.
    """
    if isinstance(text, bool):
        return Expression(str(int(text)))
    if isinstance(text, int):
        return Expression(str(text))
    return _Parser(str(text), resolve, place).whole()


class _Parser:
    def __init__(self, text: str, resolve: Callable[[str], Expression], place: str) -> None:
        self.resolve, self.place = resolve, place
        try:
            words = tokens(text)
        except ValueError as error:
            raise Unsupported(place, str(error)) from error
        self.words = [word for word in words if not word.startswith(".as<")]
        self.needs: set[str] = set()
        self.enum: tuple[tuple[int, str], ...] = ()

    def whole(self) -> Expression:
        is_bare = len(self.words) == 1
        source = _unwrapped(self.choice())
        if self.words:
            raise Unsupported(self.place, f"{self.words[0]!r} is outside of what is translated")
        return Expression(source, frozenset(self.needs), self.enum if is_bare else ())

    def next(self) -> str | None:
        return self.words[0] if self.words else None

    def expect(self, word: str) -> None:
        if self.next() != word:
            raise Unsupported(self.place, f"{word!r} expected, not {self.next()!r}")
        self.words.pop(0)

    def choice(self) -> str:
        condition = self.operation(1)
        if self.next() != "?":
            return condition
        self.expect("?")
        chosen = self.choice()
        self.expect(":")
        return f"({chosen} if {condition} else {self.choice()})"

    def operation(self, level: int) -> str:
        left = self.operand()
        while (here := LEVELS.get(self.next() or "", 0)) >= level:
            operator = self.words.pop(0)
            left = f"({left} {operator} {self.operation(here + 1)})"
        return left

    def operand(self) -> str:
        if not self.words:
            raise Unsupported(self.place, "the expression ends too early")
        word = self.words.pop(0)
        if word in ("-", "~"):
            return f"({word}{self.operand()})"
        if word == "not":
            return f"(not {self.operation(NOT)})"
        if word == "(":
            inner = self.choice()
            self.expect(")")
            return inner
        if word in ("true", "false"):
            return str(int(word == "true"))
        if word[0].isdigit():
            return str(int(word, 0))
        if not re.match(r"[A-Za-z_]", word):
            raise Unsupported(self.place, f"{word!r} is outside of what is translated")
        found = self.resolve(word)
        self.needs |= found.needs
        self.enum = found.enum
        return found.source if found.is_name or not found.needs else f"({found.source})"


def _unwrapped(source: str) -> str:
    """Return *source* without parentheses around the whole of it."""
    depth = 0
    for index, letter in enumerate(source):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and index < len(source) - 1:
            return source
    return source[1:-1] if source.startswith("(") else source
