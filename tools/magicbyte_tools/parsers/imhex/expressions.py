"""Translates expressions of Kaitai's language to ImHex's pattern language."""

import re
from collections.abc import Callable

from magicbyte_tools.generate.expressions import tokens

BINARY = {
    **{"or": (1, "||"), "and": (2, "&&")},
    **{sign: (4, sign) for sign in ("==", "!=", "<", "<=", ">", ">=")},
    **{sign: (place, sign) for place, sign in ((5, "|"), (6, "^"), (7, "&"), (8, "<<"), (8, ">>"))},
    **{sign: (9, sign) for sign in "+-"},
    **{sign: (10, sign) for sign in "*/%"},
}
"""Precedence of each binary operator, and the operator of the pattern language."""

PREFIX = {"not": (3, "!"), "-": (11, "-"), "~": (11, "~")}
CASTS = {f".as<{sign}{size}>": f"{sign}{8 * size}" for sign in "us" for size in (1, 2, 4, 8)}
CASTS[".to_i"] = "s64"

Resolve = Callable[[list[str]], str]
"""Maps the parts of a name, such as `_io` and `size`, to an expression of the pattern language."""


class UnsupportedExpression(Exception):
    """An expression that cannot be translated; the message has its text and the part that is at fault."""


def translate(text: str, resolve: Resolve, enum_value: Resolve) -> str:
    """Return the Kaitai expression *text* in the pattern language, in parentheses where it is no single term.

    *enum_value* maps the parts of a qualified name, such as `codecs::none`.
    """
    return _PatternExpressions(str(text), resolve, enum_value).whole()


class _PatternExpressions:
    """Parser of one expression by precedence; each method returns a translated part."""

    def __init__(self, text: str, resolve: Resolve, enum_value: Resolve) -> None:
        self.text, self.resolve, self.enum_value = text, resolve, enum_value
        self.words = tokens(text)
        self.at = 0

    def whole(self) -> str:
        """Translate all tokens."""
        translated = self.ternary()
        if self.at < len(self.words):
            raise self.refusal(self.words[self.at])
        return translated

    def refusal(self, word: str) -> UnsupportedExpression:
        return UnsupportedExpression(f"expression {self.text!r}: {word!r} is not translated")

    def next(self) -> str:
        if self.at == len(self.words):
            raise self.refusal("the end")
        self.at += 1
        return self.words[self.at - 1]

    def takes(self, word: str) -> bool:
        """Return whether the next token is *word*, and go on after it."""
        found = self.at < len(self.words) and self.words[self.at] == word
        self.at += found
        return found

    def expect(self, word: str) -> None:
        if not self.takes(word):
            raise self.refusal(self.words[self.at] if self.at < len(self.words) else "the end")

    def ternary(self) -> str:
        condition = self.binary(0)
        if not self.takes("?"):
            return condition
        chosen = self.ternary()
        self.expect(":")
        return f"({condition} ? {chosen} : {self.ternary()})"

    def binary(self, least: int) -> str:
        left = self.prefixed()
        while self.at < len(self.words):
            precedence, operator = BINARY.get(self.words[self.at], (0, ""))
            if not operator or precedence <= least:
                break
            self.at += 1
            left = f"({left} {operator} {self.binary(precedence)})"
        return left

    def prefixed(self) -> str:
        word = self.next()
        if word in PREFIX:
            precedence, operator = PREFIX[word]
            return f"{operator}{self.binary(precedence)}"
        return self.postfixed(self.term(word))

    def term(self, word: str) -> str:
        if word == "(":
            inner = self.ternary()
            self.expect(")")
            return inner
        if re.match(r"\d", word):
            return word.replace("_", "")
        if word in ("true", "false"):
            return word
        if "::" in word:
            return self.enum_value(word.split("::"))
        if re.match(r"[A-Za-z_]", word):
            return self.resolve(word.split("."))
        raise self.refusal(word)

    def postfixed(self, term: str) -> str:
        while self.at < len(self.words) and self.words[self.at] in CASTS:
            term = f"{CASTS[self.next()]}({term})"
        return term
