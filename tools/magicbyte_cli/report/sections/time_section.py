"""Records over time."""

from magicbyte_cli.report import display
from magicbyte_cli.report.figures.timeline import Timeline
from magicbyte_cli.report.markup import Markup
from magicbyte_cli.report.plots import lanes
from magicbyte_cli.report.tables import section, soft


def records_over_time(times: Timeline) -> Markup:
    panels = times.panels()
    if not panels:
        return section("time", "Records over time", soft("No record has a time."), *untimed(times))
    return section(
        "time",
        "Records over time",
        lanes(
            "Records by what became of their batch, at the batch's largest time", panels, "record"
        ),
        *untimed(times),
        *scales(len(panels)),
    )


def untimed(times: Timeline, noun: str = "record") -> list[Markup]:
    missing = times.untimed.total()
    return [soft(f"{display.counted(missing, noun)} without a time: not drawn.")] if missing else []


def scales(num_panels: int) -> list[Markup]:
    several = "Between the panels lies time without anything. " if num_panels > 1 else ""
    return [soft(f"{several}Each row of bars has a scale of its own; its highest bar is named.")]
