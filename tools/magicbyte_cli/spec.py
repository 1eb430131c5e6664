"""`magicbyte spec`: the formats, as Kaitai Struct describes them, and messages in a form of ours."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from magicbyte import InputError, spec_files
from magicbyte_cli import parameters
from magicbyte_cli.output_files import write_whole
from magicbyte_cli.stderr_messages import complain, counted

FOLDERS = {"": ".ksy", "messages": ".yaml"}
"""Which files are formats, by the folder that they are in."""

TITLE = re.compile(r"^(?:  )?title: *(.+?) *$", re.MULTILINE)


class Format(NamedTuple):
    """A format: its file below the folder of all of them, and what stands in it."""

    path: str
    text: bytes


@click.command(
    short_help="List, print or write the formats.",
    epilog="""\b
    Examples:
      magicbyte spec
      magicbyte spec kafka_record_batch
      magicbyte spec -o ksy/
    """,
)
@click.argument("name", required=False)
@click.option(
    "-o", "folder", metavar="DIR", type=parameters.OutPath(), help="Write all of them to DIR."
)
@click.option("--overwrite", is_flag=True, help="Replace files in DIR that differ.")
def spec(name: str | None, folder: Path | None, overwrite: bool) -> None:
    """List the formats, print the one called NAME, or write them all.

    Those for Kaitai Struct (.ksy) import each other by name, so they belong in one folder. The
    messages of internal topics (.yaml) are written to a folder "messages" in it.
    """
    if name is not None and folder is not None:
        raise click.UsageError("-o writes all formats; expected no NAME with it")
    if overwrite and folder is None:
        raise click.UsageError("--overwrite is for -o")
    formats = _formats()
    out = sys.stdout.buffer
    if folder is not None:
        _write_all(formats, folder, overwrite=overwrite)
    elif name is not None:
        by_name = {Path(one.path).name: one for one in formats.values()} | formats
        if name not in by_name:
            raise InputError(f"no format {name!r}", f"one of {', '.join(formats)}")
        out.write(by_name[name].text)
    else:
        width = max(map(len, formats))
        for each, format in formats.items():
            out.write(f"{each:<{width}}  {_title(format.text)}\n".encode())
    out.flush()


def _formats() -> dict[str, Format]:
    """Return the formats by their ids."""
    return {Path(path).stem: Format(path, text) for path, text in _files()}


def _files() -> Iterator[tuple[str, bytes]]:
    for name, suffix in FOLDERS.items():
        folder = spec_files() / name if name else spec_files()
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.endswith(suffix):
                yield f"{name}/{file.name}".removeprefix("/"), file.read_bytes()


def _title(text: bytes) -> str:
    found = TITLE.search(text.decode("utf-8"))
    return found[1] if found is not None else ""


def _write_all(formats: dict[str, Format], folder: Path, *, overwrite: bool) -> None:
    """Write *formats* to *folder*, or none of them where one would overwrite something else."""
    to_write = {}
    for name, text in formats.values():
        path = folder / name
        if path.is_file():
            if path.read_bytes() == text:
                continue
            if not overwrite:
                raise InputError(
                    "the file differs from the format", "--overwrite to replace it", path=str(path)
                )
        elif path.exists():
            raise InputError("it is there, and is no file", "a name for a file", path=str(path))
        to_write[path] = text
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for path, text in to_write.items():
        write_whole(path, text)
    same = len(formats) - len(to_write)
    complain(
        f"{folder}: {counted(len(to_write), 'format')} written"
        + (f", {same} there already" if same else "")
    )
