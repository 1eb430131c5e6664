"""Names the numbers of a format's descriptors and the slots of its decoder's state."""

from magicbyte_kernels.kernel_interface import DESCRIPTOR_FIELDS, STATE_SLOTS
from magicbyte_tools.generate.columnar.arithmetic import UnsupportedSpecError
from magicbyte_tools.generate.columnar.entry_model import (
    EntryModel,
    NumberNode,
    RowColumn,
    RowTable,
    longest_run,
)

LEN_COPY = 64
"""Bytes that a short copy may read and write after its end."""
SLACK_UNIT = 32
"""Slack is a multiple of this many bytes."""


class KernelLayout:
    """Names of all numbers that the kernels of *entry* read and write, in their order."""

    def __init__(self, entry_model: EntryModel) -> None:
        if not entry_model.codec.is_name:
            raise UnsupportedSpecError(
                f"{entry_model.name}.ksy:", "the codec is not a header field"
            )
        self.entry = entry_model
        first = [node for node in entry_model.body[:1] if isinstance(node, NumberNode)]
        self.optional_fields = [number for number in first if number.condition is not None]
        """Conditional number right after the header, read together with it."""
        self.computed_columns = [
            column
            for column in entry_model.entry_columns
            if column.condition is not None or not column.value.is_name
        ]
        self.header_names = [number.var for number in entry_model.variables]
        self.header_names += [bit for number in entry_model.variables for bit, _, _ in number.bits]
        self.header_names += [number.var for number in self.optional_fields]
        self.header_names += [f"row_{column.name}" for column in self.computed_columns]
        self.names = [*DESCRIPTOR_FIELDS, *self.header_names]
        """Names of the numbers of a descriptor."""
        self.slots = list(STATE_SLOTS)
        """Names of the slots of a state."""
        self.tables: list[RowTable] = []
        self._add_table(entry_model.table)
        self.mode_names = [mode_name(column) for column in entry_model.table.columns]
        """Names of the slots with the modes of the columns, and of the parameters for them."""
        self.slots += self.mode_names

    def _add_table(self, table: RowTable) -> None:
        self.tables.append(table)
        self.slots += [f"{table.name}_rows", f"{table.name}_capacity"]
        for column in table.columns:
            self.slots += [f"{column.var}_{buffer}" for buffer in column.buffers]
            if column.struct_table is not None:
                self._add_table(column.struct_table)

    @property
    def slack(self) -> int:
        """Bytes that a kernel may read after a payload, or write after the bytes of a column."""
        longest = max(longest_run(self.entry.body), LEN_COPY)
        return -(-longest // SLACK_UNIT) * SLACK_UNIT

    def number(self, name: str) -> int:
        """Return the index of the number *name* in a descriptor."""
        return self.names.index(name)

    def at(self, name: str) -> str:
        """Return the Python source of the number *name* of descriptor n."""
        return f"desc[n, {self.number(name)}]"

    def slot(self, name: str) -> str:
        """Return the Python source of the state slot *name*."""
        return f"state[{self.slots.index(name)}]"


def mode_name(column: RowColumn) -> str:
    """Return the name of the mode of a column of TABLE."""
    return f"mode_{column.name}"
