"""Columnar kernels from the specifications: `form` reads the YAML, `kernels` prints Python.

Nothing about any one format is known here. What lies outside of the subset that is understood
is refused with its place in the YAML.
"""

from magicbyte_tools.generate.columnar.form import Unsupported, formats, read_form
from magicbyte_tools.generate.columnar.kernels import module, package, primitives, stub

__all__ = ["Unsupported", "formats", "module", "package", "primitives", "read_form", "stub"]
