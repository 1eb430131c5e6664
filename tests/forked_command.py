"""Runs `magicbyte` in a fork of a process that has imported it, for tests that end the command at some moment."""

import multiprocessing
import os
import sys
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from types import TracebackType
from typing import Self

from magicbyte_cli import main


def _run(arguments: list[str], starts: Event) -> None:
    with open(os.devnull, "w") as nowhere:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere.fileno(), stream.fileno())
    starts.set()
    main(arguments)


class ForkedCommand:
    """The command, which prints nothing; it is running when the context begins."""

    def __init__(self, *arguments: str) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._starts = context.Event()
        self._process: BaseProcess = context.Process(target=_run, args=(arguments, self._starts))

    def __enter__(self) -> Self:
        self._process.start()
        assert self._starts.wait(60)
        return self

    def kill(self) -> int:
        """Kill the command if it still runs; return its exit status."""
        self._process.kill()
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        self._process.close()
