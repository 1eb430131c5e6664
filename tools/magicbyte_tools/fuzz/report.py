"""Collects and prints the report of a fuzzing run."""

import sys
import time
from collections import Counter
from pathlib import Path
from threading import Lock

from magicbyte_tools.fuzz.task import ENTRIES, Failure, Message, Tally

SHOWN = (
    "cases",
    "ranges",
    "withheld",
    "by index",
    "by offset index",
    "sound",
    "damaged",
    "accepted",
    "refused",
    "no entry",
    "accepted, compared",
    "refused, compared",
)

MAX_MESSAGE = 2000
"""Limit of a message in characters: a difference may contain the full reports of two reads."""


class FuzzReport:
    def __init__(self, *, seed: int, out: Path, say_every_s: float = 60) -> None:
        self.seed, self.out, self.say_every_s = seed, out, say_every_s
        self.tally: Tally = Counter()
        self.failures: list[Failure] = []
        self._lock = Lock()
        self._began = self._said = time.monotonic()

    def add(self, told: Message) -> None:
        with self._lock:
            if isinstance(told, Failure):
                self.failures.append(told)
                print(self._line(told), flush=True)
                return
            self.tally.update(told)
            now = time.monotonic()
            if now - self._said >= self.say_every_s:
                self._said = now
                print(f"... {self.total('cases')} cases", file=sys.stderr, flush=True)

    def total(self, what: str) -> int:
        return sum(count for (_, became), count in self.tally.items() if became == what)

    def _line(self, failure: Failure) -> str:
        place = self.out / f"{failure.what}-{self.seed}-{failure.case}"
        for name, data in failure.files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
        if list(failure.files) == [ENTRIES]:
            place /= ENTRIES
        message = " ".join(failure.message[:MAX_MESSAGE].split())
        case = f"case {failure.case} ({failure.kind}), seed {self.seed}"
        return f"{failure.what}: {message}: {case}: {place}"

    def finish(self) -> int:
        """Print the tally by kind of entry and the number of failures; return the exit status."""
        took_s = time.monotonic() - self._began
        columns = [what for what in SHOWN if self.total(what)]
        width = max((len(kind) for kind, _ in self.tally), default=0)
        print(" " * width, *(f"{what:>18}" for what in columns))
        for kind in sorted({kind for kind, _ in self.tally}):
            print(f"{kind:{width}}", *(f"{self.tally[kind, what]:18}" for what in columns))
        print(f"{'all':{width}}", *(f"{self.total(what):18}" for what in columns))
        counts = Counter(failure.what for failure in self.failures)
        wrong = ", ".join(
            f"{counts[what]} {what}s" for what in ("fault", "hang", "error", "difference")
        )
        cases = self.total("cases")
        print(f"{cases} cases in {took_s:.0f} s, {cases / took_s:.0f} a second; seed {self.seed}")
        print(wrong)
        return 1 if self.failures or not cases else 0
