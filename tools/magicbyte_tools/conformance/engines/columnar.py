"""The runtime by its columnar engine: rows, the first error and the findings of logs."""

from functools import partial

from magicbyte_tools.conformance.engines.answering import serve
from magicbyte_tools.conformance.engines.runtime import read

if __name__ == "__main__":
    serve(partial(read, engine="columnar"))
