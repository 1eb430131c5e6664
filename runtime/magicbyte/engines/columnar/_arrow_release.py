"""Release callback of the C data interface: drops the Python object that owns the columns.

It is machine code, because Arrow may call it in a thread that Python does not know, and after the
interpreter has ended. In that case it does nothing.
"""

RELEASE, PRIVATE_DATA = 8, 9
"""Words of a struct ArrowArray: the address of this callback, 0 once it is released; the owner."""

RELEASE_SYMBOL, PYTHON_SYMBOL = "mb_release", "mb_python"
"""Symbols of the callback, which takes the address of the struct, and of the table of addresses that it
calls, which the loader fills."""

PYTHON_FUNCTIONS = ("Py_IsInitialized", "PyGILState_Ensure", "Py_DecRef", "PyGILState_Release")
"""Functions of Python in that table, in order. So the library needs no symbol of another one."""

RELEASE_ASSEMBLY = f"""
@{PYTHON_SYMBOL} = global [{len(PYTHON_FUNCTIONS)} x ptr] zeroinitializer

define void @{RELEASE_SYMBOL}(ptr %struct) {{
  %private_data = getelementptr i64, ptr %struct, i64 {PRIVATE_DATA}
  %owner = load ptr, ptr %private_data
  %release = getelementptr i64, ptr %struct, i64 {RELEASE}
  store i64 0, ptr %release
  %is_initialized = load ptr, ptr @{PYTHON_SYMBOL}
  %is_running = call i32 %is_initialized()
  %is_ended = icmp eq i32 %is_running, 0
  br i1 %is_ended, label %end, label %drop

drop:
  %ensure_at = getelementptr ptr, ptr @{PYTHON_SYMBOL}, i64 1
  %ensure = load ptr, ptr %ensure_at
  %dec_ref_at = getelementptr ptr, ptr @{PYTHON_SYMBOL}, i64 2
  %dec_ref = load ptr, ptr %dec_ref_at
  %unlock_at = getelementptr ptr, ptr @{PYTHON_SYMBOL}, i64 3
  %unlock = load ptr, ptr %unlock_at
  %lock = call i32 %ensure()
  call void %dec_ref(ptr %owner)
  call void %unlock(i32 %lock)
  br label %end

end:
  ret void
}}
"""
"""The callback, in LLVM's assembly."""
