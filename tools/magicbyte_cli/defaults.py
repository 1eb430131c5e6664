"""Defaults of options: a configuration file, and environment variables such as MAGICBYTE_DUMP_FORMAT."""

import os
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click

CONFIG = "MAGICBYTE_CONFIG"
"""Environment variable that names the configuration file; empty for none."""

MAX_CONFIG_BYTES = 1 << 20


def long_options(subcommand: click.Command) -> Iterator[tuple[str, click.Option]]:
    """Yield the options of *subcommand* by their names without hyphens: `format`, `no-pager`."""
    for parameter in subcommand.params:
        if isinstance(parameter, click.Option):
            for name in parameter.opts:
                if name.startswith("--"):
                    yield name.removeprefix("--"), parameter


def name_variables(subcommand: click.Command, command_name: str) -> None:
    """Let an environment variable give the default of each option of *subcommand*: `MAGICBYTE_DUMP_FORMAT`."""
    for name, option in long_options(subcommand):
        if option.envvar is None and not (option.is_flag and option.is_eager):
            option.envvar = variable_name(command_name, name)


def variable_name(command_name: str, option_name: str) -> str:
    """Return the environment variable of an option: `MAGICBYTE_DUMP_FORMAT`."""
    return f"MAGICBYTE_{command_name}_{option_name}".upper().replace("-", "_")


def config_path() -> Path | None:
    """Return the configuration file that the environment names, else the one of the user; None without one."""
    named = os.environ.get(CONFIG)
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    path = os.path.join(base, "magicbyte", "config.toml")
    return Path(path) if os.path.isfile(path) else None


def read_config(path: Path, command_names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return the tables of a configuration file, one for each command.

    Raises UsageError for a file that cannot be read, and for a table that is of no command.
    """
    import tomllib  # most users have no such file

    try:
        with path.open("rb") as file:
            config = tomllib.loads(file.read(MAX_CONFIG_BYTES).decode("utf-8"))
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}; {CONFIG} names this file") from error
    except ValueError as error:  # also of text that is not UTF-8
        raise click.UsageError(f"{path} is not TOML: {error}") from error
    for name, table in config.items():
        if name not in command_names or not isinstance(table, dict):
            raise click.UsageError(
                f"{path}: {name!r} is not a table of a command; expected tables such as [dump]{_guess(name, command_names)}"
            )
    return config


def default_values(
    path: Path, command_name: str, settings: dict[str, Any], subcommand: click.Command
) -> dict[str, Any]:
    """Return the values of *settings* by the names of the parameters of *subcommand*.

    Raises UsageError for an option that *subcommand* does not have.
    """
    options = dict(long_options(subcommand))
    values = {}
    for name, value in settings.items():
        option = options.get(name)
        if option is None or option.name is None:
            raise click.UsageError(
                f"{path}: [{command_name}] has {name!r}, which is no option of {command_name}{_guess(name, options)}"
            )
        is_list = isinstance(value, list)
        if is_list != option.multiple and (is_list or option.multiple):
            value = [value] if option.multiple else ",".join(map(str, value))
        values[option.name] = [*map(_text, value)] if isinstance(value, list) else _text(value)
    return values


def _text(value: Any) -> Any:
    """Return *value* as it would be typed, except for flags."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if isinstance(value, bool | str) else str(value)


def _guess(name: str, choices: Iterable[str]) -> str:
    from difflib import get_close_matches

    similar = get_close_matches(name, list(choices), 1)
    return f"; did you mean {similar[0]!r}?" if similar else ""
