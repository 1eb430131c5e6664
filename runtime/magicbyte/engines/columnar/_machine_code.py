"""Calls kernels that are machine code.

A kernel is a C function: it takes the address of its int64 results, then 64-bit words, and returns a status
that is 0. Any language that can call C can call it.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from magicbyte.engines.columnar._buffers import address
from magicbyte.engines.columnar._signatures import num_words
from magicbyte_kernels.kernel_interface import Signature


class MachineCode:
    """A kernel in memory, called with integers and arrays as its *signature* states."""

    def __init__(self, code_address: int, signature: Signature) -> None:
        self.address = code_address
        self._dimensions, self._num_results = signature.dimensions, signature.results
        self._has_arrays = any(self._dimensions)
        self._results = ctypes.c_int64 * max(signature.results, 1)
        words = [ctypes.c_int64] * num_words(signature)
        self._function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *words)(code_address)

    def __call__(self, *arguments: Any) -> Any:
        results = self._results()
        words = self.words(*arguments) if self._has_arrays else arguments
        status = self._function(results, *words)
        if status:
            raise RuntimeError(f"a kernel ended with status {status}")
        return results[0] if self._num_results == 1 else tuple(results[: self._num_results])

    def words(self, *arguments: Any) -> Sequence[int]:
        """Return *arguments* as the 64-bit words that the function at `address` takes."""
        words: list[int] = []
        for argument, number in zip(arguments, self._dimensions, strict=True):
            if number:
                words += _array(argument, number)
            else:
                words.append(int(argument))
        return words


def _array(array: Any, num_dimensions: int) -> tuple[int, ...]:
    """Return the words of *array*: its address, then its number of items in each dimension."""
    if array.dtype != np.int64 or array.ndim != num_dimensions or not array.flags.c_contiguous:
        raise TypeError(f"expected a contiguous array of int64 of {num_dimensions} dimensions")
    return (address(array), *array.shape)
