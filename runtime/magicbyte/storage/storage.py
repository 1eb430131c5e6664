"""What lies where, on this machine or in a store."""

import errno
from collections.abc import Iterable

from magicbyte.errors import InputError, MissingError, StoreError
from magicbyte.storage import local
from magicbyte.storage.files import File, FolderItem
from magicbyte.storage.options import NO_OPTIONS, StorageOptions
from magicbyte.storage.store import Store
from magicbyte.storage.urls import Url, is_url, parse_url

SEGMENT = ".log"
"""What the name of a segment has in it. Beside one that is named its folder is looked at anyway."""


class Storage:
    """Answers what lies where. A store is listed once, and what that has told is kept.

    So one is made for each look at some paths: what changes in a store meanwhile is not seen.
    """

    def __init__(self, options: StorageOptions = NO_OPTIONS) -> None:
        self.options = options
        self._stores: dict[tuple[str, str], Store] = {}
        self._folders: dict[str, dict[str, FolderItem]] = {}
        """What lies in a folder of a store, by name."""
        self._whole: list[str] = []
        """Folders of which all that lies below is in there."""
        self._hidden: set[str] = set()
        """Folders that may not be listed."""
        self._files: dict[str, FolderItem] = {}
        """Files of stores that were named, and found by no listing."""

    def check(self, paths: Iterable[str]) -> None:
        """Raise InputError where a URL among *paths* or the options are not what they must be.

        That is also where there are options, and none of *paths* lies in a store.
        """
        urls = [url for url in map(parse_url, paths) if url is not None]
        for url in urls:
            self.options.for_scheme(url.scheme)
        if self.options and not urls:
            names = ", ".join(self.options.names)
            raise InputError(
                f"storage options {names} for files of this machine", "a path in a store"
            )

    def store_of(self, path: str) -> Store | None:
        """Return the store that *path* lies in, None for this machine."""
        url = parse_url(path)
        return None if url is None else self._store(url)

    def _store(self, url: Url) -> Store:
        place = url.scheme, url.authority
        if place not in self._stores:
            self._stores[place] = Store(*place, self.options)
        return self._stores[place]

    def kind_of(self, path: str) -> str:
        """Return `file`, `folder` or `other`; MissingError where there is nothing to be read."""
        store = self.store_of(path)
        if store is None:
            return local.kind_of(path)
        item = self._item(store, path)
        if item is None:
            raise MissingError(OSError(errno.ENOENT, ""), path)
        return "folder" if item.is_folder else "file"

    def list_folder(self, path: str) -> list[FolderItem]:
        """Return what lies in the folder *path*, by name."""
        if self.store_of(path) is None:
            return local.list_folder(path)
        return sorted(self._listed(path).values(), key=lambda item: item.name)

    def exists(self, path: str) -> bool:
        if self.store_of(path) is None:
            return local.exists(path)
        folder, _, name = path.rpartition("/")
        if not is_url(folder) or folder in self._hidden:
            return False  # beside a bucket lies nothing
        try:
            return name in self._listed(folder)
        except MissingError:
            return False
        except StoreError as error:
            # Who may read a partition alone cannot see what lies beside it.
            if not error.is_denied:
                raise
            self._hidden.add(folder)
            return False

    def read_small(self, path: str, *, max_bytes: int) -> bytes:
        """Return the whole of a file that has no business being larger than *max_bytes*."""
        with self.open_file(path) as file:
            return file.read_at(0, min(file.size_bytes, max_bytes))

    def open_file(self, path: str) -> File:
        """Open all of *path* for positioned reads."""
        store = self.store_of(path)
        if store is None:
            return local.LocalFile(path, None)
        folder, _, name = path.rpartition("/")
        item = self._files.get(path) or self._folders.get(folder, {}).get(name)
        return store.open_file(path, size_bytes=None if item is None else item.size_bytes)

    # Stores

    def _item(self, store: Store, path: str) -> FolderItem | None:
        """Return what *path* is in *store*; of a folder all that lies below has been listed."""
        folder, _, name = path.rpartition("/")
        if is_url(folder) and (SEGMENT in name or folder in self._folders):
            item = self._listed(folder).get(name)
            if item is not None and item.is_folder:
                self._list_whole(path)
            return item
        # To ask for the one name tells less of a folder, and takes as long.
        if self._list_whole(path):
            return FolderItem(name, True, 0)
        item = store.item(path)
        if item is not None and not item.is_folder:
            self._files[path] = item
        return item

    def _listed(self, folder: str) -> dict[str, FolderItem]:
        """Return what lies in *folder* of a store, by name; it is listed if it has not been."""
        if folder not in self._folders:
            if self._is_below_whole(folder):
                raise MissingError(OSError(errno.ENOENT, ""), folder)
            self._list(folder, recursive=False)
        return self._folders[folder]

    def _list_whole(self, root: str) -> bool:
        """List all that lies below *root*, if it has not been; return whether that is anything."""
        if root not in self._whole and not self._is_below_whole(root):
            self._list(root, recursive=True)
            self._whole.append(root)
        return bool(self._folders[root])

    def _is_below_whole(self, folder: str) -> bool:
        return any(folder.startswith(f"{root}/") for root in self._whole)

    def _list(self, root: str, *, recursive: bool) -> None:
        url = parse_url(root)
        assert url is not None
        self._folders[root] = {}
        for folder, item in self._store(url).below(root, recursive=recursive):
            # Not every store names the folders that its keys go through.
            path = root
            for part in folder.split("/") if folder else ():
                self._add(path, FolderItem(part, True, 0), recursive=recursive)
                path = f"{path}/{part}"
            self._add(path, item, recursive=recursive)

    def _add(self, folder: str, item: FolderItem, *, recursive: bool) -> None:
        """Add *item*; of a file and a folder of one name, which a store can have, take the folder."""
        items = self._folders.setdefault(folder, {})
        known = items.get(item.name)
        if known is None or not known.is_folder:
            items[item.name] = item
        if item.is_folder and recursive:
            self._folders.setdefault(f"{folder}/{item.name}", {})
