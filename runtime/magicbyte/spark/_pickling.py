"""Pickling of the data source and its readers, with a helpful error where magicbyte is not installed.

Spark pickles them on the driver and unpickles them in each task. A class is pickled by name, so a user
without magicbyte on an executor would only see that a module does not exist. This module is pickled
by value, as code, and its error says what to do.
"""

import pickle
import sys
from typing import Any

from pyspark import cloudpickle

MISSING_MODULE = (
    "Spark's tasks cannot import {name!r}: install magicbyte and what it needs on every executor, "
    "or ship an environment that has both with spark.archives, as docs/spark.md shows"
)


class PickledByValue:
    """Base of the classes that Spark sends to tasks; `_unpickle` restores them."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (pickle.dumps((type(self), self.__getstate__())),)


def _unpickle(pickled: bytes) -> Any:
    """Restore an object; ModuleNotFoundError tells to install the package on this executor."""
    try:
        class_, state = pickle.loads(pickled)
    except ModuleNotFoundError as error:
        name = (error.name or "magicbyte").partition(".")[0]
        raise ModuleNotFoundError(MISSING_MODULE.format(name=name), name=name) from None
    restored = class_.__new__(class_)
    restored.__dict__.update(state)
    return restored


# Spark gives its copy of cloudpickle no types.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
