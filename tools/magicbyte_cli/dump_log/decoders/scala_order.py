"""Iteration order of Scala's hash maps and sets, in which kafka-dump-log prints some fields."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Element = TypeVar("Element", bound=Hashable)

INITIAL_SIZE = 16
LOAD_FACTOR = 0.75

SMALL_SET = 4
"""Largest immutable set that is not a hash table."""


def string_hash(text: str) -> int:
    """Return Java's hash of *text*, as an unsigned number of 32 bits."""
    number = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        number = (31 * number + int.from_bytes(units[index : index + 2], "big")) & 0xFFFFFFFF
    return number


def partition_hash(topic: str, partition: int) -> int:
    """Return the hash of Kafka's TopicPartition, as an unsigned number of 32 bits."""
    return (31 * (31 + partition) + string_hash(topic)) & 0xFFFFFFFF


def in_map_order(elements: Iterable[tuple[Element, int]]) -> list[Element]:
    """Return *elements*, pairs of an element and its hash, in the order of a mutable HashMap.

    In Scala 2.13 this is a table of lists that are sorted by hash. The table is doubled before it is
    three quarters full, even if the element to add turns out to be in it.
    """
    hashes: dict[Element, int] = {}
    size = INITIAL_SIZE
    for element, number in elements:
        size = _grown(size, len(hashes))
        hashes[element] = number
    return _in_table(hashes, size)


def in_set_order(sets: Iterable[Iterable[tuple[Element, int]]]) -> list[Element]:
    """Return the elements of *sets*, added one by one to a mutable HashSet, in its order.

    Adding a set of more than four elements first grows the table to fit that set alone, and does
    not check how full the table is.
    """
    hashes: dict[Element, int] = {}
    size = INITIAL_SIZE
    for elements in sets:
        added = dict(elements)
        capacity = int((len(added) + 1) / LOAD_FACTOR)
        size = max(size, 1 << max(capacity - 1, 4).bit_length())
        for element, number in added.items():
            if len(added) <= SMALL_SET:
                size = _grown(size, len(hashes))
            hashes.setdefault(element, number)
    return _in_table(hashes, size)


def _grown(size: int, count: int) -> int:
    """Return the size that a table of *size* with *count* elements has when one more is added."""
    return 2 * size if count + 1 >= int(size * LOAD_FACTOR) else size


def _in_table(hashes: dict[Element, int], size: int) -> list[Element]:
    improved = {element: number ^ number >> 16 for element, number in hashes.items()}

    def order(element: Element) -> tuple[int, int]:
        number = improved[element]
        return number & (size - 1), number - (number >> 31 << 32)

    return sorted(hashes, key=order)
