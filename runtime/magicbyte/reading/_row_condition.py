"""A condition on rows, an Arrow expression, which is never taken apart here: Arrow is asked about it.

Arrow skips a file of a dataset if the values that are guaranteed for its rows cannot satisfy the condition.
So a range of offsets is made to look like such a file: its name is a number, and it is never opened.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds
from pyarrow.fs import FileSystem, LocalFileSystem

_FORMAT = pds.IpcFileFormat()


class RowCondition:
    """A condition on the rows of a table.

    Attributes:
        arrow_filter: The Arrow expression.
        columns: Names of the columns that it depends on.
    """

    def __init__(self, arrow_filter: pc.Expression, schema: pa.Schema) -> None:
        """Raise what Arrow raises if *arrow_filter* does not fit *schema*, such as ArrowInvalid."""
        self.arrow_filter = arrow_filter
        self.columns = frozenset(used_columns(schema, [], arrow_filter))
        self._schema = schema
        self._file_system: FileSystem = LocalFileSystem()

    def type_of(self, name: str) -> pa.DataType:
        """Return the type that the column *name* has in the condition."""
        return self._schema.field(name).type

    def may_match(self, guarantees: Sequence[pc.Expression]) -> list[bool]:
        """Return for each of *guarantees* whether a row for which it holds may satisfy the condition.

        True, too, where Arrow cannot tell, such as for a number that its comparison would have to round.
        """
        files = [
            _FORMAT.make_fragment(str(number), self._file_system, guarantee)
            for number, guarantee in enumerate(guarantees)
        ]
        pruned = pds.FileSystemDataset(files, self._schema, _FORMAT, self._file_system)
        try:
            numbers = {int(file.path) for file in pruned.get_fragments(filter=self.arrow_filter)}
        except pa.ArrowException:
            return [True] * len(files)
        return [number in numbers for number in range(len(files))]


Projection = Sequence[str] | dict[str, pc.Expression] | None
"""Columns of a scan as pyarrow.dataset takes them: names, or expressions by name; None: all."""


def used_columns(
    schema: pa.Schema, projection: Projection, arrow_filter: pc.Expression | None
) -> tuple[str, ...]:
    """Return the columns of *schema* that *projection* and *arrow_filter* need, in the order of *schema*.

    A column is needed if Arrow cannot bind them to a schema without it. Raises what Arrow raises if they do
    not fit *schema*, such as ArrowInvalid.
    """
    bind(schema, projection, arrow_filter)
    if projection is None:
        return tuple(schema.names)
    return tuple(
        name
        for number, name in enumerate(schema.names)
        if not _binds(schema.remove(number), projection, arrow_filter)
    )


def bind(
    schema: pa.Schema, projection: Projection, arrow_filter: pc.Expression | None
) -> pds.Scanner:
    """Return Arrow's scanner of no rows of *schema*, whose `projected_schema` has the types of *projection*."""
    no_rows = pds.InMemoryDataset(schema.empty_table())
    return no_rows.scanner(columns=projection, filter=arrow_filter)


def _binds(schema: pa.Schema, projection: Projection, arrow_filter: pc.Expression | None) -> bool:
    try:
        bind(schema, projection, arrow_filter)
    except (pa.ArrowException, KeyError, ValueError):
        return False
    return True
