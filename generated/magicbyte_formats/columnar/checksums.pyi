# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
from typing import Any

crc32: Any
crc32c: Any
has_instruction: Any
