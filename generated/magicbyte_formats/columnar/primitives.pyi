# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
from typing import Any

ask_ahead: Any
call5: Any
call_kernel: Any
called: Any
copy: Any
copy16: Any
inlined: Any
is_ascii: Any
prefetch: Any
put1: Any
put2: Any
put4: Any
put8: Any
s1: Any
s2be: Any
s2le: Any
s4be: Any
s4le: Any
s8be: Any
s8le: Any
swap: Any
u1: Any
u2be: Any
u2le: Any
u4be: Any
u4le: Any
view: Any
wrap: Any
zigzag32: Any
zigzag64: Any
