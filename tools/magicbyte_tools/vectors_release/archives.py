"""Packs files into tarballs and zip files whose bytes depend on the files alone."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping

TIME = 315532800
"""Time of every file, in seconds since 1970: 1980-01-01, the first that a zip file can hold."""

MODE = 0o644


def tar_gz(content_by_path: Mapping[str, bytes]) -> bytes:
    """Return a compressed tarball of files, given as content by path."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(content_by_path.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(content), TIME, MODE
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)


def zip_file(content_by_path: Mapping[str, bytes]) -> bytes:
    """Return a zip file of files, given as content by path, in their order."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in content_by_path.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr, info.create_system = MODE << 16, 3
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
