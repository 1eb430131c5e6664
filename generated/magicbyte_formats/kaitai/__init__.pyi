# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
from types import TracebackType
from typing import Any, Self

class KaitaiStruct:
    """The base of all parsers, with the types that kaitaistruct does not have."""

    _io: Any
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
