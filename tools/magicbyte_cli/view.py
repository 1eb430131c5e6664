"""`magicbyte view`: writes a page that shows the bytes of a file beside their fields."""

import base64
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from magicbyte import Finding, InputError
from magicbyte.output_guard import check_beside
from magicbyte.storage import (
    Storage,
    StorageOptions,
    absolute_path,
    is_url,
    normalize_path,
    open_segment,
)
from magicbyte_cli import parameters
from magicbyte_cli._view_evidence import FileEvidence, LogReader, companion_evidence, log_evidence
from magicbyte_cli._view_window import Window, choose_log_window, choose_window, read_window
from magicbyte_cli.display import counted
from magicbyte_cli.file_formats import FORMATS_BY_NAME, FORMATS_BY_SUFFIX, format_of
from magicbyte_cli.option_completion import complete_path
from magicbyte_cli.output_files import check_writable, write_whole
from magicbyte_cli.selection import (
    limit_options,
    limits_of,
    overwrite_option,
    size_option,
    store_options,
    with_options,
)
from magicbyte_cli.stderr_messages import exit_status, warn, warn_of_findings

FILE_AT_POSITION = re.compile(r"(.+)@([0-9]{1,19})", re.DOTALL)

LOGS = ("kafka_log", "kafka_kraft_snapshot")
"""Formats that are a sequence of batches or messages."""

FILE_FORMATS = tuple(sorted({*FORMATS_BY_NAME.values(), *FORMATS_BY_SUFFIX.values()}))

DATA_MARK = "<!-- embedded -->"
"""Place in the page for the bytes and findings of a file."""

MAX_PAGE_BYTES = 64 << 20
"""Bytes of a file that a page contains at most: browsers refuse far larger pages."""

MAX_FINDINGS = 10_000
"""Findings that a page contains."""


@click.command(
    short_help="Write a page that shows a file byte by byte.",
    epilog="""\b
    Examples:
      magicbyte view orders-0/00000000000000000000.log@4096 -o page.html
      magicbyte view orders-0/00000000000000000000.index -o index.html
      magicbyte view -o viewer.html
    """,
)
@click.argument(
    "shown_file", metavar="[FILE[@POSITION]]", required=False, shell_complete=complete_path
)
@click.option(
    "-o",
    "out",
    metavar="OUT",
    type=parameters.OutPath(),
    required=True,
    help="Write to this file. It appears whole or not at all.",
)
@overwrite_option
@size_option(
    "--window",
    "max_bytes",
    default="256KiB",
    help="Bytes of FILE that the page contains, around POSITION.",
)
@click.option(
    "--file-format",
    type=click.Choice(FILE_FORMATS),
    help="Format of FILE.  [default: as its name says; kafka_log for a name that says nothing]",
    show_default=False,
)
@with_options((*limit_options, *store_options))
@click.pass_context
def view(
    ctx: click.Context,
    *,
    shown_file: str | None,
    out: Path,
    overwrite: bool,
    max_bytes: int,
    file_format: str | None,
    max_batch_bytes: int | None,
    max_entry_bytes: int | None,
    storage_option: StorageOptions,
) -> None:
    """Write a page that shows the bytes of FILE beside their fields.

    FILE is a segment, one of its companion files, or a checkpoint file. The page contains the bytes
    around POSITION, what this command found in them, and the outcomes of transactions; it opens in a
    browser, and loads nothing. Without FILE, the page opens files that are dropped on it, of any size.
    """
    check_writable(out, replace=overwrite)
    if shown_file is None:
        write_whole(out, _viewer().encode())
        return
    name, position = _file_and_position(shown_file)
    if not is_url(name):
        check_beside(out, normalize_path(name))
    storage, location = Storage(storage_option), normalize_path(name)
    storage.check([name])
    if storage.kind_of(location) != "file":
        raise InputError("not a file", "a segment, a companion file or a checkpoint", path=name)
    path = absolute_path(location)
    shown_format = file_format or format_of(path.rpartition("/")[2]) or "kafka_log"
    log_reader = LogReader(path, limits_of(max_batch_bytes, max_entry_bytes), storage_option)
    with open_segment(location, store=storage.store_of(location)) as file:
        size_bytes = file.size_bytes
        if position >= max(size_bytes, 1):
            raise InputError(
                f"byte {position}", f"a byte below the file's size, {size_bytes}", path=name
            )
        if shown_format in LOGS:
            window = choose_log_window(log_reader.headers(), position, max_bytes, size_bytes)
            evidence = log_evidence(log_reader, window)
        else:
            window = choose_window(shown_format, position, max_bytes, size_bytes)
            evidence = companion_evidence(path, storage_option)
        if window.end - window.start > MAX_PAGE_BYTES:
            raise InputError(
                f"{window.end - window.start:,} bytes from the start of the entry to byte {position}",
                f"a window of at most {MAX_PAGE_BYTES:,} bytes; `magicbyte view -o` without a file "
                "writes a page that opens files of any size",
                path=name,
            )
        data = read_window(file, window)
        lost = file.unreadable.between(window.start, window.end) if file.unreadable else []
        unreadable = [file.unreadable.finding(part) for part in lost] if file.unreadable else []
    findings = _in_window(evidence, window, unreadable)
    content = {
        "name": log_reader.name,
        "size": size_bytes,
        "first": window.start,
        "position": position if position else None,
        "format": shown_format,
        "note": _note(window, size_bytes, evidence, findings),
        "findings": None if findings is None else [_shown(each) for each in findings],
        "outcomes": {str(at): outcome for at, outcome in evidence.outcome_by_position.items()},
        "base64": base64.b64encode(data).decode(),
    }
    write_whole(out, _page(content).encode())
    warn(f"{out}: {content['note']}")
    warn_of_findings(findings or (), see="the page")
    status = exit_status(unreadable or findings or ())
    if status:
        ctx.exit(status)


