"""The command `magicbyte`: one module per verb.

Results go to stdout, everything else to stderr. The exit status is 0 where there is no finding of
severity `error`, 1 where there is one, 2 where a path could not be read or the call was wrong.
"""

import os
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import click

__all__ = ["main"]

VERBS = (
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
"""A verb is the command of that name in the module of that name, with underscores."""

INTERRUPTED = 130


def _module(verb: str) -> str:
    return verb.replace("-", "_")


class Verbs(click.Group):
    """The verbs, each imported when it is wanted; what they raise becomes a line and a status."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [verb for verb in VERBS if find_spec(f"{__name__}.{_module(verb)}") is not None]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        name = _module(cmd_name)
        command: click.Command = getattr(import_module(f"{__name__}.{name}"), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        from magicbyte.errors import InputError, MagicbyteError
        from magicbyte_cli.stderr_messages import complain

        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read our output has seen enough
            _silence_stdout()
            ctx.exit(0)
        except KeyboardInterrupt:
            complain("interrupted")
            ctx.exit(INTERRUPTED)
        except InputError as error:
            complain(f"Error: {error}")
            ctx.exit(2)
        except MagicbyteError as error:  # damage that was not to be skipped
            complain(f"Error: {error}")
            ctx.exit(1)
        except OSError as error:
            _silence_stdout()
            place = f"{error.filename}: " if error.filename else "the output: "
            complain(f"Error: {place}{error.strerror or error}")
            ctx.exit(2)
        return result


def _silence_stdout() -> None:
    """Drop what is still buffered, so that nothing more fails when Python flushes it at its end."""
    try:
        stdout = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stdout)
    os.close(null)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
    """Read Kafka's log directories, with no broker.

    A PATH is a segment, a partition's folder, a log.dir, or a tree that holds some. Nothing in it
    is ever written.

    Results go to stdout, everything else to stderr. The exit status is 0 where nothing is wrong, 1
    where there is a finding of severity `error`, 2 where a path could not be read or the call was
    wrong.
    """
