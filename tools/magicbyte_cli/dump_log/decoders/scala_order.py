"""In which order Scala's hash maps and sets give out what is in them."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Element = TypeVar("Element", bound=Hashable)

INITIAL_SIZE = 16
LOAD_FACTOR = 0.75

SMALL_SET = 4
"""Elements of an immutable set that is no hash table."""


def string_hash(text: str) -> int:
    """Return Java's hash of *text*, as 32 bits without sign."""
    number = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        number = (31 * number + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    return number


def partition_hash(topic: str, partition: int) -> int:
    """Return the hash of Kafka's TopicPartition, as 32 bits without sign."""
    return (31 * (31 + partition) + string_hash(topic)) & 0xFFFFFFFF


def in_map_order(elements: Iterable[tuple[Element, int]]) -> list[Element]:
    """Return *elements*, which come with their hashes, in the order of a mutable HashMap's values.

    Of Scala 2.13: a table of lists, each by hash, that is doubled before it is three quarters full;
    also for what turns out to be there already.
    """
    given: dict[Element, int] = {}
    size = INITIAL_SIZE
    for element, number in elements:
        size = _grown(size, len(given))
        given[element] = number
    return _in_table(given, size)


def in_set_order(sets: Iterable[Iterable[tuple[Element, int]]]) -> list[Element]:
    """Return what is in a mutable HashSet to which *sets* were added, one after the other.

    A set of more than four elements is added without a look at how full the table is, but for a table
    that has room for that set alone.
    """
    given: dict[Element, int] = {}
    size = INITIAL_SIZE
    for one in sets:
        added = dict(one)
        size = max(size, _size_for(int((len(added) + 1) / LOAD_FACTOR)))
        for element, number in added.items():
            if len(added) <= SMALL_SET:
                size = _grown(size, len(given))
            given.setdefault(element, number)
    return _in_table(given, size)


def _grown(size: int, count: int) -> int:
    """Return the size of a table of *size* with *count* elements before another is added."""
    return 2 * size if count + 1 >= int(size * LOAD_FACTOR) else size


def _size_for(capacity: int) -> int:
    return 1 << max(capacity - 1, 4).bit_length()


def _in_table(given: dict[Element, int], size: int) -> list[Element]:
    improved = {element: number ^ number >> 16 for element, number in given.items()}

    def place(element: Element) -> tuple[int, int]:
        number = improved[element]
        return number & (size - 1), number - (number >> 31 << 32)

    return sorted(given, key=place)
