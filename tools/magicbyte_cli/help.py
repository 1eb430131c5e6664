"""`magicbyte help`: prints the help of a command."""

import click

from magicbyte_cli.option_completion import complete_command


@click.command(
    short_help="Print the help of a command.",
    epilog="""\b
    Examples:
      magicbyte help
      magicbyte help dump
    """,
)
@click.argument("name", metavar="[COMMAND]", required=False, shell_complete=complete_command)
@click.pass_context
def help(ctx: click.Context, name: str | None) -> None:
    """Print the help of COMMAND, as its option --help does; without COMMAND, the help of magicbyte."""
    root = ctx.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    if name is None:
        click.echo(group.get_help(root))
        return
    _, command, _ = group.resolve_command(root, [name])
    assert command is not None
    with click.Context(command, info_name=name, parent=root) as command_context:
        click.echo(command.get_help(command_context))
