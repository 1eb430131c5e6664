"""Columns from the specifications, by two kinds of modules.

Of entries, whose records take as many bytes as they like, Numba's kernels: `form` reads the YAML,
`kernels` prints Python. Of files of rows that are all of one width, NumPy's own types: `fixed`
reads and `rows` prints.

Nothing about any one format is known here. What lies outside of the subset that is understood
is refused with its place in the YAML.
"""

from magicbyte_tools.generate.columnar import rows
from magicbyte_tools.generate.columnar.fixed import files_of_rows, read_file
from magicbyte_tools.generate.columnar.form import Unsupported, formats, read_form
from magicbyte_tools.generate.columnar.kernels import common, description, module, package

__all__ = [
    "Unsupported",
    "common",
    "description",
    "files_of_rows",
    "formats",
    "module",
    "package",
    "read_file",
    "read_form",
    "rows",
]
