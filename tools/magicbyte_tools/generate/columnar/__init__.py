"""Columns from the specifications, by two kinds of modules.

Of entries, whose records take as many bytes as they like, Numba's kernels: `form` reads the YAML,
`kernels` prints Python. Of files of rows that are all of one width, NumPy's own types: `fixed`
reads and `rows` prints.

Nothing about any one format is known here. What lies outside of the subset that is understood
is refused with its place in the YAML.
"""

from magicbyte_tools.generate.columnar import row_file_modules
from magicbyte_tools.generate.columnar.entry_model import Unsupported, formats, read_form
from magicbyte_tools.generate.columnar.kernel_printer import description, module
from magicbyte_tools.generate.columnar.row_file_model import files_of_rows, read_file

PACKAGE = '"""Modules that turn bytes into columns, generated from spec/."""\n'

__all__ = [
    "PACKAGE",
    "Unsupported",
    "description",
    "files_of_rows",
    "formats",
    "module",
    "read_file",
    "read_form",
    "row_file_modules",
]
