"""`magicbyte stats --what-if`: sizes of logs with another codec, format or batch size."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

import magicbyte as mb
from magicbyte.writing.convert import Conversion, conversion_of
from magicbyte.writing.what_if import SizeEstimate, what_if
from magicbyte_cli import parameters
from magicbyte_cli.display import byte_size, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.text_table import table_lines

HEADS = ("", "now", "then", "+-", "saved", "CPU s")


class ConversionOption(click.ParamType[Conversion]):
    """A conversion as `codec=zstd:3,magic=2,batch-bytes=64KiB`."""

    name = "conversion"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Conversion:
        if isinstance(value, Conversion):
            return value
        arguments: dict[str, Any] = {"lossy": True}
        for setting in str(value).split(","):
            name, equals, text = setting.partition("=")
            if not equals or name not in ("codec", "magic", "batch-bytes"):
                self.fail(f"{setting!r} is not codec=, magic= or batch-bytes=", param, ctx)
            try:
                if name == "codec":
                    arguments["codec"], _, level = text.partition(":")
                    arguments["level"] = int(level) if level else None
                elif name == "magic":
                    arguments["magic"] = int(text)
                else:
                    arguments["batch_bytes"] = parameters.size(text)
            except ValueError:
                self.fail(f"{setting!r} has no number where one is expected", param, ctx)
        try:
            return conversion_of(**arguments)
        except mb.InputError as error:
            self.fail(str(error), param, ctx)


what_if_option = click.option(
    "--what-if",
    "conversion",
    type=ConversionOption(),
    metavar="CHANGES",
    help="Estimate the size with other settings instead: codec=NAME[:LEVEL], magic=0|1|2, batch-bytes=SIZE, separated "
    "by commas. Samples of each partition are converted in memory.",
)


def what_if_lines(
    paths: Sequence[str], conversion: Conversion, format_name: str, **arguments: Any
) -> Iterator[bytes]:
    """Yield the lines of the estimates for the logs that `open` finds with *paths* and *arguments*."""
    dataset = mb.open(*paths, on_damage="skip", include_internal=True, **arguments)
    estimates = list(what_if(dataset, conversion))
    if format_name == "ndjson":
        for estimate in estimates:
            yield object_line({"kind": "what-if", **estimate.row()})
        yield object_line({"kind": "total", **_total(estimates)})
        return
    rows = [_cells(f"{each.topic}-{each.partition}", each.row()) for each in estimates]
    rows.append(_cells("total", _total(estimates)))
    for line in table_lines(HEADS, rows):
        yield text_line(line)


def _total(estimates: Sequence[SizeEstimate]) -> dict[str, Any]:
    """Return the sum of the estimates for the partitions that can be converted."""
    converted = [each for each in estimates if each.estimated_bytes is not None]
    # Errors of partitions are independent, so their squares add up.
    error = sum(each.error_bytes**2 for each in converted) ** 0.5
    return {
        "log_bytes": sum(each.log_bytes for each in converted),
        "sampled_bytes": sum(each.sampled_bytes for each in converted),
        "estimated_bytes": round(sum(each.estimated_bytes or 0 for each in converted)),
        "error_bytes": round(error),
        "cpu_seconds": round(sum(each.cpu_seconds for each in converted), 3),
        "refusal": None,
    }


def _cells(name: str, row: dict[str, Any]) -> list[str]:
    if row["estimated_bytes"] is None:
        return [name, byte_size(row["log_bytes"]), row["refusal"], "", "", ""]
    now, then = row["log_bytes"], row["estimated_bytes"]
    saved = f"{100 * (now - then) / now:.1f} %" if now else ""
    return [
        name,
        byte_size(now),
        byte_size(then),
        byte_size(row["error_bytes"]),
        saved,
        f"{row['cpu_seconds']:.2f}",
    ]
