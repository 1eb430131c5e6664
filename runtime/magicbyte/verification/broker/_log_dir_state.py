"""A log.dir as a starting broker finds it: its properties, its folders, and whether it can be used."""

import errno
from collections.abc import Iterator
from dataclasses import dataclass, field

from magicbyte.errors import FormatError, InputError, MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.file_names import LOG_DIR_MARKS, parse_folder
from magicbyte.logdir.meta_properties import (
    MAX_META_PROPERTIES_BYTES,
    META_PROPERTIES,
    MetaProperties,
    parse_meta_properties,
)
from magicbyte.logdir.metadata_snapshots import METADATA_FOLDER, METADATA_TOPIC
from magicbyte.storage import FolderItem, Storage
from magicbyte.verification.broker._folder_names import (
    INDEX_CACHE_FOLDER,
    BrokerFolder,
    parse_broker_folder,
)
from magicbyte.verification.broker._startup_rules import StartupRules

BOOTSTRAP_CHECKPOINT = "bootstrap.checkpoint"

BLANK_NAMES = {".lock", "lost+found"}
"""Names in a log.dir that has held nothing yet."""

DATA_FILES = tuple(name for name in LOG_DIR_MARKS if name != META_PROPERTIES)
"""Checkpoints that a broker writes into each log.dir that holds partitions."""


@dataclass(slots=True)
class LogDirState:
    """A log.dir that was named or found, readable or not."""

    path: str
    log_dir: LogDir | None = None
    """Checkpoints of the log.dir; None if nothing in it says that it is a log.dir."""
    folder_items: tuple[FolderItem, ...] = ()
    obstacle: str | None = None
    """The reason why it cannot be listed, such as `a file, not a folder`."""
    is_a_file: bool = False
    is_absent: bool = False
    """True if there is nothing at the path."""
    properties: MetaProperties | None = None
    """None if there is no `meta.properties`, or none that a broker can parse."""
    has_properties: bool = False
    invalid_properties: Finding | None = None
    can_read_properties: bool = True
    """False if `meta.properties` is there and its bytes cannot be read."""
    failures: list[Finding] = field(default_factory=list)
    """Reasons why a broker takes it offline; none if it stays online."""
    is_loaded: bool = True
    """False if a broker takes it offline before it looks at the folders in it."""

    @property
    def is_offline(self) -> bool:
        return bool(self.failures)

    @property
    def is_blank(self) -> bool:
        """True if it does not show what partitions it has held: it is empty or cannot be listed."""
        return self.obstacle is not None or not self.item_names - BLANK_NAMES

    @property
    def item_names(self) -> set[str]:
        return {item.name for item in self.folder_items}

    @property
    def folder_names(self) -> list[str]:
        return [item.name for item in self.folder_items if item.is_folder]

    @property
    def partition_folders(self) -> set[str]:
        """Names of folders that look like folders of current logs."""
        return {
            name
            for name in self.folder_names
            if (parsed := parse_folder(name)) is not None and parsed.state is None
        }

    @property
    def is_log_dir(self) -> bool:
        """True unless it is a folder of something else, or nothing, which was named by mistake."""
        if self.log_dir is not None or self.obstacle is not None or self.has_properties:
            return not self.is_absent
        return bool(self.partition_folders) or not self.item_names - BLANK_NAMES

    @property
    def has_metadata_log(self) -> bool:
        return METADATA_FOLDER in self.folder_names

    @property
    def is_kraft(self) -> bool:
        """True if something in it shows that its broker runs without ZooKeeper."""
        if self.properties is not None and self.properties.is_kraft:
            return True
        return self.has_metadata_log or BOOTSTRAP_CHECKPOINT in self.item_names

    @property
    def has_data(self) -> bool:
        """True if it holds partitions, or the checkpoints of a log.dir that has held some."""
        if self.item_names.intersection(DATA_FILES):
            return True
        return any(name != METADATA_FOLDER and "-" in name for name in self.folder_names)

    @property
    def directory_id(self) -> str | None:
        return None if self.properties is None else self.properties.directory_id

    def folders(self, rules: StartupRules) -> Iterator[BrokerFolder]:
        """Yield the folders that a broker loads as partitions."""
        for name in self._loaded(rules):
            folder = parse_broker_folder(name, rules)
            if folder is not None:
                yield folder

    def foreign_folders(self, rules: StartupRules) -> Iterator[str]:
        """Yield the names of folders that make a broker refuse to start."""
        for name in self._loaded(rules):
            if parse_broker_folder(name, rules) is None:
                yield name

    def _loaded(self, rules: StartupRules) -> Iterator[str]:
        for name in self.folder_names:
            folder = parse_broker_folder(name, rules)
            is_metadata = folder is not None and folder.topic == METADATA_TOPIC
            is_skipped = (rules.is_kraft and is_metadata) or (
                rules.knows_index_cache and name == INDEX_CACHE_FOLDER
            )
            if not is_skipped:
                yield name


def is_missing(error: InputError) -> bool:
    """Return whether *error* says that nothing is at a path."""
    return isinstance(error, MissingError) and error.errno == errno.ENOENT


def read_log_dir_state(path: str, storage: Storage, log_dir: LogDir | None) -> LogDirState:
    """Return the state of the log.dir *path*, whose checkpoints are *log_dir*."""
    state = LogDirState(path, log_dir)
    try:
        if storage.kind_of(path) != "folder":
            state.obstacle, state.is_a_file = "not a folder", True
            return state
        state.folder_items = tuple(storage.list_folder(path))
    except InputError as error:
        state.obstacle = error.found
        state.is_absent = is_missing(error)
        return state
    if META_PROPERTIES not in state.item_names:
        return state
    state.has_properties = True
    file = f"{path}/{META_PROPERTIES}"
    try:
        data = storage.read_small(file, max_bytes=MAX_META_PROPERTIES_BYTES)
        state.properties = parse_meta_properties(data)
    except FormatError as error:
        state.invalid_properties = error.finding
    except InputError as error:
        if is_missing(error):  # removed since the folder was listed
            state.has_properties = False
        else:
            state.can_read_properties = False
            state.invalid_properties = Finding(
                code="meta-properties-invalid", message=f"cannot be read: {error.found}"
            )
    return state
