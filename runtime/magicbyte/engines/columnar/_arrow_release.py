"""Release callback of the C data interface: drops the Python object that owns the columns.

It is machine code, because Arrow may call it in a thread that Python does not know, and after the
interpreter has ended. In that case it does nothing.
"""

import ctypes
from functools import cache
from typing import Any

from magicbyte.engines.columnar._machine_code import SYMBOL, load

LEN_WORD = 8


@cache
def release_function(release_word: int, private_word: int) -> int:
    """Return the address of the release callback, which takes the address of an Arrow C struct.

    It sets word *release_word* of the struct to 0, and drops the object whose address is in word
    *private_word*.
    """
    from llvmlite import ir

    word, number, void = ir.IntType(64), ir.IntType(32), ir.VoidType()
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(void, [word]), SYMBOL)
    builder = ir.IRBuilder(function.append_basic_block())

    def call(name: str, result: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        return builder.call(builder.inttoptr(word(address), kind.as_pointer()), arguments)

    def pointer(number: int) -> Any:
        address = builder.add(function.args[0], word(LEN_WORD * number))
        return builder.inttoptr(address, word.as_pointer())

    owner = builder.load(pointer(private_word))
    builder.store(word(0), pointer(release_word))
    is_running = builder.icmp_signed("!=", call("Py_IsInitialized", number), number(0))
    with builder.if_then(is_running):
        lock = call("PyGILState_Ensure", number)
        call("Py_DecRef", void, owner)
        call("PyGILState_Release", void, lock)
    builder.ret_void()
    engine, address = load(assembly=str(module))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))  # never freed: it outlives the interpreter
    return address
