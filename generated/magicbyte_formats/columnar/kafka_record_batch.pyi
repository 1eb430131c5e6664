# Generated from spec/*.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 fa902dab82fe12be9e91fa80388396cbf22a06625b180cbf70396437c6ffcd68, kaitai-struct-compiler 0.11.0
from magicbyte_formats.columnar import EntryColumn, Table

NAMES: dict[str, int]
WIDTH: int
STATE: int
SLACK: int
LEAST_ROW: int
IS_STREAM: bool
CODECS: dict[int, str]
TABLE: Table
ENTRY_COLUMNS: tuple[EntryColumn, ...]
