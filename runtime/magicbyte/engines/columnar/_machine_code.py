"""Machine code of kernels: compiled by Numba, and later loaded from an object file without it.

Importing Numba takes a second, in which a kernel reads millions of records. LLVM loads an object file in
milliseconds, because it refers to no external symbol.
"""

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from magicbyte.engines.columnar._buffers import address
from magicbyte.engines.columnar._signatures import num_words
from magicbyte_kernels.kernel_interface import Signature

SYMBOL = "kernel"
"""Symbol of a kernel in its object file."""


@cache
def processor() -> tuple[str, str, str]:
    """Return the target of machine code: the system, the processor, its features.

    As in Numba, NUMBA_CPU_NAME and NUMBA_CPU_FEATURES choose another processor than this one.
    """
    import llvmlite.binding as llvm

    name = os.environ.get("NUMBA_CPU_NAME", "host")
    is_host = name == "host"
    features = llvm.get_host_cpu_features().flatten() if is_host else ""
    return (
        llvm.get_process_triple(),
        llvm.get_host_cpu_name() if is_host else name,
        os.environ.get("NUMBA_CPU_FEATURES", features),
    )


def compile_kernel(function: Callable[..., Any], signature: Signature) -> bytes:
    """Return the object file of a kernel: seconds of work, one of them to import Numba."""
    import llvmlite.binding as llvm
    from numba.core import compiler, types
    from numba.core.registry import cpu_target
    from numba.core.types import containers

    flags = compiler.Flags()
    # The code must refer neither to Python nor to Numba's runtime.
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.nrt = False
    number: Any = types.int64
    kinds = [
        types.Array(number, dimensions, "C") if dimensions else number
        for dimensions in signature.dimensions
    ]
    results: Any = {0: types.none, 1: number}.get(signature.results)
    if results is None:
        results = containers.UniTuple(number, signature.results)
    context = cpu_target.target_context
    result = compiler.compile_extra(
        cpu_target.typing_context, context, function, kinds, results, flags, {}
    )
    module = llvm.parse_assembly(result.library.get_llvm_str())
    module.get_function(result.fndesc.llvm_func_name).name = SYMBOL
    triple, name, features = processor()
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=name,
        features=features,
        opt=3,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )
    return bytes(machine.emit_object(module))


class MachineCode:
    """A compiled kernel in memory, called with integers and arrays as its *signature* states."""

    def __init__(self, code: bytes, signature: Signature) -> None:
        """Load the object file *code*. Altered code may crash the process."""
        self._engine, self.address = load(code)
        self._dimensions, self._num_results = signature.dimensions, signature.results
        self._has_arrays = any(self._dimensions)
        self._results = ctypes.c_int64 * max(signature.results, 1)
        words = [ctypes.c_int64] * num_words(signature)
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *words)
        self._function = kind(self.address)

    def __call__(self, *arguments: Any) -> Any:
        results, error = self._results(), ctypes.c_void_p()
        words = self.words(*arguments) if self._has_arrays else arguments
        status = self._function(results, ctypes.byref(error), *words)
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
    """Return *array* as Numba passes it: no owner, number of items, their size, address, shape, strides."""
    if array.dtype != np.int64 or array.ndim != num_dimensions or not array.flags.c_contiguous:
        raise TypeError(f"expected a contiguous array of int64 of {num_dimensions} dimensions")
    return (0, 0, array.size, 8, address(array), *array.shape, *array.strides)


def load(code: bytes | None = None, *, assembly: str = "") -> tuple[Any, int]:
    """Load an object file or LLVM *assembly*; return its owner and the address of its kernel."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(assembly), machine)
    if code is not None:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, engine.get_function_address(SYMBOL)
