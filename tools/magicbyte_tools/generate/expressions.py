"""As much of Kaitai's expression language as types and conditions need."""

import re
from collections.abc import Callable

TOKEN = re.compile(
    r"\s*(\.as<\w+>|0x[\da-fA-F_]+|\d[\d_]*|[A-Za-z_]\w*(?:::\w+)+|[A-Za-z_]\w*(?:\.(?!as<)[A-Za-z_]\w*)*"
    r"|\.[A-Za-z_]\w*|==|!=|<=|>=|<<|>>|[-+*/%&|^~<>?:()\[\],'])"
)
COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "and", "or", "not"}


def tokens(text: str) -> list[str]:
    """Return the tokens of an expression."""
    text, at, found = str(text).strip(), 0, []
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"expression {text!r}: {text[at:]!r} is not understood")
        found.append(match[1])
        at = match.end()
    return found


def type_of(text: str, look_up: Callable[[str], str]) -> str:
    """Return the Python type of an expression's value.

    A bare name is of the type that *look_up* knows; a comparison is a bool; what is left is
    arithmetic.
    """
    parts = _unwrapped(tokens(text))
    top = list(_top_level(parts))
    if "?" in top:
        index = _position(parts, "?")
        return type_of(" ".join(parts[index + 1 : _position(parts, ":")]), look_up)
    if COMPARISONS & set(top) or parts in (["true"], ["false"]):
        return "bool"
    if len(parts) == 1 and re.match(r"[A-Za-z_]", parts[0]) and "::" not in parts[0]:
        return look_up(parts[0])
    return "int"


def to_python(text: str, names: dict[str, str]) -> str:
    """Return a condition over numbers as Python, its names replaced by *names*."""
    words = []
    for token in tokens(text):
        if re.match(r"[A-Za-z_]", token) and token not in {"and", "or", "not"}:
            if token not in names:
                raise ValueError(f"expression {text!r}: {token!r} is not a field before it")
            token = names[token]
        elif token in {"?", ":", "/", "'", "["} or token.startswith("."):
            raise ValueError(f"expression {text!r}: {token!r} is outside of what is translated")
        words.append(token)
    return " ".join(words)


def _unwrapped(parts: list[str]) -> list[str]:
    while len(parts) > 1 and parts[0] == "(" and _closing(parts) == len(parts) - 1:
        parts = parts[1:-1]
    return parts


def _closing(parts: list[str]) -> int:
    depth = 0
    for index, token in enumerate(parts):
        depth += (token in "([") - (token in ")]")
        if depth == 0:
            return index
    raise ValueError(f"unbalanced parentheses in {' '.join(parts)!r}")


def _top_level(parts: list[str]) -> list[str]:
    depth, found = 0, []
    for token in parts:
        depth += (token in "([") - (token in ")]")
        if depth == 0:
            found.append(token)
    return found


def _position(parts: list[str], wanted: str) -> int:
    depth = 0
    for index, token in enumerate(parts):
        depth += (token in "([") - (token in ")]")
        if depth == 0 and token == wanted:
            return index
    raise ValueError(f"no {wanted!r} in {' '.join(parts)!r}")
