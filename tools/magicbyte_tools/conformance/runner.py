"""Runs the executable under test, a runner, on conformance cases and returns its answers."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby, islice
from typing import Any, Literal

from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.child import Child, ChildError, ProcessBounds

SETTINGS_VARIABLE = "CONFORMANCE_SETTINGS"
"""Environment variable with the settings of a case, as JSON."""

MAX_FILES = 500
"""Largest number of files on one command line."""

MAX_SILENT_STARTS = 3
"""Starts of a runner that may end without any answer before the run is given up."""

ProcessPer = Literal["case", "format", "run"]


Output = bytes | ChildError
"""Bytes printed for a case, or the error of the child process."""


class SilentRunnerError(Exception):
    """A runner answered none of its first cases: most likely it cannot run at all."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a case: a JSON value, or the reason why there is none."""

    content: Any = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """A command, the way it receives cases, and its limits."""

    command: Sequence[str]
    process_per: ProcessPer = "case"
    """Cases per process. `case`: COMMAND FORMAT FILE. `format`: COMMAND FORMAT FILE..., which prints
    a line for each file. `run`: COMMAND --lines, with one request per line of its standard input."""
    bounds: ProcessBounds = field(default_factory=ProcessBounds)
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names by which the command knows formats, by the format's name in the vectors."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Reasons why the command cannot read a format, by the format's name."""

    def answers(
        self, cases: Iterable[Case], lacks: Sequence[str] = ()
    ) -> Iterator[tuple[Case, Answer]]:
        """Yield each of *cases* with its answer, in order.

        Cases that need a feature in *lacks* are not run.

        A case that crashes or blocks the process fails alone; the next case has a new process. Raises
        OSError if the command cannot be started, and SilentRunnerError if it has answered nothing
        after MAX_SILENT_STARTS cases.
        """
        num_silent = 0
        has_answered = False
        for case, output in self.outputs(cases, lacks):
            answer = parse(output)
            has_answered = has_answered or (isinstance(output, bytes) and bool(output.strip()))
            if not has_answered:
                num_silent += 1
                if num_silent == MAX_SILENT_STARTS:
                    raise SilentRunnerError(
                        f"{' '.join(self.command)}: no answer to any of the first "
                        f"{num_silent} cases; to the last: {answer.failure}"
                    )
            yield case, answer

    def outputs(
        self, cases: Iterable[Case], lacks: Sequence[str] = ()
    ) -> Iterator[tuple[Case, Output]]:
        """Yield each of *cases* with the bytes that the command printed for it, or with the error."""

        def answer_unasked(case: Case) -> dict[str, Any] | None:
            if case.format in self.unread:
                return {"unsupported": self.unread[case.format]}
            lacking = [name for name in lacks if name in case.content.get("needs", ())]
            return {"unsupported": f"it lacks {lacking[0]}", "lacks": lacking} if lacking else None

        for is_asked, group in groupby(cases, lambda case: answer_unasked(case) is None):
            if is_asked:
                yield from self._run_cases(list(group))
            else:
                for case in group:
                    yield case, json.dumps(answer_unasked(case)).encode()

    def _run_cases(self, cases: list[Case]) -> Iterator[tuple[Case, Output]]:
        match self.process_per:
            case "case":
                for one in cases:
                    yield one, self._run_case(one)
            case "format":
                for _, group in groupby(cases, lambda case: (case.format, case.settings)):
                    while some := list(islice(group, MAX_FILES)):
                        yield from self._files(some)
            case "run":
                yield from self._lines(cases)

    def _run_case(self, case: Case) -> Output:
        command = [*self.command, self._name(case), str(case.data_path)]
        with Child(command, self.bounds, environment=_environment(case)) as child:
            try:
                return child.output()
            except ChildError as error:
                return error

    def _files(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Output]]:
        def command(left: Sequence[Case]) -> list[str]:
            return [*self.command, self._name(left[0]), *(str(case.data_path) for case in left)]

        return self._many(cases, command, lambda child, case: None)

    def _lines(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Output]]:
        def ask(child: Child, case: Case) -> None:
            request = {"format": self._name(case), "file": str(case.data_path), **case.settings}
            child.send(json.dumps(request).encode())

        return self._many(cases, lambda left: [*self.command, "--lines"], ask)

    def _many(
        self,
        cases: Sequence[Case],
        command_for: Callable[[Sequence[Case]], list[str]],
        ask: Callable[[Child, Case], None],
    ) -> Iterator[tuple[Case, Output]]:
        """Yield each of *cases* with the line printed for it, by as few processes as possible.

        If a process fails at a case, a new process begins with this case, since the cases before
        may have caused the failure. A case that fails as the first of a process has failed.
        """
        done = 0
        while done < len(cases):
            first = done
            environment = _environment(cases[done])
            with Child(command_for(cases[done:]), self.bounds, environment=environment) as child:
                for case in cases[done:]:
                    ask(child, case)
                    try:
                        line: Output = child.line()
                    except ChildError as error:
                        if done == first:
                            done += 1
                            yield case, error
                        break
                    done += 1
                    yield case, line

    def _name(self, case: Case) -> str:
        return self.aliases.get(case.format, case.format)


def _environment(case: Case) -> dict[str, str]:
    return {SETTINGS_VARIABLE: json.dumps(case.settings)} if case.settings else {}


def parse(engine_output: Output) -> Answer:
    """Return *engine_output* parsed as JSON, or the failure. Fractions become Decimal, so 70.0 is not equal to 70."""
    if isinstance(engine_output, ChildError):
        return Answer(failure=str(engine_output))
    if not engine_output.strip():
        return Answer(failure="printed nothing")
    try:
        return Answer(json.loads(engine_output, parse_float=Decimal))
    except (ValueError, RecursionError) as error:
        return Answer(failure=f"printed no JSON: {error}")
