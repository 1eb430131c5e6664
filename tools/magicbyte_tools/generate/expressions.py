"""Subset of Kaitai's expression language: tokens, types, conditions in Python."""

import re
from collections.abc import Callable

TOKEN = re.compile(
    r"\s*(\.as<\w+>|0x[\da-fA-F_]+|\d[\d_]*|[A-Za-z_]\w*(?:::\w+)+|[A-Za-z_]\w*(?:\.(?!as<)[A-Za-z_]\w*)*"
    r"|\.[A-Za-z_]\w*|==|!=|<=|>=|<<|>>|[-+*/%&|^~<>?:()\[\],'])"
)
COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "and", "or", "not"}


def tokens(text: str) -> list[str]:
    """Return the tokens of the Kaitai expression *text*."""
    text, position, words = str(text).strip(), 0, []
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise ValueError(f"expression {text!r}: {text[position:]!r} is not understood")
        words.append(match[1])
        position = match.end()
    return words


def type_of(text: str, look_up: Callable[[str], str]) -> str:
    """Return the Python type of an expression's value.

    A bare name has the type that *look_up* returns, a comparison is a bool, and all other
    expressions are arithmetic.
    """
    words = _unwrapped(tokens(text))
    top = list(_top_level(words))
    if "?" in top:
        index = _position(words, "?")
        return type_of(" ".join(words[index + 1 : _position(words, ":")]), look_up)
    if COMPARISONS & set(top) or words in (["true"], ["false"]):
        return "bool"
    if len(words) == 1 and re.match(r"[A-Za-z_]", words[0]) and "::" not in words[0]:
        return look_up(words[0])
    return "int"


def to_python(text: str, sources: dict[str, str]) -> str:
    """Return the Kaitai condition *text* over numbers as Python, its names replaced by those in *sources*."""
    words = []
    for token in tokens(text):
        if re.match(r"[A-Za-z_]", token) and token not in {"and", "or", "not"}:
            if token not in sources:
                raise ValueError(f"expression {text!r}: {token!r} is not an earlier field")
            token = sources[token]
        elif token in {"?", ":", "/", "'", "["} or token.startswith("."):
            raise ValueError(f"expression {text!r}: {token!r} is not translated")
        words.append(token)
    return " ".join(words)


def _unwrapped(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0] == "(" and _closing(words) == len(words) - 1:
        words = words[1:-1]
    return words


def _closing(words: list[str]) -> int:
    depth = 0
    for index, token in enumerate(words):
        depth += (token in "([") - (token in ")]")
        if depth == 0:
            return index
    raise ValueError(f"unbalanced parentheses in {' '.join(words)!r}")


def _top_level(words: list[str]) -> list[str]:
    depth, top_level = 0, []
    for token in words:
        depth += (token in "([") - (token in ")]")
        if depth == 0:
            top_level.append(token)
    return top_level


def _position(words: list[str], operator: str) -> int:
    depth = 0
    for index, token in enumerate(words):
        depth += (token in "([") - (token in ")]")
        if depth == 0 and token == operator:
            return index
    raise ValueError(f"no {operator!r} in {' '.join(words)!r}")
