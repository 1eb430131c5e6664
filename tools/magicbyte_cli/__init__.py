"""The command `magicbyte`: one module per subcommand.

Results go to stdout, everything else to stderr. Exit status: 0 if there is no finding of severity
`error`, 1 if there is one, 2 if a path could not be read or the command line is invalid.
"""

import os
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import click

__all__ = ["main"]

COMMANDS = (
    "dump",
    "verify",
    "export",
    "extract",
    "spec",
    "transactions",
    "stats",
    "pipeline",
    "kafka-dump-log",
)
"""Names of the subcommands. The module of a command, and its function, have underscores instead."""

INTERRUPTED = 130


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
        return module_command

    def invoke(self, ctx: click.Context) -> Any:
        from magicbyte.errors import InputError, MagicbyteError
        from magicbyte_cli.stderr_messages import warn

        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader of our output has closed it, as `head` does
            _silence_stdout()
            ctx.exit(0)
        except KeyboardInterrupt:
            warn("interrupted")
            ctx.exit(INTERRUPTED)
        except MagicbyteError as error:  # 1: damage, with --on-damage fail
            warn(f"Error: {error}")
            ctx.exit(2 if isinstance(error, InputError) else 1)
        except OSError as error:
            _silence_stdout()
            source = f"{error.filename}: " if error.filename else "the output: "
            warn(f"Error: {source}{error.strerror or error}")
            ctx.exit(2)
        return result


def _silence_stdout() -> None:
    """Discard buffered stdout after a broken pipe, so that the flush at exit does not fail too."""
    try:
        stdout = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stdout)
    os.close(null)


@click.group(
    cls=CommandGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
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
@click.version_option(version("magicbyte"), prog_name="magicbyte")
def main() -> None:
    """Read Kafka log directories without a broker.

    A PATH is a segment, a partition folder, a log.dir, or a folder that contains any of these.
    Nothing below a PATH is ever modified.

    Results go to stdout, everything else to stderr. Exit status: 0 if nothing is wrong, 1 if there
    is a finding of severity `error`, 2 if a path could not be read or the command line is invalid.
    """
