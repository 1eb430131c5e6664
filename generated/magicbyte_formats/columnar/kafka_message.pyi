# Generated from spec/*.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 fa902dab82fe12be9e91fa80388396cbf22a06625b180cbf70396437c6ffcd68, kaitai-struct-compiler 0.11.0
from collections.abc import Callable
from typing import Any

from magicbyte_formats.columnar import EntryColumn, Table

NAMES: dict[str, int]
WIDTH: int
STATE: int
SLACK: int
LEAST_ROW: int
ABSENT: int
IS_STREAM: bool
CODECS: dict[int, str]
TABLE: Table
ENTRY_COLUMNS: tuple[EntryColumn, ...]

def has_crc_instruction() -> bool: ...
def scan(
    address: int, length: int, stop: int, most_bytes: int, verify: bool, desc: Any
) -> tuple[int, int]: ...
def describe(address: int, length: int, positions: Any, desc: Any) -> None: ...
def sections(desc: Any, chosen: Any) -> None: ...
def decoder(*wanted: int) -> Callable[[Any, int, int, Any], int]: ...
