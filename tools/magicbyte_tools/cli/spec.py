"""`magicbyte spec`: the formats, as Kaitai Struct describes them."""

import re
import sys
from pathlib import Path

import click

from magicbyte import InputError, spec_files
from magicbyte_tools.cli import parameters
from magicbyte_tools.cli.complaints import complain, counted
from magicbyte_tools.cli.files import write_whole

SUFFIX = ".ksy"
TITLE = re.compile(r"^  title: *(.+?) *$", re.MULTILINE)


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

    They import each other by name, so they belong in one folder.
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
        known = name.removesuffix(SUFFIX)
        if known not in formats:
            raise InputError(f"no format {name!r}", f"one of {', '.join(formats)}")
        out.write(formats[known])
    else:
        width = max(map(len, formats))
        for each, text in formats.items():
            out.write(f"{each:<{width}}  {_title(text)}\n".encode())
    out.flush()


def _formats() -> dict[str, bytes]:
    """Return the texts of the formats, by their ids."""
    return {
        file.name.removesuffix(SUFFIX): file.read_bytes()
        for file in sorted(spec_files().iterdir(), key=lambda file: file.name)
        if file.name.endswith(SUFFIX)
    }


def _title(text: bytes) -> str:
    found = TITLE.search(text.decode("utf-8"))
    return found[1] if found is not None else ""


def _write_all(formats: dict[str, bytes], folder: Path, *, overwrite: bool) -> None:
    """Write *formats* to *folder*, or none of them where one would overwrite something else."""
    to_write = {}
    for each, text in formats.items():
        path = folder / f"{each}{SUFFIX}"
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
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in to_write.items():
        write_whole(path, text)
    same = len(formats) - len(to_write)
    complain(
        f"{folder}: {counted(len(to_write), 'format')} written"
        + (f", {same} there already" if same else "")
    )
