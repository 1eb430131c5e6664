"""Prints code that reads the header of a log entry."""

from collections.abc import Set

from magicbyte_tools.generate.columnar.entry_model import EntryModel
from magicbyte_tools.generate.columnar.source_writer import SourceWriter


def print_header(
    writer: SourceWriter, entry_model: EntryModel, variables: Set[str] | None = None
) -> None:
    """Print code that reads the numbers of the header at p.

    *variables* limits it to these, and to numbers that have checks. None: all.
    """
    for position, number in entry_model.header_numbers:
        bits = [bit for bit in number.bits if variables is None or bit[0] in variables]
        if variables is None or number.var in variables or bits or number.writer_checks:
            writer.add(f"{number.var} = {number.reader}(p + {position})")
        for name, shift, mask in bits:
            writer.add(f"{name} = {number.var} >> {shift} & {mask:#x}")


def header_checks(entry_model: EntryModel) -> list[str]:
    """Return the comparisons that a valid header passes, as Python source."""
    return [check for number in entry_model.variables for check in number.writer_checks]
