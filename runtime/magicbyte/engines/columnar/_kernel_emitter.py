"""Compiles kernels to one object file, by Numba and LLVM.

It is used when a wheel is built, and where there is no shared library for the processor; reading imports
neither this module nor Numba. A process emits once, because Numba caches helper functions for one processor.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.types import containers

from magicbyte.engines.columnar._arrow_release import (
    PYTHON_SYMBOL,
    RELEASE_ASSEMBLY,
    RELEASE_SYMBOL,
)
from magicbyte.engines.columnar._kernel_abi import ABI_SYMBOL, PREFIX, kernel_abi
from magicbyte.engines.columnar._kernel_list import Kernel
from magicbyte.engines.columnar._processor_levels import Target
from magicbyte.engines.columnar._signatures import num_words
from magicbyte_kernels import checksum_functions
from magicbyte_kernels.kernel_interface import Signature

CHECKSUM = Signature(1, (0, 0))


def host() -> Target:
    """Return the processor of this machine, with all its instructions."""
    return Target(
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )


def emit(kernels: Mapping[str, Kernel], processor: Target, *, code_model: str = "small") -> bytes:
    """Return an object file with *kernels*, the checksum functions and Arrow's release callback.

    Args:
        kernels: Kernels by name; the symbol is the name after PREFIX.
        processor: Processor that the code is for.
        code_model: LLVM's code model; `jitdefault` if LLVM loads the object file into this process.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    features = processor.features.split(",")
    enabled = {feature[1:] for feature in features if feature.startswith("+")}
    module = llvm.parse_assembly(RELEASE_ASSEMBLY + _abi_assembly())
    exported = {RELEASE_SYMBOL, PYTHON_SYMBOL, ABI_SYMBOL}
    is_native = processor.triple.partition("-")[0] == llvm.get_process_triple().partition("-")[0]
    with global_compiler_lock, _ahead_of_time(processor.cpu if is_native else "generic"):
        for symbol, function in checksum_functions.functions(enabled).items():
            module.link_in(_compiled(function, CHECKSUM, symbol, _checksum_wrapper))
        for name, kernel in kernels.items():
            symbol = PREFIX + name
            module.link_in(
                _compiled(kernel.load_function(), kernel.signature, symbol, _kernel_wrapper)
            )
            exported.add(symbol)
    _hide(module, exported)
    machine = llvm.Target.from_triple(processor.triple).create_target_machine(
        cpu=processor.cpu,
        features=processor.features,
        opt=3,
        reloc="pic",
        codemodel=code_model,
        jit=code_model == "jitdefault",
    )
    module = _for_target(module, processor.triple, str(machine.target_data))
    _optimize(module, machine)
    return bytes(machine.emit_object(module))


@contextmanager
def _ahead_of_time(cpu: str) -> Iterator[None]:
    """Let Numba optimize for *cpu*, and keep it from loading the code into this process.

    Kernels call checksum functions that Numba does not know, and this processor may lack instructions of
    theirs.
    """
    context = cpu_target.target_context
    loading = context._internal_codegen
    context._internal_codegen = codegen.AOTCPUCodegen("kernels", cpu)
    # Numba wants a new builtin function for each that it compiles; it is never called.
    context.get_executable = lambda *_: [].append
    try:
        yield
    finally:
        context._internal_codegen = loading
        del context.get_executable


def _abi_assembly() -> str:
    text = kernel_abi()
    return f'\n@{ABI_SYMBOL} = constant [{len(text)} x i8] c"{text}"\n'


def _compiled(
    function: Any, signature: Signature, symbol: str, wrapper: Callable[[Signature, str, str], str]
) -> Any:
    """Return a module with *function* compiled by Numba, and the *wrapper* of it called *symbol*."""
    flags = compiler.Flags()
    # The code must refer neither to Python nor to Numba's runtime.
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
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
    function = getattr(function, "py_func", function)  # of a dispatcher
    result = compiler.compile_extra(
        cpu_target.typing_context, context, function, kinds, results, flags, {}
    )
    result.library.finalize()
    text = result.library.get_llvm_str()
    module = llvm.parse_assembly(text)
    body = module.get_function(result.fndesc.llvm_func_name)
    body.name = f"{symbol}_body"
    body.linkage = "internal"
    body.add_function_attribute("alwaysinline")
    # A declaration of the internal body would not refer to it, so the wrapper joins its text.
    module = llvm.parse_assembly(str(module) + wrapper(signature, symbol, body.name))
    module.name = symbol
    return module


def _kernel_wrapper(signature: Signature, symbol: str, body: str) -> str:
    """Return the function *symbol*, which takes plain words, and calls the *body* that takes Numba's.

    Numba takes seven words or more for an array: two for its owner, which has none here, number of items,
    size of an item, address, number of items in each dimension, bytes between them in each dimension.
    """
    code: list[str] = []
    passed: list[str] = []
    words = iter(range(num_words(signature)))
    for dimensions in signature.dimensions:
        first = f"i64 %w{next(words)}"
        if not dimensions:
            passed.append(first)
            continue
        counts = [f"%w{next(words)}" for _ in range(dimensions)]
        at = counts[-1]
        code += [f"{at}p = inttoptr {first} to ptr", f"{at}s = mul i64 {at}, 8"]
        strides = ["8"] if dimensions == 1 else [f"{at}s", "8"]
        code.append(f"{at}n = mul i64 {counts[0]}, {counts[1] if dimensions == 2 else '1'}")
        passed += ["ptr null", "ptr null", f"i64 {at}n", "i64 8", f"ptr {at}p"]
        passed += [f"i64 {number}" for number in (*counts, *strides)]
    parameters = "".join(f", i64 %w{number}" for number in range(num_words(signature)))
    lines = [
        f"define i32 @{symbol}(ptr %results{parameters}) {{",
        "%error = alloca ptr",
        *code,
        f"%status = call i32 @{body}(ptr %results, ptr %error, {', '.join(passed)})",
        "ret i32 %status",
        "}",
    ]
    return "\n".join(["", *lines, ""])


def _checksum_wrapper(signature: Signature, symbol: str, body: str) -> str:
    """Return the function *symbol*, which returns its result."""
    return f"""
define i64 @{symbol}(i64 %p, i64 %end) {{
%result = alloca i64
%error = alloca ptr
%status = call i32 @{body}(ptr %result, ptr %error, i64 %p, i64 %end)
%checksum = load i64, ptr %result
ret i64 %checksum
}}
"""


def _hide(module: Any, exported: Collection[str]) -> None:
    """Make everything internal to *module* but the symbols in *exported*."""
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in exported:
            value.linkage = "internal"


def _for_target(module: Any, triple: str, layout: str) -> Any:
    """Return *module* for another system and processor than the one that compiles."""
    text = re.sub(r"^target .*\n", "", str(module), flags=re.MULTILINE)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = triple, layout
    return module


def _optimize(module: Any, machine: Any) -> None:
    """Inline the bodies of kernels into their wrappers, and drop functions that are not called."""
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
