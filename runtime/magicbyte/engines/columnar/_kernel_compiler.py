"""Compiles kernels in this process, for processors without a shared library. Needs the extra `jit`."""

from collections.abc import Mapping

import llvmlite.binding as llvm

from magicbyte.engines.columnar._kernel_library import KernelLibrary
from magicbyte.engines.columnar._kernel_list import Kernel


def compile_library(kernels: Mapping[str, Kernel]) -> KernelLibrary:
    """Return machine code of *kernels* for this processor: thirteen seconds of work."""
    from magicbyte.engines.columnar import _kernel_emitter

    code = _kernel_emitter.emit(kernels, _kernel_emitter.host(), code_model="jitdefault")
    return load(code)


def load(code: bytes | None = None, *, assembly: str = "") -> KernelLibrary:
    """Load an object file or LLVM *assembly* into memory."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(assembly), machine)
    if code is not None:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()

    def address(symbol: str) -> int:
        return int(engine.get_function_address(symbol) or engine.get_global_value_address(symbol))

    return KernelLibrary(address, engine)


def release_library() -> KernelLibrary:
    """Return machine code of the release callback alone, for kernels that run as plain Python."""
    from magicbyte.engines.columnar._arrow_release import RELEASE_ASSEMBLY

    return load(assembly=RELEASE_ASSEMBLY)
