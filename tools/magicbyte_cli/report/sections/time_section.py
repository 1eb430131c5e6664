"""Section of the report that plots records over time."""

from magicbyte_cli import display
from magicbyte_cli.report.figures.timeline import Timeline
from magicbyte_cli.report.markup import Markup
from magicbyte_cli.report.plots import lanes
from magicbyte_cli.report.tables import section, soft


def records_over_time(times: Timeline) -> Markup:
    panels = times.panels()
    if not panels:
        return section(
            "time", "Records over time", soft("No record has a timestamp."), *untimed(times)
        )
    title = "Records by disposition of their batch, at the largest timestamp of the batch"
    return section(
        "time",
        "Records over time",
        lanes(title, panels, "record"),
        *untimed(times),
        *scales(len(panels)),
    )


def untimed(times: Timeline, noun: str = "record") -> list[Markup]:
    missing = times.untimed.total()
    return (
        [soft(f"Not drawn: {display.counted(missing, noun)} without a timestamp.")]
        if missing
        else []
    )


def scales(num_panels: int) -> list[Markup]:
    gaps = "Nothing happened in the times between the panels. " if num_panels > 1 else ""
    return [soft(f"{gaps}All bars have one scale; the smallest are drawn higher.")]
