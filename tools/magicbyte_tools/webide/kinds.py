"""Determines the format of a file in a log.dir from the file's name."""

from pathlib import Path

from magicbyte_cli.file_formats import format_of

TEXTS = (".kafka_cleanshutdown", "meta.properties", "quorum-state")
"""Files that no specification describes: JSON and Java properties."""


def files_below(folder: Path, max_bytes: int | None = None) -> dict[Path, str]:
    """Return the format ids, by path, of the files at any depth below *folder*.

    Files larger than *max_bytes* are left out, as are duplicates: same format and same bytes.
    """
    paths_by_content: dict[tuple[str, bytes], Path] = {}
    for path in sorted(folder.rglob("*")):
        name = format_of(path.name) if path.is_file() else None
        if name and (max_bytes is None or path.stat().st_size <= max_bytes):
            paths_by_content.setdefault((name, path.read_bytes()), path)
    return {path: name for (name, _), path in paths_by_content.items()}
