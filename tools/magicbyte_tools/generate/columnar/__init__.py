"""Columnar modules from the specifications.

Formats of log entries, whose records vary in size, get Numba kernels (`entry_reader` reads the
YAML, `kernel_module` prints Python). Files of fixed-width rows get NumPy types (`row_file_model`,
`row_file_module`). Nothing here knows a particular format; a feature outside the supported subset
is refused with its path in the YAML.
"""

from magicbyte_tools.generate.columnar.arithmetic import UnsupportedSpecError
from magicbyte_tools.generate.columnar.description_module import description
from magicbyte_tools.generate.columnar.entry_reader import entry_formats, read_entry
from magicbyte_tools.generate.columnar.kernel_module import kernel_module
from magicbyte_tools.generate.columnar.row_file_model import read_row_file, row_file_formats
from magicbyte_tools.generate.columnar.row_file_module import row_file_module

PACKAGE = '"""Modules that turn bytes into columns, generated from spec/."""\n'

__all__ = [
    "PACKAGE",
    "UnsupportedSpecError",
    "description",
    "entry_formats",
    "kernel_module",
    "read_entry",
    "read_row_file",
    "row_file_formats",
    "row_file_module",
]
