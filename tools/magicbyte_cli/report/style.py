"""CSS of the HTML reports."""

from importlib.resources import files

from magicbyte_cli.report.figures.partition_figures import BYTE_DISPOSITIONS

STYLE = files(__package__).joinpath("style.css").read_text(encoding="utf-8")

CONTENT_COLORS = {
    "keys": "control",
    "values": "delivered",
    "headers": "outside_range",
    "format": "withheld",
}
"""Contents of batches, and the dispositions with the same color."""

OUTCOME_COLORS = {"committed": "delivered", "open": "withheld", "undecided": "over_limit"}
"""Outcomes, and the dispositions with the same color."""

FILLS = "".join(
    f".{name} {{ fill: var(--{color}); }} .key.{name} {{ background: var(--{color}); }}\n"
    for name, color in (
        *((name, name) for name in BYTE_DISPOSITIONS),
        *OUTCOME_COLORS.items(),
        *CONTENT_COLORS.items(),
    )
)
