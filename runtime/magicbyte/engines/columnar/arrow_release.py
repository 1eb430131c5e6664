"""What Arrow calls when it needs no more of what it was handed: drops an object of Python.

It is machine code, as the last one to need a column may be a thread that Python knows nothing of,
and may come when Python has ended. Then there is nothing to drop any more.
"""

import ctypes
from functools import cache
from typing import Any

from magicbyte.engines.columnar.machine_code import SYMBOL, loaded

LEN_WORD = 8


@cache
def release(release_at: int, private_at: int) -> int:
    """Return the address of a function that is given the address of a struct.

    It writes 0 to the struct's word *release_at*, and drops the object whose address is that at
    *private_at*.
    """
    from llvmlite import ir

    word, number, nothing = ir.IntType(64), ir.IntType(32), ir.VoidType()
    module = ir.Module()
    made = ir.Function(module, ir.FunctionType(nothing, [word]), SYMBOL)
    builder = ir.IRBuilder(made.append_basic_block())

    def call(name: str, result: Any, *arguments: Any) -> Any:
        kind = ir.FunctionType(result, [one.type for one in arguments])
        place = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        return builder.call(builder.inttoptr(word(place), kind.as_pointer()), arguments)

    def at(number: int) -> Any:
        place = builder.add(made.args[0], word(LEN_WORD * number))
        return builder.inttoptr(place, word.as_pointer())

    held = builder.load(at(private_at))
    builder.store(word(0), at(release_at))
    is_there = builder.icmp_signed("!=", call("Py_IsInitialized", number), number(0))
    with builder.if_then(is_there):
        before = call("PyGILState_Ensure", number)
        call("Py_DecRef", nothing, held)
        call("PyGILState_Release", nothing, before)
    builder.ret_void()
    engine, place = loaded(assembly=str(module))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))  # it outlives Python
    return place
