"""Find out which files and folders exist, on this machine or in a store."""

import errno
import os
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from magicbyte.errors import InputError, MissingError, StoreError
from magicbyte.storage import _local
from magicbyte.storage._files import File, FolderItem
from magicbyte.storage._options import NO_OPTIONS, StorageOptions
from magicbyte.storage._requests import AT_A_TIME
from magicbyte.storage._small_files import endpoint_key, key_of, small_files
from magicbyte.storage._store import Store
from magicbyte.storage._unreadable import unreadable_error
from magicbyte.storage._urls import Url, is_url, parse_url

if TYPE_CHECKING:
    from concurrent.futures import Future

SEGMENT = ".log"
"""Part of every segment's name. To read a segment, its folder is listed anyway."""

LOG_DIR_FILE = "meta.properties"
"""File of a log.dir, whose folders are partitions."""

MAX_TREE_OBJECTS = 200_000
"""Objects of a tree up to which it is listed as a whole, which takes the fewest requests and about 100 MB.
The folders of a larger one are listed one by one, and forgotten."""

MAX_SAMPLED_LEVELS = 4
"""Levels of folders that are listed to estimate how many objects a tree has."""

MAX_UNSAMPLED_FOLDERS = 256
"""Folders in a log.dir up to which each is taken to have OBJECTS_PER_FOLDER objects; of more, some are listed."""

OBJECTS_PER_FOLDER = 100

NUM_SAMPLES = 4
"""Folders of a large log.dir that are listed for the estimate."""

MAX_SMALL_TREES = 1 << 10
"""Paths of small trees that a process remembers."""

_small_trees: OrderedDict[Hashable, None] = OrderedDict()
"""Trees that this process has listed as a whole: their levels are not sampled again."""


