"""Creates an engine or an encoder by its name."""

from magicbyte.engines.encoding import Encoder
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


def encoder(name: str = "auto") -> Encoder:
    """Return a new encoder.

    *name* is `reference`, `columnar`, or `auto`: columnar where there is a library of kernels for this
    processor, reference elsewhere. Raises InputError for another name.
    """
    from magicbyte.engines._reference_encoder import ReferenceEncoder
    from magicbyte.engines.columnar.encoder import ColumnarEncoder
    from magicbyte.engines.columnar.kernel_loader import is_library_built

    match name:
        case "auto":
            return ColumnarEncoder() if is_library_built() else ReferenceEncoder()
        case "reference":
            return ReferenceEncoder()
        case "columnar":
            return ColumnarEncoder()
    raise InputError(f"encoder {name!r}", "auto, columnar or reference")
