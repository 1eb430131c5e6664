"""`magicbyte spec`: lists, prints or writes the specifications of the formats."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from magicbyte import InputError, spec_files
from magicbyte.output_guard import check_no_log_folder
from magicbyte_cli import parameters
from magicbyte_cli.display import counted
from magicbyte_cli.output_files import write_whole
from magicbyte_cli.stderr_messages import warn

FOLDERS = {"": ".ksy", "messages": ".yaml"}
"""Suffix of the specifications, by folder."""

TITLE = re.compile(r"^(?:  )?title: *(.+?) *$", re.MULTILINE)


class SpecFile(NamedTuple):
    """A specification: its path below the folder of specifications, and its text."""

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
    "-o", "folder", metavar="DIR", type=parameters.OutPath(), help="Write all formats to DIR."
)
@click.option("--overwrite", is_flag=True, help="Replace files in DIR that differ.")
def spec(name: str | None, folder: Path | None, overwrite: bool) -> None:
    """List the formats, print the specification of the format NAME, or write all specifications.

    Specifications for Kaitai Struct (.ksy) import each other by name, so they belong in one
    folder. The specifications of messages in internal topics (.yaml) go to its folder "messages".
    """
    if name is not None and folder is not None:
        raise click.UsageError("-o writes all formats and cannot be combined with NAME")
    if overwrite and folder is None:
        raise click.UsageError("--overwrite needs -o")
    spec_by_id = {Path(file.path).stem: file for file in _spec_files()}
    out = sys.stdout.buffer
    if folder is not None:
        _write_all(spec_by_id, folder, overwrite=overwrite)
    elif name is not None:
        by_name = {Path(file.path).name: file for file in spec_by_id.values()} | spec_by_id
        if name not in by_name:
            raise InputError(f"no format {name!r}", f"one of {', '.join(spec_by_id)}")
        out.write(by_name[name].text)
    else:
        width = max(map(len, spec_by_id))
        for format_id, file in spec_by_id.items():
            out.write(f"{format_id:<{width}}  {_title(file.text)}\n".encode())
    out.flush()


def _spec_files() -> Iterator[SpecFile]:
    for name, suffix in FOLDERS.items():
        folder = spec_files() / name if name else spec_files()
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.name.endswith(suffix):
                path = f"{name}/{file.name}".removeprefix("/")
                yield SpecFile(path, file.read_bytes())


def _title(text: bytes) -> str:
    title = TITLE.search(text.decode("utf-8"))
    return title[1] if title is not None else ""


def _write_all(spec_by_id: dict[str, SpecFile], folder: Path, *, overwrite: bool) -> None:
    """Write all specifications to *folder*, or none if that would overwrite a file that differs."""
    source, real = spec_files(), folder.resolve()
    if isinstance(source, Path) and source.resolve() in (real, *real.parents):
        raise InputError("the specification is read there", "another folder", path=str(folder))
    to_write = {}
    for name, text in spec_by_id.values():
        path = folder / name
        check_no_log_folder(path)
        if path.is_file():
            if path.read_bytes() == text:
                continue
            if not overwrite:
                raise InputError(
                    "the file exists already and differs",
                    "--overwrite to replace it",
                    path=str(path),
                )
        elif path.exists():
            raise InputError("the path exists and is not a file", "a file", path=str(path))
        to_write[path] = text
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for path, text in to_write.items():
        write_whole(path, text)
    same = len(spec_by_id) - len(to_write)
    warn(
        f"{folder}: {counted(len(to_write), 'format')} written"
        + (f", {same} unchanged" if same else "")
    )
