"""Kernels as machine code: made by Numba, kept as objects, and called without it.

Numba takes a second to load, in which a kernel reads millions of records. What it makes of one is
kept as an object file with no name in it that would have to be looked up: LLVM loads that in some
milliseconds.
"""

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from magicbyte.engines.columnar.buffers import address
from magicbyte.engines.columnar.signatures import num_words
from magicbyte_kernels.kernel_interface import Signature

SYMBOL = "kernel"
"""What a kernel is called in its object."""


@cache
def processor() -> tuple[str, str, str]:
    """Return what machine code is made for: the system, the processor, and what that can do.

    NUMBA_CPU_NAME and NUMBA_CPU_FEATURES name another than this one, as they do for Numba.
    """
    import llvmlite.binding as llvm

    name = os.environ.get("NUMBA_CPU_NAME", "host")
    is_host = name == "host"
    able = llvm.get_host_cpu_features().flatten() if is_host else ""
    return (
        llvm.get_process_triple(),
        llvm.get_host_cpu_name() if is_host else name,
        os.environ.get("NUMBA_CPU_FEATURES", able),
    )


def compiled(function: Callable[..., Any], signature: Signature) -> bytes:
    """Return the object of a kernel. It takes some seconds, the first one of them to load Numba."""
    import llvmlite.binding as llvm
    from numba.core import compiler, types
    from numba.core.registry import cpu_target
    from numba.core.types import containers

    flags = compiler.Flags()
    # Nothing in it is to ask for Python, or for Numba's own runtime.
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
    made = compiler.compile_extra(
        cpu_target.typing_context, context, function, kinds, results, flags, {}
    )
    module = llvm.parse_assembly(made.library.get_llvm_str())
    module.get_function(made.fndesc.llvm_func_name).name = SYMBOL
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
    """A kernel: takes what its *signature* says, and returns what the function did."""

    def __init__(self, code: bytes, signature: Signature) -> None:
        """Load the object *code*, which must be as it was made: others end the process."""
        self._engine, self.address = loaded(code)
        self._dimensions, self._num_results = signature.dimensions, signature.results
        self._results = ctypes.c_int64 * max(signature.results, 1)
        words = [ctypes.c_int64] * num_words(signature)
        kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *words)
        self._function = kind(self.address)

    def __call__(self, *arguments: Any) -> Any:
        results, error = self._results(), ctypes.c_void_p()
        status = self._function(results, ctypes.byref(error), *self.words(*arguments))
        if status:
            raise RuntimeError(f"a kernel ended with status {status}")
        return results[0] if self._num_results == 1 else tuple(results[: self._num_results])

    def words(self, *arguments: Any) -> Sequence[int]:
        """Return *arguments* as the words that the function at `address` takes."""
        if not any(self._dimensions):
            return arguments
        given: list[int] = []
        for argument, number in zip(arguments, self._dimensions, strict=True):
            if number:
                given += _array(argument, number)
            else:
                given.append(int(argument))
        return given


def _array(array: Any, num_dimensions: int) -> tuple[int, ...]:
    """Return *array* as Numba passes it: no owner, size, size of an item, place, shape, strides."""
    if array.dtype != np.int64 or array.ndim != num_dimensions or not array.flags.c_contiguous:
        raise TypeError(f"an array of {num_dimensions} dimensions of int64 without gaps is needed")
    return (0, 0, array.size, 8, address(array), *array.shape, *array.strides)


def loaded(code: bytes | None = None, *, assembly: str = "") -> tuple[Any, int]:
    """Return what holds in memory an object, or what LLVM makes of *assembly*, and its kernel's place."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(assembly), machine)
    if code is not None:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, engine.get_function_address(SYMBOL)
