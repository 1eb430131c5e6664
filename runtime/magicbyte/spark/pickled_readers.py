"""A data source and readers that tell a task what it lacks.

Spark pickles both on the driver, and each task unpickles them wherever it runs. A class goes by
its name, so that what a user sees where the package is not installed is that there is no such
module. What lies here goes along as code instead, and says what to do.
"""

import pickle
import sys
from typing import Any

from pyspark import cloudpickle

MISSING = (
    "no module {name!r} for the Python of Spark's tasks; expected magicbyte, with what it needs, "
    "on every executor: install it there, or ship an environment that has it with "
    "spark.archives and PYSPARK_PYTHON"
)


class Shipped:
    """What is unpickled by `unpickled`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (pickle.dumps((type(self), self.__getstate__())),)


def unpickled(pickled: bytes) -> Any:
    """Return what was pickled; ModuleNotFoundError says that the package is to be installed here too."""
    try:
        of_type, state = pickle.loads(pickled)
    except ModuleNotFoundError as error:
        name = (error.name or "magicbyte").partition(".")[0]
        raise ModuleNotFoundError(MISSING.format(name=name), name=name) from None
    made = of_type.__new__(of_type)
    made.__dict__.update(state)
    return made


# Spark gives its copy of cloudpickle no types.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
