"""Values that the shell completes: paths, topics of the paths that were typed before, columns, codes of findings."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Items = list["CompletionItem[str]"]


def complete_path(ctx: click.Context, parameter: click.Parameter | None, incomplete: str) -> Items:
    """Let the shell complete the name of a file or a folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_command(
    ctx: click.Context, parameter: click.Parameter | None, incomplete: str
) -> Items:
    """Return the names of commands that begin with *incomplete*."""
    root = ctx.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    return _items(group.list_commands(root), incomplete)


def complete_topic(ctx: click.Context, parameter: click.Parameter | None, incomplete: str) -> Items:
    """Return the topics below the paths of the command line that begin with *incomplete*."""
    # Without the value of the option click leaves the arguments unparsed, in `args`.
    return _items(_topics(ctx.params.get("paths") or ctx.args), incomplete)


def complete_columns(
    ctx: click.Context, parameter: click.Parameter | None, incomplete: str
) -> Items:
    """Return lists of columns of the table that the command line names, one column longer than the typed one."""
    from magicbyte.tables.schemas import ALL_TABLES

    table = ALL_TABLES.get(ctx.params.get("table_name") or "records")
    if table is None:
        return []
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    names = [name for name in table.names if name not in taken]
    return _items((before + comma + name for name in names if name.startswith(last)), "")


def complete_code(ctx: click.Context, parameter: click.Parameter | None, incomplete: str) -> Items:
    """Return the codes of findings that begin with *incomplete*."""
    from magicbyte import CODES

    return _items(CODES, incomplete)


def _items(values: Iterable[str], incomplete: str) -> Items:
    from click.shell_completion import CompletionItem

    return [CompletionItem(value) for value in values if value.startswith(incomplete)]


def _topics(paths: Iterable[str]) -> list[str]:
    """Return the topics of the partition folders below local *paths*; a store would let Tab wait."""
    from magicbyte import MagicbyteError
    from magicbyte.reading.opening import topics_below
    from magicbyte.storage import NO_OPTIONS, Storage, is_url

    local = [os.path.expanduser(path) for path in paths if not is_url(path)]
    try:
        return topics_below(local, Storage(NO_OPTIONS)) if local else []
    except MagicbyteError:
        return []  # a path without a log has nothing to offer
