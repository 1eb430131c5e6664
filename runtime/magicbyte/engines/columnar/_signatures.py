"""Signatures of the hand-written kernels, and the 64-bit words in which machine code takes arguments."""

from magicbyte_kernels.kernel_interface import SIGNATURES, Signature

DECODE_AVRO = Signature(1, (0,) * 6)
DECODE_PROTOBUF = Signature(1, (0,) * 6)
DECOMPRESS = Signature(3, (2, 0, 0, 1, 0, 0, 0, 0, 1))
ENCODE = Signature(4, (1, 0, 0, 2, 1, 2))
FUSED = Signature(0, (0,))
READ_HEADERS = Signature(1, (0,) * 6)
SCAN, SECTIONS, DECODE = (SIGNATURES[name] for name in ("scan", "sections", "decode"))

ALL_DONE, UNSUPPORTED_PAYLOAD, OUTPUT_FULL = 0, -1, -2
"""Second result of DECOMPRESS: why it stopped. More capacity helps against OUTPUT_FULL alone."""


def num_words(signature: Signature, num_arguments: int | None = None) -> int:
    """Return the number of words of the first *num_arguments*, by default of all.

    An integer is one word. An array is its address, then its number of items in each dimension.
    """
    return sum(1 + number for number in signature.dimensions[:num_arguments])


def word_offset(signature: Signature, argument: int) -> int:
    """Return the byte at which *argument* begins among the words."""
    return 8 * num_words(signature, argument)
