"""Segments in remote storage (KIP-405), by the names of their files."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from magicbyte.logdir.remote_names import RemoteFolder, parse_remote_file
from magicbyte.storage import FolderItem, Store


@dataclass(frozen=True, slots=True)
class UploadedSegment:
    """The files of a segment in remote storage."""

    folder: str
    segment: str
    """The part of their names that they have in common."""
    base_offset: int
    has_manifest: bool
    """Whether there is to be a manifest, which is uploaded last."""
    files: dict[str, FolderItem]
    """By kind."""
    store: Store | None = field(default=None, compare=False)


def uploads_in(
    folder: str, of: RemoteFolder, items: Iterable[FolderItem], store: Store | None
) -> tuple[UploadedSegment, ...]:
    """Return the segments whose files are *items* of *folder*, by base offset."""
    found: dict[str, UploadedSegment] = {}
    for item in items:
        name = None if item.is_folder else parse_remote_file(item.name)
        if name is None:
            continue
        upload = found.setdefault(
            name.segment,
            UploadedSegment(folder, name.segment, name.base_offset, of.has_manifests, {}, store),
        )
        upload.files[name.kind] = item
    return tuple(found[segment] for segment in sorted(found))
