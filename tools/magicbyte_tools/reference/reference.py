"""All of docs/formats: the pages, the index and the pictures."""

from magicbyte_tools.reference.examples import EXAMPLES
from magicbyte_tools.reference.library import Library
from magicbyte_tools.reference.overview import overview
from magicbyte_tools.reference.pages import NOTE, Page, table
from magicbyte_tools.reference.prose import HERE, prose

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
"""How the index is ordered; what is in none of these comes last."""

OTHERS = "For study and for visualizers"


def pages(library: Library) -> list[Page]:
    """Return a page per format, in the order of the index."""
    order = [f"kafka_{name}" for _, names in GROUPS for name in names]
    order += [name for name in library.formats if name not in order]
    return [
        Page(
            library.formats[name],
            library,
            prose(name),
            [example for example in EXAMPLES if example.format == name],
        )
        for name in order
        if name in library.formats
    ]


def reference(library: Library) -> dict[str, str]:
    """Return the text of every file, by its name below docs/formats."""
    files = {"README.md": index(library), "pictures/overview.svg": overview(library)}
    for page in pages(library):
        files |= page.files()
    return files


def index(library: Library) -> str:
    """Return the page that leads to all others."""
    return NOTE + (HERE / "README.md").read_text("utf-8").replace("{formats}", _formats(library))


def _formats(library: Library) -> str:
    grouped = {f"kafka_{name}": group for group, names in GROUPS for name in names}
    rows: list[dict[str, str]] = []
    last = ""
    for page in pages(library):
        group = grouped.get(page.name, OTHERS)
        if group != last:
            rows.append({"format": f"**{group}**", "what": "", "files": ""})
        meta = page.format.spec["meta"]
        title = meta["title"].removeprefix("Apache Kafka ")
        rows.append(
            {
                "format": f"[{page.name}]({page.name}.md)",
                "what": title[0].upper() + title[1:],
                "files": f"`*.{meta['file-extension']}`" if "file-extension" in meta else "",
            }
        )
        last = group
    return table(rows)
