"""Fuzzes single log entries: decodes millions of mutated entries between guard pages."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from magicbyte_tools.fuzz import seeds
from magicbyte_tools.fuzz.group import NUM_CASES, CaseGroup, FuzzCase, arrangements, group
from magicbyte_tools.fuzz.seed import Seed
from magicbyte_tools.fuzz.task import ENTRIES, Failure, Message, Tally, What
from magicbyte_tools.fuzz.trial import MakeEngine, Trial

TOLD_EVERY = 64
"""Number of groups after which a task sends its tally."""


@dataclass(frozen=True)
class EntryFuzzTask:
    """Task that decodes the mutated entries of whole groups of cases."""

    first: int
    end: int
    seed: int
    log_paths: tuple[Path, ...] = ()
    """Log files whose entries are also used as seeds."""
    most_compared: int = 0
    """Number of accepted entries after which no further group is compared with the reference engine."""
    share: float = 1.0
    """Share of the groups that are compared with the reference engine."""
    make: MakeEngine | None = None
    is_alone: bool = False

    @cached_property
    def seeds(self) -> list[Seed]:
        return [*seeds.built(self.seed), *seeds.of_logs(self.log_paths)]

    def group(self, case: int) -> CaseGroup:
        return group(case // NUM_CASES, seed=self.seed, seeds=self.seeds)

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        trial = Trial(self.make)
        tally: Tally = Counter()
        num_compared = 0
        for done, case in enumerate(range(self.first, self.end, NUM_CASES), start=1):
            one = self.group(case)
            is_compared = self.is_alone or (
                one.lot < self.share and num_compared < self.most_compared
            )
            for call in _calls(one, is_alone=self.is_alone):
                begin(call[0].number)
                accepted = self._call(trial, call, one, tally, send, is_compared=is_compared)
                num_compared += accepted if is_compared else 0
            if done % TOLD_EVERY == 0:
                send(tally)
                tally = Counter()
        send(tally)

    def _call(
        self,
        trial: Trial,
        call: Sequence[FuzzCase],
        group: CaseGroup,
        tally: Tally,
        send: Callable[[Message], None],
        *,
        is_compared: bool,
    ) -> int:
        """Decode the cases in *call* by the engine; return the number of cases that it accepted."""
        try:
            tried = trial.run(
                [case.data for case in call], group.arrangement, is_compared=is_compared
            )
        except Exception as error:  # any exception here is a failure to report
            send(self._narrowed("error", trial, call, group, _named(error)))
            return 0
        position = accepted = 0
        for case in call:
            tally[case.kind, "cases"] += 1
            if position in tried.accepted:
                accepted += 1
                tally[case.kind, "accepted"] += 1
                tally[case.kind, "accepted, compared"] += is_compared
            elif position in tried.framed:
                tally[case.kind, "refused"] += 1
                tally[case.kind, "refused, compared"] += is_compared
            else:
                tally[case.kind, "no entry"] += 1
            position += len(case.data)
        if tried.differences:
            send(self._narrowed("difference", trial, call, group, tried.differences[0]))
        return accepted

    def _narrowed(
        self, what: What, trial: Trial, call: Sequence[FuzzCase], group: CaseGroup, message: str
    ) -> Failure:
        """Return the failure of the first case in *call* that fails alone; if none does, of the whole call."""
        for case in call:
            try:
                tried = trial.run([case.data], group.arrangement, is_compared=True)
            except Exception as error:  # the failure *what*, or another one
                if what == "error":
                    return Failure(what, case.number, case.kind, _named(error), _file(case.data))
                continue
            if what == "difference" and tried.differences:
                told = tried.differences[0]
                return Failure(what, case.number, case.kind, told, _file(case.data))
        return self._together(what, call, message)

    @staticmethod
    def _together(what: What, call: Sequence[FuzzCase], message: str) -> Failure:
        data = b"".join(case.data for case in call)
        kind = f"{len(call)} together" if len(call) > 1 else call[0].kind
        return Failure(what, call[0].number, kind, message, _file(data))

    def alone(self, case: int) -> "EntryFuzzTask | None":
        first = case // NUM_CASES * NUM_CASES
        if self.is_alone:
            return None
        return replace(self, first=first, end=first + NUM_CASES, is_alone=True)

    def behind(self, case: int) -> "EntryFuzzTask":
        return replace(self, first=(case // NUM_CASES + 1) * NUM_CASES)

    def failure(self, what: What, case: int, message: str) -> Failure:
        for call in _calls(self.group(case), is_alone=self.is_alone):
            if call[0].number == case:
                return self._together(what, call, message)
        raise AssertionError(f"no call begins at case {case}")


@dataclass(frozen=True)
class Again:
    """Task that decodes the bytes of a file in every arrangement, one case each, by both engines."""

    data: bytes
    make: MakeEngine | None = None
    first: int = 0
    end: int = sum(1 for _ in arrangements())

    def run(self, begin: Callable[[int], None], send: Callable[[Message], None]) -> None:
        trial = Trial(self.make)
        for number, how in list(enumerate(arrangements()))[self.first : self.end]:
            begin(number)
            try:
                # The starts of the cases are unknown here: after bytes that are not an entry, try the next byte.
                tried = trial.run_bytes(self.data, range(len(self.data)), how, is_compared=True)
            except Exception as error:  # any exception here is a failure to report
                send(self.failure("error", number, _named(error)))
                continue
            for told in tried.differences[:1]:
                send(self.failure("difference", number, told))
            became = "accepted" if tried.accepted else "refused" if tried.framed else "no entry"
            send(Counter({("again", "cases"): 1, ("again", became): 1}))

    def alone(self, case: int) -> "Again | None":
        return None

    def behind(self, case: int) -> "Again":
        return replace(self, first=case + 1)

    def failure(self, what: What, case: int, message: str) -> Failure:
        how = list(arrangements())[case]
        return Failure(what, case, "again", f"{message}; {how}", _file(self.data))


def _calls(group: CaseGroup, *, is_alone: bool) -> list[list[FuzzCase]]:
    return [[case] for call in group.calls for case in call] if is_alone else group.calls


def _file(data: bytes) -> dict[str, bytes]:
    return {ENTRIES: data}


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
