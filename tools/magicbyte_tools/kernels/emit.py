"""python -m magicbyte_tools.kernels.emit LIBRARY OBJECT: compile all kernels for one level to an object file.

It is a process of its own, because Numba caches helper functions for one processor.
"""

import sys
from pathlib import Path

from magicbyte.engines.columnar._kernel_emitter import emit
from magicbyte.engines.columnar._kernel_list import kernels
from magicbyte_tools.kernels.levels import level_of

if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(emit(kernels(), level_of(sys.argv[1]).processor))
