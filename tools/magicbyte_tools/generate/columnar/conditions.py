"""What `valid` and `-valid` demand of a number, as comparisons with numbers."""

from collections.abc import Iterator
from typing import Any

from magicbyte_tools.generate.columnar.unsupported import Unsupported

COMPARISONS = {"eq": "==", "min": ">=", "max": "<="}


def limits(one: dict[str, Any], place: str) -> Iterator[tuple[str, list[int]]]:
    """Yield what must hold of the field *one*: an operator, and numbers for one of which it does.

    Raises Unsupported, at the key below *place*, for a condition that is no limit.
    """
    for key in ("valid", "-valid"):
        given = one.get(key, {})
        for name, value in (given if isinstance(given, dict) else {"eq": given}).items():
            if name == "any-of":
                yield "==", [int(each) for each in value]
            elif name in COMPARISONS:
                yield COMPARISONS[name], [int(value)]
            else:
                raise Unsupported(f"{place}/{key}/{name}", "a condition that is no limit")
