"""`magicbyte completion`: prints the script that lets a shell complete commands, options and values."""

import click

SHELLS = ("bash", "zsh", "fish")

PROGRAM = "magicbyte"
VARIABLE = "_MAGICBYTE_COMPLETE"
"""Environment variable by which the script asks for completions."""


@click.command(
    short_help="Print a script of completion for a shell.",
    epilog="""\b
    Examples:
      source <(magicbyte completion bash)
      magicbyte completion bash > ~/.local/share/bash-completion/completions/magicbyte
      magicbyte completion zsh > "${fpath[1]}/_magicbyte"
      magicbyte completion fish > ~/.config/fish/completions/magicbyte.fish
    """,
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script with which bash (from 4.4), zsh or fish completes the command line of magicbyte.

    It completes commands, options, paths, topics of the PATH that was typed before, tables, columns
    and codes of findings.
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    classes = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    complete = classes[shell](ctx.find_root().command, {}, PROGRAM, VARIABLE)
    click.echo(complete.source_template % complete.source_vars())
