"""python -m magicbyte_tools.bench.process_reaper COMMAND...: runs a command to the end of all that it started.

Java outlives the Python that has started it for a moment: who counts only what its parent has
waited for would miss most of Spark. Linux alone knows how to adopt orphans.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence

PR_SET_CHILD_SUBREAPER = 36


def main(command: Sequence[str]) -> int:
    """Return the exit status of *command*, when it and its descendants have ended."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = subprocess.Popen(command)
    status = 1
    while True:
        try:
            ended, how = os.wait()
        except ChildProcessError:
            return status
        if ended == process.pid:
            status = process.returncode = os.waitstatus_to_exitcode(how)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
