"""Assembles the files of docs/formats: the pages, the index and the pictures."""

from collections.abc import Mapping

from magicbyte_tools.reference.examples import EXAMPLES
from magicbyte_tools.reference.library import Library, Spec
from magicbyte_tools.reference.message_pages import MessageFile, MessagesPage
from magicbyte_tools.reference.overview import overview
from magicbyte_tools.reference.pages import NOTE, Page, table
from magicbyte_tools.reference.prose import HERE, prose
from magicbyte_tools.reference.tested_by import TestedBy, read_vectors

GROUPS = (
    ("Records", ("log", "record_batch", "records", "record", "control_record", "message")),
    ("Numbers", ("varint", "varlong", "uvarint", "tagged_fields")),
    (
        "Files beside a segment",
        (
            "offset_index",
            "time_index",
            "transaction_index",
            "producer_snapshot",
            "leader_epoch_checkpoint",
            "partition_metadata",
        ),
    ),
    ("Files of a log directory", ("offset_checkpoint",)),
    ("KRaft", ("kraft_snapshot", "metadata_record", "early_leader_change")),
)
"""Order of the index: formats, without `kafka_`, by group; formats in no group come last."""

MESSAGES = "Messages in internal topics"
OTHERS = "For study and for visualizers"


def pages(library: Library) -> list[Page]:
    """Return the pages of all formats, in the order of the index."""
    tested_by = TestedBy(library, read_vectors())
    order = [f"kafka_{name}" for _, names in GROUPS for name in names]
    order += [name for name in library.formats if name not in order]
    return [
        Page(
            library.formats[name],
            library,
            prose(name),
            [example for example in EXAMPLES if example.format == name],
            tested_by,
        )
        for name in order
        if name in library.formats
    ]


def messages_pages(library: Library, messages: Mapping[str, Spec]) -> list[MessagesPage]:
    """Return the pages of the message files *messages*, one per file."""
    known = MessageFile(messages, library)
    return [MessagesPage(name, spec, known) for name, spec in messages.items()]


def reference(library: Library, messages: Mapping[str, Spec]) -> dict[str, str]:
    """Return the text of every file of the reference, by path below docs/formats."""
    files = {"README.md": index(library, messages), "pictures/overview.svg": overview(library)}
    for page in pages(library):
        files |= page.files()
    for one in messages_pages(library, messages):
        files[one.path] = one.markdown()
    return files


def index(library: Library, messages: Mapping[str, Spec]) -> str:
    """Return the index page README.md, which links all other pages."""
    formats = _formats(library, messages_pages(library, messages))
    return NOTE + (HERE / "README.md").read_text("utf-8").replace("{formats}", formats)


def _formats(library: Library, messages: list[MessagesPage]) -> str:
    grouped = {f"kafka_{name}": group for group, names in GROUPS for name in names}
    rows: list[dict[str, str]] = []
    last = ""
    for page in pages(library):
        group = grouped.get(page.name, OTHERS)
        if group != last:
            if group == OTHERS:
                rows += _messages(messages)
            rows.append(_row(f"**{group}**"))
        meta = page.format.spec["meta"]
        title = meta["title"].removeprefix("Apache Kafka ")
        files = f"`*.{meta['file-extension']}`" if "file-extension" in meta else ""
        link = f"[{page.name}]({page.name}.md)"
        rows.append(_row(link, title[0].upper() + title[1:], files))
        last = group
    return table(rows)


def _messages(pages: list[MessagesPage]) -> list[dict[str, str]]:
    rows = [_row(f"[{page.name}]({page.path})", page.spec["title"]) for page in pages]
    return [_row(f"**{MESSAGES}**"), *rows]


def _row(format: str, what: str = "", files: str = "") -> dict[str, str]:
    return {"format": format, "what": what, "files": files}