class Storage:
    """Lists folders and opens files. Each folder of a store is listed once and remembered, or forgotten
    when it has been searched, if its tree is large.

    A Storage does not see later changes of the store, so each call of the API creates its own.
    """

    def __init__(self, storage_options: Mapping[str, Any] | StorageOptions | None = None) -> None:
        self.options = NO_OPTIONS if storage_options is None else StorageOptions.of(storage_options)
        self.stores: dict[tuple[str, str], Store] = {}
        """The stores of the paths so far, by scheme and authority."""
        self._folders: dict[str, dict[str, FolderItem]] = {}
        """Items by name, of each listed folder of a store."""
        self._num_forgotten = 0
        """Items of folders that were listed and forgotten."""
        self._listed_trees: list[str] = []
        """Folders of stores that were listed recursively."""
        self._denied: set[str] = set()
        """Folders that the credentials do not permit to list."""
        self._files: dict[str, FolderItem] = {}
        """Files of stores that were asked for by name, without a listing."""

    def check(self, paths: Iterable[str]) -> None:
        """Raise InputError for a malformed URL among *paths*, or for options that do not apply.

        Options without a path in a store are an error too.
        """
        urls = [url for url in map(parse_url, paths) if url is not None]
        for url in urls:
            self.options.for_scheme(url.scheme)
        if self.options and not urls:
            names = ", ".join(self.options.names)
            raise InputError(
                f"storage options {names}, but all paths are local", "a path in a store"
            )

    def store_of(self, path: str) -> Store | None:
        """Return the store that contains *path*; None for a local path."""
        url = parse_url(path)
        return None if url is None else self._store(url)

    def _store(self, url: Url) -> Store:
        key = url.scheme, url.authority
        if key not in self.stores:
            self.stores[key] = Store(*key, self.options)
        return self.stores[key]

    def kind_of(self, path: str) -> str:
        """Return `file`, `folder` or `other`; MissingError if *path* does not exist or is denied."""
        store = self.store_of(path)
        if store is None:
            return _local.kind_of(path)
        item = self._item(store, path)
        if item is None:
            raise MissingError(OSError(errno.ENOENT, ""), path)
        return "folder" if item.is_folder else "file"

    def list_folder(self, path: str) -> list[FolderItem]:
        """Return the items in the folder *path*, by name."""
        if self.store_of(path) is None:
            return _local.list_folder(path)
        return sorted(self._items(path).values(), key=lambda item: item.name)

    def identity(self, path: str) -> tuple[int, int] | str | None:
        """Return what tells the folder *path* from all others, however it is named; None if it is gone."""
        return _local.identity(path) if self.store_of(path) is None else path

    def exists(self, path: str) -> bool:
        if self.store_of(path) is None:
            return os.path.exists(path)
        folder, _, name = path.rpartition("/")
        if not is_url(folder) or folder in self._denied:
            return False  # a bucket has no parent folder
        try:
            return name in self._items(folder)
        except MissingError:
            return False
        except StoreError as error:
            # Credentials for a single partition do not permit listing the folder around it.
            if not error.is_denied:
                raise
            self._denied.add(folder)
            return False

    def read_small(self, path: str, *, max_bytes: int) -> bytes:
        """Return the content of the file *path*, its first *max_bytes* bytes at most.

        An object in a store is requested once by a process, until its size or time in a listing is another.
        Raises MissingError where there is no such file, UnreadableError where it cannot be read.
        """
        key = None
        if self.store_of(path) is not None and (item := self._known_item(path)) is not None:
            key = key_of(path, item.listed_version, self.options)
        content = None if key is None else small_files.get(key)
        if content is None:
            try:
                with self.open_file(path) as file:
                    content = file.read_at(0, min(file.size_bytes, max_bytes))
                    is_whole = file.size_bytes <= max_bytes
            except StoreError as error:
                raise unreadable_error(path, error) from None
            if key is not None and is_whole:
                small_files.add(key, content)
        return content[:max_bytes]

    def read_if_present(self, path: str, *, max_bytes: int) -> bytes | None:
        """Return the content of the file *path* as `read_small` does; None if there is no such file."""
        if self.store_of(path) is not None and not self.exists(path):
            return None  # no request: its folder is listed anyway
        try:
            return self.read_small(path, max_bytes=max_bytes)
        except MissingError:
            return None

    def open_file(self, path: str) -> File:
        """Open the whole of *path* for positioned reads."""
        store = self.store_of(path)
        if store is None:
            return _local.LocalFile(path, None)
        item = self._known_item(path)
        return store.open_file(path, size_bytes=None if item is None else item.size_bytes)

    # Stores

    def _known_item(self, path: str) -> FolderItem | None:
        """Return the item *path* of a store, if it was listed."""
        folder, _, name = path.rpartition("/")
        return self._files.get(path) or self._folders.get(folder, {}).get(name)

    def _item(self, store: Store, path: str) -> FolderItem | None:
        """Return the item *path* of *store*; if it is a folder, list it recursively."""
        folder, _, name = path.rpartition("/")
        if is_url(folder) and (SEGMENT in name or folder in self._folders):
            item = self._items(folder).get(name)
            if item is not None and item.is_folder:
                self._list_tree(path)
            return item
        # A request for the single name takes as long as a listing, and returns less for a folder.
        if self._list_tree(path):
            return FolderItem(name, True, 0)
        item = store.item(path)
        if item is not None and not item.is_folder:
            self._files[path] = item
        return item

    def _items(self, folder: str) -> dict[str, FolderItem]:
        """Return the items in *folder* of a store, by name; list it at the first call."""
        if folder not in self._folders:
            if self._is_below_listed_tree(folder):
                raise MissingError(OSError(errno.ENOENT, ""), folder)
            self._list(folder, recursive=False)
        return self._folders[folder]

    def _list_tree(self, root: str) -> bool:
        """List *root*, with all that is below it unless that is much; return whether it contains anything."""
        if root not in self._listed_trees and not self._is_below_listed_tree(root):
            if not _was_small(root, self.options) and not self._is_small(root):
                return bool(self._folders[root])
            if root not in self._listed_trees:
                self._list(root, recursive=True)
                self._listed_trees.append(root)
            self.remember_size(root)
        return bool(self._folders[root])

    def remember_size(self, root: str) -> None:
        """Let this process list *root* as a whole the next time, if few objects have been listed by now."""
        if self.store_of(root) is not None:
            num_objects = self._num_forgotten + sum(map(len, self._folders.values()))
            _remember(root, self.options, is_small=num_objects <= MAX_TREE_OBJECTS)

    def _is_small(self, root: str) -> bool:
        """Return whether *root* has few enough objects to list it as a whole, as far as some of its folders tell.

        The first folder of each level is listed, down to a log.dir or a folder without folders. If
        there are no other folders, that has listed all of *root*.
        """
        folder, num_folders = root, 1
        for _ in range(MAX_SAMPLED_LEVELS):
            items = self._items(folder).values()
            below = [f"{folder}/{item.name}" for item in items if item.is_folder]
            if not below:
                if num_folders == 1:
                    self._listed_trees.append(root)
                return num_folders * len(items) <= MAX_TREE_OBJECTS
            num_folders *= len(below)
            if len(below) > MAX_UNSAMPLED_FOLDERS:
                sample = below[:: -(-len(below) // NUM_SAMPLES)]
                num_sampled = sum(len(self._items(one)) for one in sample)
                return num_folders * num_sampled <= MAX_TREE_OBJECTS * len(sample)
            if any(item.name == LOG_DIR_FILE for item in items):
                return num_folders * OBJECTS_PER_FOLDER <= MAX_TREE_OBJECTS
            folder = below[0]
        return True

    def each_listed(self, folder_paths: Iterable[str]) -> Iterator[str]:
        """Yield *folder_paths* in order. Those in a store that are not listed yet are listed by threads, and
        forgotten when the next folder is asked for."""
        listed_ahead: deque[tuple[str, Future[None] | None]] = deque()
        pool = None
        try:
            for folder in folder_paths:
                future = None
                if self.store_of(folder) is not None and not self._is_listed(folder):
                    if pool is None:
                        from concurrent.futures import ThreadPoolExecutor  # a slow import

                        pool = ThreadPoolExecutor(AT_A_TIME)
                    future = pool.submit(self._try_to_list, folder)
                listed_ahead.append((folder, future))
                if len(listed_ahead) > (0 if pool is None else AT_A_TIME):
                    yield from self._next_listed(listed_ahead)
            while listed_ahead:
                yield from self._next_listed(listed_ahead)
        finally:
            if pool is not None:
                pool.shutdown(cancel_futures=True)

    def _next_listed(self, listed_ahead: "deque[tuple[str, Future[None] | None]]") -> Iterator[str]:
        folder, future = listed_ahead.popleft()
        if future is not None:
            future.result()
        yield folder
        if future is not None:
            self._num_forgotten += len(self._folders.pop(folder, ()))

    def _is_listed(self, folder: str) -> bool:
        return folder in self._folders or self._is_below_listed_tree(folder)

    def _try_to_list(self, folder: str) -> None:
        """List *folder* of a store. Whoever needs it meets the error, if there is one."""
        with suppress(MissingError, StoreError):
            self._items(folder)

    @contextmanager
    def listed(self, folder: str, items: Iterable[FolderItem]) -> Iterator[None]:
        """Take *items* for the items of *folder* in a store, if it was listed and forgotten, in the block."""
        if self.store_of(folder) is None or self._is_listed(folder):
            yield
            return
        self._folders[folder] = {item.name: item for item in items}
        try:
            yield
        finally:
            del self._folders[folder]

    def _is_below_listed_tree(self, folder: str) -> bool:
        return any(folder.startswith(f"{root}/") for root in self._listed_trees)

    def _list(self, root: str, *, recursive: bool) -> None:
        url = parse_url(root)
        assert url is not None
        listed: dict[str, dict[str, FolderItem]] = {root: {}}
        for folder, item in self._store(url).below(root, recursive=recursive):
            # Some stores do not list the folders that are part of a key.
            path = root
            for name in folder.split("/") if folder else ():
                _add(listed, path, FolderItem(name, True, 0), recursive=recursive)
                path = f"{path}/{name}"
            _add(listed, path, item, recursive=recursive)
        self._folders.update(listed)  # all of it or, after an error, nothing


def _add(
    listed: dict[str, dict[str, FolderItem]], folder: str, item: FolderItem, *, recursive: bool
) -> None:
    """Add *item* to *folder* in *listed*. A store can have a file and a folder of one name: keep the folder."""
    items = listed.setdefault(folder, {})
    known = items.get(item.name)
    if known is None or not known.is_folder:
        items[item.name] = item
    if item.is_folder and recursive:
        listed.setdefault(f"{folder}/{item.name}", {})


def _was_small(tree_url: str, options: StorageOptions) -> bool:
    """Return whether this process has found that *tree_url* is small. No caller holds the key, which has secrets."""
    return (tree_url, endpoint_key(options)) in _small_trees


def _remember(tree_url: str, options: StorageOptions, *, is_small: bool) -> None:
    """Remember that *tree_url* is small, or forget it."""
    key = tree_url, endpoint_key(options)
    _small_trees.pop(key, None)
    if is_small:
        _small_trees[key] = None
        while len(_small_trees) > MAX_SMALL_TREES:
            _small_trees.popitem(last=False)


def forget_small_trees() -> None:
    """Forget which trees are small."""
    _small_trees.clear()
