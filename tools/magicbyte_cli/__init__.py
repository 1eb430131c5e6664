"""The command `magicbyte`: one module per subcommand.

Results go to stdout, everything else to stderr. Exit status: 0 if there is no finding of severity
`error`, 1 if there is one, 2 if something could not be read (everything else was) or the command
line is invalid.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from magicbyte_cli.common_options import short_help_option, with_common_options
from magicbyte_cli.defaults import config_path, default_values, read_config
from magicbyte_cli.display import printable
from magicbyte_cli.exit_statuses import IS_INCOMPLETE
from magicbyte_cli.option_completion import complete_command
from magicbyte_cli.process_limits import check_address_space
from magicbyte_cli.standard_streams import open_missing_streams, silence_stdout

__all__ = ["main"]

COMMANDS = (
    "dump",
    "verify",
    "export",
    "extract",
    "view",
    "spec",
    "sql",
    "transactions",
    "groups",
    "topics",
    "stats",
    "compact",
    "pipeline",
    "rewrite",
    "convert",
    "salvage",
    "erase",
    "restore",
    "pcap",
    "kafka-dump-log",
    "completion",
    "man",
    "help",
)
"""Names of the subcommands. The module of a command, and its function, have underscores instead."""

INTERRUPTED = 130

SHOW_TRACEBACK = "MAGICBYTE_TRACEBACK"
"""Environment variable with which an unexpected error shows its traceback."""


def _module_name(command_name: str) -> str:
    return command_name.replace("-", "_")


class CommandGroup(click.Group):
    """Imports a subcommand when it is called, and turns its errors into a line and an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if find_spec(f"{__name__}.{_module_name(name)}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        name = _module_name(cmd_name)
        module_command: click.Command = getattr(import_module(f"{__name__}.{name}"), name)
        return with_common_options(module_command, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand, and the defaults of its options in the configuration file."""
        name, command, rest = super().resolve_command(ctx, args)
        path = None if command is None or ctx.resilient_parsing else config_path()
        if path is not None and command is not None and name is not None:
            tables = read_config(path, COMMANDS)
            values = default_values(path, name, tables.get(name, {}), command)
            ctx.default_map = {**(ctx.default_map or {}), name: values}
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete the name of a subcommand without importing all of them."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return complete_command(ctx, None, incomplete)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:  # the reader of --help has closed it, as `head` does
            silence_stdout()
            raise click.exceptions.Exit(0) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except click.exceptions.Exit as error:
            if ctx.meta.get(IS_INCOMPLETE):
                raise click.exceptions.Exit(2) from error
            raise
        except BrokenPipeError:
            silence_stdout()
            ctx.exit(0)
        except KeyboardInterrupt:
            _warn("interrupted")
            ctx.exit(INTERRUPTED)
        return result

    def main(  # type: ignore[override]  # click's declares overloads
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run a command and end the process with its exit status; no error ends in a traceback."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        # NumPy's linear algebra, which nothing here uses, would reserve memory for each processor.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        open_missing_streams()
        try:
            check_address_space()
            status = super().main(args, standalone_mode=False, **extra)
            sys.stdout.flush()
        except click.ClickException as error:
            with suppress(OSError):
                error.show()
            status = error.exit_code
        except Exception as error:
            if os.environ.get(SHOW_TRACEBACK):
                raise
            status = _status_of(error)
        sys.exit(status or 0)


def _status_of(error: Exception) -> int:
    """Say on stderr in one line what *error* means, and return the exit status."""
    errors = sys.modules.get("magicbyte.errors")
    if errors is not None and isinstance(error, errors.MagicbyteError):
        _warn(f"Error: {error}")
        return 2 if isinstance(error, errors.InputError) else 1  # 1: damage, with --on-damage fail
    match error:
        case click.Abort():
            _warn("interrupted")
            return INTERRUPTED
        case OSError():
            silence_stdout()
            output = "the output: " if error.errno else ""
            source = f"{error.filename}: " if error.filename else output
            _warn(f"Error: {source}{error.strerror or error}")
        case MemoryError():
            _warn(
                "Error: not enough memory: raise the limit of this process, or read less at a time"
            )
        case ImportError():
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            _warn(f"Error: a module cannot be loaded, perhaps for lack of memory: {reason}")
        case _:
            _warn(
                f"Error: {type(error).__name__}: {error}; this is a fault of magicbyte: please report "
                f"it with the traceback that {SHOW_TRACEBACK}=1 shows"
            )
    return 2


def _warn(message: str) -> None:
    """Print *message* on stderr as one line, if stderr takes it."""
    with suppress(OSError):
        click.echo(printable(message), err=True)


@click.group(
    cls=CommandGroup,
    params=[short_help_option()],
    context_settings={
        "help_option_names": ["--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="""\b
    Examples:
      magicbyte verify /var/lib/kafka
      magicbyte dump /var/lib/kafka --topic orders --limit 10
      magicbyte dump orders-0/00000000000000000000.log --table batches --format ndjson
      magicbyte export /var/lib/kafka --topic orders -o orders.parquet
    """,
)
@click.version_option(None, "-V", "--version", package_name="magicbyte", prog_name="magicbyte")
def main() -> None:
    """Read Kafka log directories without a broker.

    A PATH is a segment, a partition folder, a log.dir, or a folder that contains any of these.
    Nothing below a PATH is ever modified.

    Results go to stdout, everything else to stderr. Exit status: 0 if nothing is wrong, 1 if there
    is a finding of severity `error`, 2 if something could not be read (after everything else was) or
    the command line is invalid.
    """
