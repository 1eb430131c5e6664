"""First part of the report: soundness of the logs, start of the brokers, losses, and the first thing to do."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from magicbyte.findings import CODES
from magicbyte.tables.schemas import LOST
from magicbyte.verification.verdicts import BAD_VERDICTS
from magicbyte_cli import display
from magicbyte_cli.report.figures import ReportFigures
from magicbyte_cli.report.markup import Content, Markup, element, joined
from magicbyte_cli.report.sections.findings_section import with_code
from magicbyte_cli.verify_advice import advice_of_verdicts
from magicbyte_cli.verify_damage import offsets_lost_text
from magicbyte_cli.verify_groups import first_names

NOT_VERIFIED = (
    "Not known: `magicbyte pipeline --verify` or `magicbyte verify` predicts it, and checks indexes, snapshots, "
    "checkpoint files and replicas."
)

NOTES_ALONE = "Nothing needs to be done; the notes below are for your information."

UNSERVED = ("refuses-to-start", "missing", "stray", "not-served")
"""Verdicts on partitions of which nothing is served after a startup; their offsets are not counted as lost."""


def answers(figures: ReportFigures) -> Markup:
    """Return the four questions of an operator, each with its answer and a mark of its gravity."""
    items = [*_soundness(figures), *_startup(figures), *_losses(figures), *_first(figures)]
    return element("dl", *items, class_="answers card", aria_label="Answers")


def _item(question: str, gravity: str, *children: Content) -> Iterator[Markup]:
    yield element("dt", question)
    yield element("dd", *children, class_=f"answer {gravity}")


def _soundness(figures: ReportFigures) -> Iterator[Markup]:
    question = "Is it sound?"
    severities = figures.problems.severities
    if severities["error"]:
        damaged = [one for one in figures.partitions if one.problems["error"]]
        worst_first = sorted(damaged, key=lambda one: one.gravity, reverse=True)
        answer = f"No: {display.counted(severities['error'], 'error')}"
        if damaged:
            names = first_names([one.name for one in worst_first])
            answer = f"{answer} in {display.counted(len(damaged), 'partition')}: {names}"
        return _item(question, "error", f"{answer}.")
    if severities["warning"]:
        warnings = display.counted(severities["warning"], "warning")
        return _item(question, "warning", f"No record is damaged, with {warnings}.")
    scope = "Everything that was read" if figures.verdicts is None else "Everything"
    notes = f", with {display.counted(severities['note'], 'note')}" if severities["note"] else ""
    return _item(question, "sound", f"{scope} is sound{notes}.")


def _startup(figures: ReportFigures) -> Iterator[Markup]:
    question = "Will the brokers start?"
    if figures.verdicts is None:
        return _item(question, "unknown", *with_code(NOT_VERIFIED))
    partitions = figures.verdicts["partitions"]
    refusing = _names_of_brokers(figures, "refuses-to-start")
    if refusing or any(row["verdict"] == "refuses-to-start" for row in partitions):
        who = first_names(refusing) or "the broker"
        return _item(question, "error", f"No: {who} would refuse to start.")
    bad = [row for row in partitions if row["verdict"] in BAD_VERDICTS]
    counts = f"{display.counted(len(bad), 'partition')} of {len(partitions):,}"
    outcome = f"{counts} would be truncated, damaged, incomplete or not served"
    if undecided := _names_of_brokers(figures, "unknown"):
        answer = f"Not known: these files do not tell whether {first_names(undecided)} would start."
        more = f" If it does, {outcome}." if bad else ""
        return _item(question, "error" if bad else "unknown", f"{answer}{more}")
    if bad:
        return _item(question, "error", f"Yes, but {outcome}.")
    if losing := _names_of_brokers(figures, "starts-with-loss"):
        answer = f"Yes, but {first_names(losing)} would lose something or not serve it."
        return _item(question, "error", answer)
    if num_unknown := sum(row["verdict"] == "unknown" for row in partitions):
        counts = f"{display.counted(num_unknown, 'partition')} of {len(partitions):,}"
        answer = f"Not known for {counts}; the other partitions would be served as they are."
        return _item(question, "unknown", answer)
    return _item(question, "sound", "Yes, and they would serve all partitions as they are.")


def _losses(figures: ReportFigures) -> Iterator[Markup]:
    question = "What is lost?"
    lost_bytes = sum(figures.total.bytes[name] for name in LOST)
    losses: list[str] = []
    if figures.verdicts is not None:
        losses += _startup_losses(figures.verdicts["partitions"])
    for code_figures in figures.problems.codes:
        if code_figures.code == "offset-gap":
            partitions = display.counted(code_figures.num_partitions, "partition")
            losses.append(f"offsets are missing in {partitions}, before any startup")
    if lost_bytes:
        losses.append(f"{display.counted(lost_bytes, 'byte')} of records cannot be read")
    if losses:
        return _item(question, "error", f"{'; '.join(losses)}.")
    if figures.verdicts is None:
        return _item(question, "unknown", "No record that was read. A startup was not predicted.")
    return _item(question, "sound", "No offset and no byte.")


def _startup_losses(partitions: list[dict[str, Any]]) -> Iterator[str]:
    """Yield how many offsets the brokers would lose, where most of them are, and what they would not serve."""
    # The number is None where a partition is not loaded, or the broker does not serve its folder.
    losing = [row for row in partitions if row["offsets_lost"]]
    losing.sort(key=lambda row: -row["offsets_lost"])
    if losing:
        num_offsets = display.counted(sum(row["offsets_lost"] for row in losing), "offset")
        places = [f"{_name(row)} {offsets_lost_text(row)}" for row in losing]
        num_partitions = display.counted(len(losing), "partition")
        yield (
            f"{num_offsets} in {num_partitions} on startup ({first_names(places, separator='; ')})"
        )
    unserved = [_name(row) for row in partitions if row["verdict"] in UNSERVED]
    if unserved:
        num_partitions = display.counted(len(unserved), "partition")
        yield f"{num_partitions} would not be served ({first_names(unserved)})"


def _first(figures: ReportFigures) -> Iterator[Markup]:
    question = "What to do first?"
    if figures.verdicts is not None:
        if refusing := _brokers(figures, "refuses-to-start"):
            text = f"Keep a copy of these files. {_broker_name(refusing[0])}: "
            return _item(question, "error", text, *_broker_advice(refusing[0]))
        names_by_verdict: defaultdict[str, list[str]] = defaultdict(list)
        for row in figures.verdicts["partitions"]:
            names_by_verdict[row["verdict"]].append(_name(row))
        if advice := advice_of_verdicts(names_by_verdict):
            return _item(question, "error", f"{advice[0].upper()}{advice[1:]}.")
        has_errors = bool(figures.problems.severities["error"])
        for verdict, gravity in (("starts-with-loss", "error"), ("unknown", "unknown")):
            for row in () if verdict == "unknown" and has_errors else _brokers(figures, verdict):
                if row["findings"] or row["reasons"]:
                    text = f"{_broker_name(row)}: "
                    return _item(question, gravity, text, *_broker_advice(row))
    for code_figures in figures.problems.codes:
        if code_figures.severity != "note" and code_figures.code in CODES:
            remedy = joined(with_code(CODES[code_figures.code].remedy))
            link = element("a", element("code", code_figures.code), href=f"#{code_figures.code}")
            return _item(question, code_figures.severity, remedy, " (", link, ")")
    if figures.verdicts is None:
        advice = "Run `magicbyte verify` before a broker starts on these files."
        return _item(question, "unknown", *with_code(advice))
    has_notes = bool(figures.problems.severities["note"])
    return _item(question, "sound", NOTES_ALONE if has_notes else "Nothing needs to be done.")


def _broker_advice(row: dict[str, Any]) -> list[Content]:
    """Return what was found about the broker of *row*, and the remedy of its first reason."""
    texts = row["findings"][:1]
    if not texts or row["verdict"] != "unknown":  # what makes it unknown says what to name
        texts = [*texts, *[CODES[code].remedy for code in row["reasons"] if code in CODES][:1]]
    return list(with_code(" ".join(f"{text.removesuffix('.')}." for text in texts)))


def _brokers(figures: ReportFigures, verdict: str) -> list[dict[str, Any]]:
    """Return the rows of the brokers with this verdict."""
    brokers = [] if figures.verdicts is None else figures.verdicts["brokers"]
    return [row for row in brokers if row["verdict"] == verdict]


def _names_of_brokers(figures: ReportFigures, verdict: str) -> list[str]:
    return [_broker_name(row) for row in _brokers(figures, verdict)]


def _broker_name(row: dict[str, Any]) -> str:
    return "the broker" if row["node_id"] is None else f"broker {row['node_id']}"


def _name(row: dict[str, Any]) -> str:
    return "(no name)" if row["topic"] is None else f"{row['topic']}-{row['partition']}"
