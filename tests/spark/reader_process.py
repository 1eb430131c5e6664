"""A process that runs `reading.py`: it reads logs on command in a Spark session of its own."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from spark_environment import QUICK_START, environment

PROGRAM = Path(__file__).with_name("reading.py")


class ReaderProcess:
    """The process; it starts with the context and ends with it."""

    def __init__(
        self,
        master: str,
        *settings: str,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        java = (
            f"spark.{process}.extraJavaOptions={QUICK_START}" for process in ("driver", "executor")
        )
        self._env = environment() if env is None else env
        self._cwd = cwd
        self._command = [sys.executable, PROGRAM, master, *java, *settings]

    def __enter__(self) -> Self:
        self._stderr = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            self._command,
            env=self._env,
            cwd=self._cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._process.__exit__(*exc_info)
        self._stderr.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to *command*, as `reading.py` documents both."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        self._stderr.seek(0)
        raise AssertionError(
            f"the process ended: {self._process.wait()}\n{self._stderr.read()[-3000:]}"
        )
