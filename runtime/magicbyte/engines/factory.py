"""Creates an engine by its name."""

from magicbyte.engines.protocol import Engine
from magicbyte.errors import InputError

ENGINES = ("auto", "columnar", "reference")


def engine(name: str, *, views: bool = False) -> Engine:
    """Return a new engine.

    *name* is `reference`, `columnar`, or `auto`, which changes from the first to the second once there is
    much to read. With *views*, keys and values are Arrow views, of the bytes as they were read if those
    are not compressed. Raises InputError for another name.
    """
    from magicbyte.engines._auto import AutoEngine
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
