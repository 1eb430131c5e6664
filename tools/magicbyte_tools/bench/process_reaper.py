"""python -m magicbyte_tools.bench.process_reaper COMMAND...: runs a command until all its descendants have ended.

Spark's JVM ends a moment after the Python process that started it, so the CPU time of that process's
children would lack most of Spark. Works only on Linux, where a process can adopt orphans.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence

PR_SET_CHILD_SUBREAPER = 36


def main(command: Sequence[str]) -> int:
    """Run *command* until it and all its descendants have ended; return its exit status."""
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
