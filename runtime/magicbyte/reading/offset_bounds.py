"""Bounds of the offsets that a file, or a part of it, may hold."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The offsets that a file may hold: above *floor* and below *ceiling*. None: any."""

    floor: int | None
    ceiling: int | None
