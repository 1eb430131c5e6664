"""Makes an engine by its name."""

from magicbyte.engines.protocol import Engine
from magicbyte.errors import InputError

ENGINES = ("auto", "columnar", "reference")


def engine(name: str, *, views: bool = False) -> Engine:
    """Return the engine *name*: `reference`, `columnar`, or `auto`, which begins with the one and
    goes over to the other where there is much to read.

    With *views* keys and values are views, of bytes that stay where they were read if they can.
    Raises InputError where there is no such engine.
    """
    from magicbyte.engines.auto import AutoEngine
    from magicbyte.engines.columnar import ColumnarEngine
    from magicbyte.engines.reference import ReferenceEngine

    match name:
        case "auto":
            return AutoEngine(views=views)
        case "reference":
            return ReferenceEngine(views=views)
        case "columnar":
            return ColumnarEngine(views=views)
    raise InputError(f"engine {name!r}", "auto, columnar or reference")
