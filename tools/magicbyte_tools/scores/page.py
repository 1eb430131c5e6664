"""Writes docs/scores.md from the recorded results and the paragraphs on bugs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.level_scores import LEVELS
from magicbyte_tools.scores.bugs import (
    SEVERITIES,
    Bug,
    load_bugs,
    load_rules,
)
from magicbyte_tools.scores.client_runner import ClientRunner
from magicbyte_tools.scores.recorded_runs import KAFKA, Run, load_runs

HEAD = """\
# Scores of client libraries on the vectors

Written by `make scores` from the results that the runners in [tests/vectors/runners](../tests/vectors/runners/README.md) gave:
do not edit it. Each number is the cases passed of those of the level ([levels](../tests/vectors/README.md#levels)), as on its badge.
*n* lacking are cases that need a codec or a format that the library does not have or that was not installed, and do not count.
Cases that were not judged do count: damage that only a checksum shows, to a client without checksums, and files that
the release has no class for. A dash: the reader reads no such bytes; Kafka 2.8.2 checks produced batches in Scala, which is not called here.

**What the numbers do not say.** A failed case is not always a bug that a user meets: `v2-strict` and half of `legacy` are bytes that
only damage or a hostile producer makes, under a right checksum. The paragraphs below say for each cause what it costs. A low
number of a maintained library tells how much nobody had tested, not how good it is.
"""


def page(runners: Sequence[ClientRunner], cases_by_id: Mapping[str, Case]) -> str:
    """Return the text of docs/scores.md."""
    return "\n".join(_lines(runners, cases_by_id)) + "\n"


def _lines(runners: Sequence[ClientRunner], cases_by_id: Mapping[str, Case]) -> Iterator[str]:
    yield HEAD
    levels = [level for level in LEVELS if level != "directory"]
    yield "| reader | version | " + " | ".join(f"`{level}`" for level in levels) + " |"
    yield "|---" * (len(levels) + 2) + "|"
    for runner in runners:
        for run in load_runs(runner):
            cells = [_cell(run.levels.get(level, {})) for level in levels]
            yield f"| [{run.reader}]({runner.project}) | {run.version} | {' | '.join(cells)} |"
    yield ""
    yield "No client reads log directories, so the level `directory` is left out."
    yield ""
    yield from _readers(runners)
    kafka = [run for runner in runners for run in load_runs(runner) if run.reader in KAFKA]
    for runner in runners:
        if bugs := load_bugs(runner):
            yield from _section(runner, bugs, kafka, cases_by_id)


def _cell(verdict_counts: Mapping[str, int]) -> str:
    """Return the number of a level, as its badge has it; a dash where nothing was judged."""
    judged = verdict_counts["total"] - verdict_counts["not-judged"] if verdict_counts else 0
    if judged == 0 or verdict_counts["passed"] == 0:
        return "-"
    lacking = f", {verdict_counts['lacking']} lacking" if verdict_counts["lacking"] else ""
    return f"{verdict_counts['passed']}/{verdict_counts['total']}{lacking}"


def _readers(runners: Sequence[ClientRunner]) -> Iterator[str]:
    yield "## How each is called"
    yield ""
    yield "| reader | language | reads by | failed | causes |"
    yield "|---|---|---|---|---|"
    for runner in runners:
        runs = load_runs(runner)
        failed = len({name for run in runs for name in run.failed})
        names = ", ".join(runner.readers)
        causes = len(load_bugs(runner))
        yield f"| {names} | {runner.language} | {runner.reads_by} | {failed} | {causes} |"
    yield ""


def _section(
    runner: ClientRunner, bugs: Sequence[Bug], kafka: Sequence[Run], cases_by_id: Mapping[str, Case]
) -> Iterator[str]:
    releases = ", ".join(dict.fromkeys(run.version for run in load_runs(runner)))
    yield f"## {' and '.join(runner.readers)} {releases}"
    yield ""
    for severity, group in groupby(bugs, lambda bug: bug.severity):
        yield f"### {SEVERITIES[severity]}: {runner.name}"
        yield ""
        for bug in group:
            yield from _paragraph(runner, bug, kafka, cases_by_id)


def _paragraph(
    runner: ClientRunner, bug: Bug, kafka: Sequence[Run], cases_by_id: Mapping[str, Case]
) -> Iterator[str]:
    cited = bug.cited(cases_by_id)
    failed = {name: words for run in load_runs(runner) for name, words in run.failed.items()}
    rule = load_rules()[bug.rule]
    upstream = f" ([upstream]({bug.upstream}))" if bug.upstream else ""
    yield f"#### {bug.title}{upstream}"
    yield ""
    data = cited.data_path.read_bytes().hex()
    yield f"`{cited.id}`, {len(data) // 2} bytes: {cited.why}"
    yield ""
    yield "```text"
    yield from (data[start : start + 120] for start in range(0, len(data), 120))
    yield "```"
    yield ""
    yield f"* **The client:** {bug.does} Scored: `{failed[cited.id]}`"
    yield f'* **Right:** {rule.right} [{rule.file}](../{rule.file}): "{rule.sentence}"'
    yield f"* **Kafka's own classes:** {_kafka_words(cited.id, kafka)}"
    yield f"* **Consequence:** {bug.consequence}"
    others = [f"`{name.partition('/')[2]}`" for name in bug.case_ids if name != cited.id]
    if others:
        yield f"* **The same cause:** {', '.join(others)}"
    yield ""


def _kafka_words(name: str, kafka: Sequence[Run]) -> str:
    """Return what Kafka's classes answered to the case *name*, by release where they differ."""
    versions_by_answer: dict[str, list[str]] = {}
    for reader in KAFKA:
        if not versions_by_answer:
            for run in kafka:
                if run.reader == reader and name in run.answers:
                    versions_by_answer.setdefault(run.answers[name], []).append(run.version)
    if not versions_by_answer:
        return "do not read this format."
    told = (f"{', '.join(of)}: {words}" for words, of in versions_by_answer.items())
    return "; ".join(told) + "."
