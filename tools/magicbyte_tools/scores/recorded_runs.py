"""Runs a runner on the vectors, and records levels and failed cases in results.json beside it."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from magicbyte_tools.conformance.cases import Case, load_version
from magicbyte_tools.conformance.child import ProcessBounds
from magicbyte_tools.conformance.compare import shown
from magicbyte_tools.conformance.level_scores import level_scores
from magicbyte_tools.conformance.runner import Answer, Runner
from magicbyte_tools.conformance.scoring import scored
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.scores.client_runner import ClientRunner
from magicbyte_tools.scores.toolchains import TOOLCHAINS

BOUNDS = ProcessBounds(timeout_s=20.0)

KAFKA = ("Kafka, MemoryRecords", "Kafka, consumer", "Kafka, broker")
"""Readers whose answers to cited vectors are recorded and shown: the first that reads the format."""

MAX_SHOWN = 160
"""Largest number of characters of an answer that is recorded."""

LAST_WORDS = re.compile(r"^(ended without an answer|failed)(, [^:]*)?:.*$", re.DOTALL)
"""Complaint of a process that ended; its last line of output has positions that differ from run to run."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Result of one reader and version on the vectors."""

    reader: str
    version: str
    levels: Mapping[str, Mapping[str, Any]]
    """Numbers of each level, as in the scorer's JSON."""
    failed: Mapping[str, str]
    """Mistakes in the answers, shortened, by the id of the failed case."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Answers of Kafka's classes to the cases that the page of scores cites, by id."""


def run_reader(
    runner: ClientRunner,
    reader: str,
    version: str,
    cases: Sequence[Case],
    cited: Collection[str],
) -> Run:
    """Build *runner* and run it on *cases*. Answers to *cited* cases are recorded too."""
    command = [*TOOLCHAINS[runner.toolchain](runner, version), *runner.readers[reader]]
    cited_answers: dict[str, str] = {}

    def answers() -> Iterator[tuple[Case, Answer]]:
        process = Runner(command=command, process_per="run", bounds=BOUNDS)
        for case, answer in process.answers(cases, runner.lacks):
            is_read = answer.content is not None and "unsupported" not in answer.content
            if reader in KAFKA and case.id in cited and is_read:
                cited_answers[case.id] = answer_words(answer.content)
            yield case, answer

    outcomes = list(scored(answers(), {}))
    return Run(
        reader=reader,
        version=version,
        levels={level: score.content() for level, score in level_scores(outcomes).items()},
        failed={
            one.case.id: shortened(one.complaints[0]) for one in outcomes if one.outcome == "failed"
        },
        answers=dict(sorted(cited_answers.items())),
    )


def shortened(words: str) -> str:
    """Return *words* of a complaint in one line of at most MAX_SHOWN characters."""
    line = " ".join(LAST_WORDS.sub(r"\1\2", words).split())
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}..."


def answer_words(answer: Mapping[str, Any]) -> str:
    """Return the answer of a reader in words: its verdict, and the error or the records."""
    if "accepted" in answer:
        return "accepts the bytes" if answer["accepted"] else "refuses the bytes"
    error = answer.get("error")
    if error is not None:
        place = f" at byte {error['position']}" if "position" in error else ""
        return f"refuses the entry{place}: {shortened(error['message'])}"
    records = answer.get("records", [])
    offsets = ", ".join(record["offset"] for record in records[:4])
    more = ", ..." if len(records) > 4 else ""
    times = {shown(record["timestamp"]).strip('"') for record in records}
    time = f", timestamp {times.pop()}" if len(times) == 1 else ""
    count = f"{len(records)} record{'s' * (len(records) != 1)}"
    return f"reads {count}" + (f": offset {offsets}{more}{time}" if records else "")


def record(runner: ClientRunner, runs: Sequence[Run]) -> None:
    """Write results.json, and known.json with the failures of the newest version."""
    content = {"vectors": load_version(VECTORS), "runs": [asdict(run) for run in runs]}
    write_json(runner.folder / "results.json", content)
    newest = [run for run in runs if run.version == runs[-1].version]
    failed = {name: words for run in newest for name, words in run.failed.items()}
    write_json(runner.known_file, {name: {"reason": failed[name]} for name in sorted(failed)})


def load_runs(runner: ClientRunner) -> list[Run]:
    """Return the recorded runs of *runner*; none if it was never run."""
    file = runner.folder / "results.json"
    return [Run(**run) for run in json.loads(file.read_bytes())["runs"]] if file.is_file() else []


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
