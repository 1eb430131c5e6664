"""Segments in remote storage (KIP-405), by the names of their files."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from magicbyte.logdir.remote_names import RemoteFolder, parse_remote_file
from magicbyte.storage import FolderItem, Store


@dataclass(frozen=True, slots=True)
class UploadedSegment:
    """The files of a segment in remote storage."""

    folder: str
    prefix: str
    """The prefix that their names share."""
    base_offset: int
    has_manifest: bool
    """True if the plugin writes a manifest, which it uploads last."""
    files: dict[str, FolderItem]
    """Folder items by kind of file."""
    store: Store | None = field(default=None, compare=False)


def uploads_in(
    folder: str, of: RemoteFolder, items: Iterable[FolderItem], store: Store | None
) -> tuple[UploadedSegment, ...]:
    """Return the segments whose files are *items* of *folder*, by base offset."""
    segments: dict[str, UploadedSegment] = {}
    for item in items:
        name = None if item.is_folder else parse_remote_file(item.name)
        if name is None:
            continue
        upload = segments.setdefault(
            name.prefix,
            UploadedSegment(folder, name.prefix, name.base_offset, of.has_manifests, {}, store),
        )
        upload.files[name.kind] = item
    return tuple(segments[name] for name in sorted(segments))