def _file_and_position(text: str) -> tuple[str, int]:
    """Return the file and the byte position in *text*; the position is 0 if there is none."""
    match = FILE_AT_POSITION.fullmatch(text)
    return (match[1], int(match[2])) if match else (text, 0)


def _viewer() -> str:
    """Return the viewer, a page that contains no file."""
    page = files("magicbyte_formats").joinpath("viewer", "viewer.html")
    return page.read_text(encoding="utf-8")


def _page(content: dict[str, Any]) -> str:
    """Return the viewer with *content*; `<` is escaped, so that nothing in it ends the element."""
    text = json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")
    element = f'<script type="application/json" id="embedded">{text}</script>'
    before, mark, after = _viewer().partition(DATA_MARK)
    if not mark:
        raise AssertionError("the viewer has no place for a file")
    return before + element + after


def _in_window(
    evidence: FileEvidence, window: Window, unreadable: list[Finding]
) -> list[Finding] | None:
    """Return the findings about bytes of *window* and about the file as a whole; None if not known."""
    if evidence.findings is None:
        return unreadable or None
    found = [
        each
        for each in evidence.findings
        if each.position is None or window.start <= each.position < window.end
    ]
    known = {(each.code, each.position) for each in found}
    found += [each for each in unreadable if (each.code, each.position) not in known]
    return found[:MAX_FINDINGS]


def _shown(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "position": finding.position,
        "payloadPosition": finding.payload_position,
        "length": finding.length,
    }


def _note(
    window: Window, size_bytes: int, evidence: FileEvidence, findings: list[Finding] | None
) -> str:
    """Return in words which bytes of the file the page contains, and where the findings are from."""
    if window.start == 0 and window.end == size_bytes:
        part = f"the whole file, {counted(size_bytes, 'byte')}"
    else:
        part = f"bytes {window.start:,} to {window.end - 1:,} of {size_bytes:,}"
    if findings is None:
        return f"{part}; findings are those that this page makes itself"
    num_outside = len(evidence.findings or ()) - len(findings)
    rest = f"; {counted(num_outside, 'finding')} elsewhere in the file" if num_outside > 0 else ""
    return f"{part}; {counted(len(findings), 'finding')} of magicbyte in them{rest}"
