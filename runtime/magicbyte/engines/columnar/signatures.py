"""What kernels take, as Numba's machine code is given it: 64-bit words."""

from magicbyte_kernels.kernel_interface import SIGNATURES, Signature

INFLATE = Signature(3, (2, 0, 0, 1, 0, 0, 0, 0, 1))
PUMP = Signature(0, (0,))
PASS_OVER = Signature(1, (0,) * 6)
SCAN, SECTIONS, DECODE = (SIGNATURES[name] for name in ("scan", "sections", "decode"))


def num_words(signature: Signature, arguments: int | None = None) -> int:
    """Return how many words the first so many *arguments* are, or all.

    An array is no owner twice, its size, that of an item, its place, its shape and strides.
    """
    return sum(5 + 2 * number if number else 1 for number in signature.dimensions[:arguments])


def place(signature: Signature, argument: int) -> int:
    """Return the byte at which an argument begins among the words, counted from 0."""
    return 8 * num_words(signature, argument)


def array_place(signature: Signature, argument: int) -> int:
    """Return the byte at which the address of an array stands among the words, before its shape."""
    return place(signature, argument) + 8 * 4
