"""Levels by the names of their libraries."""

from magicbyte.engines.columnar._processor_levels import LEVELS, ProcessorLevel


def level_of(file_name: str) -> ProcessorLevel:
    """Return the level whose library is called *file_name*."""
    for level in LEVELS:
        if level.file_name == file_name:
            return level
    raise SystemExit(f"{file_name}: expected {', '.join(level.file_name for level in LEVELS)}")
