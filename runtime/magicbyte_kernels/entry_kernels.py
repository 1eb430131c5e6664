"""Builds a format's kernels `scan` and `verify` from functions that frame and verify one entry.

See `kernel_interface.Kernels` for what they take and return. Decoders store in their state where they stop.
"""

from collections.abc import Callable
from typing import Any

from magicbyte_kernels.kernel_interface import (
    END,
    LAST_NEGATIVE_ROW,
    NEGATIVE_BEFORE,
    NEGATIVE_POSITION,
    NEGATIVE_ROW,
    NUM_NEGATIVE,
    POSITION,
    STOP_ELEMENT,
    STOP_ELEMENT_POSITION,
    STOP_POSITION,
    STOP_ROW,
)
from magicbyte_kernels.primitives import ask_ahead, inlined

Frame = Callable[[int, int, Any, int], int]
"""Function (address, bytes left, descriptors, index) -> size that fills one descriptor; 0: no entry."""
IsSound = Callable[[int, int, Any, int], bool]
"""Function (address, end, descriptors, index) that compares an entry's checksum."""


def checksum_test(checksum: Callable[[int, int], int], start: int, stored: int) -> IsSound:
    """Return a function that verifies the *checksum* of an entry.

    Args:
        checksum: Function of the first address and the end address of the bytes to checksum.
        start: Bytes from the start of the entry to the first byte that the checksum covers.
        stored: Index of the stored checksum in a descriptor.
    """

    @inlined
    def is_sound(p: int, end: int, desc: Any, n: int) -> bool:
        return checksum(p + start, end) == desc[n, stored]

    return is_sound


def scan_kernel(frame: Frame, is_sound: IsSound) -> Callable[..., tuple[int, int]]:
    """Return the kernel `scan`, which describes consecutive entries that *frame* recognizes."""

    def scan(
        address: int, length: int, max_entries: int, max_bytes: int, verify: bool, desc: Any
    ) -> tuple[int, int]:
        n = 0
        position = 0
        most = min(max_entries, desc.shape[0])
        while n < most:
            p = address + position
            size = frame(p, length - position, desc, n)
            if size == 0 or size > max_bytes:
                break
            if not verify:
                ask_ahead(p, size)
            elif not is_sound(p, p + size, desc, n):
                break
            desc[n, POSITION] = position
            position += size
            n += 1
        return n, position

    return scan


def verify_kernel(is_sound: IsSound) -> Callable[..., int]:
    """Return the kernel `verify`, which searches for the first entry that is not *is_sound*."""

    def verify(address: int, desc: Any, first: int, last: int) -> int:
        for n in range(first, last):
            if not is_sound(address + int(desc[n, POSITION]), int(desc[n, END]), desc, n):
                return n
        return last

    return verify


@inlined
def stop_at(slots: Any, num_rows: int, position: int, element: int, element_position: int) -> None:
    """Store that a decoder stops at *position* of a payload, after *num_rows* rows of the entry."""
    slots[STOP_ROW] = num_rows
    slots[STOP_POSITION] = position
    slots[STOP_ELEMENT] = element
    slots[STOP_ELEMENT_POSITION] = element_position


@inlined
def count_negative(slots: Any, num_rows: int, position: int) -> None:
    """Count a length below its sentinel, in the row at *position* of a payload, after *num_rows* others."""
    if slots[NUM_NEGATIVE] == 0:
        slots[NEGATIVE_ROW] = num_rows
        slots[NEGATIVE_POSITION] = position
        slots[NEGATIVE_BEFORE] = 0
    elif slots[LAST_NEGATIVE_ROW] != num_rows:
        slots[NEGATIVE_BEFORE] = slots[NUM_NEGATIVE]
    slots[LAST_NEGATIVE_ROW] = num_rows
    slots[NUM_NEGATIVE] += 1
