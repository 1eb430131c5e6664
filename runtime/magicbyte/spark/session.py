"""A Spark session that starts fast, stays on this machine and is quiet."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from magicbyte.errors import InputError
from magicbyte.spark.javahome import use_java

QUICK = ("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
"""Half of the start-up is Java's compiler at work for a future that a small input has not."""


@contextmanager
def session(
    master: str, conf: Mapping[str, str], *, is_short: bool = False
) -> Iterator[SparkSession]:
    """Give a session on *master* with *conf*; it ends with the context.

    *is_short*: little is to be done, so that Java should rather start fast than run fast.
    Where one is running already, it is used in a session of its own, and goes on. What Spark and
    Java print goes to a file that is deleted at the end; nothing is written to the current
    folder. Raises InputError where Spark does not start, with the line that says why.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running.newSession()
        return
    scratch = Path(tempfile.mkdtemp(prefix="magicbyte-spark-"))
    try:
        settings = {QUICK[0]: QUICK[1], **conf} if is_short else conf
        made = _start(master, settings, scratch)
        try:
            yield made
        finally:
            with _errors_to(scratch / "spark.log"):
                made.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class Lazy:
    """A session that starts when it is first asked for, and ends with the context."""

    def __init__(
        self, master: str, conf: Mapping[str, str], *, is_short: bool, say: Callable[[str], None]
    ) -> None:
        """*say* is told when it has started; the other arguments are those of `session`."""
        self.version: str | None = None
        """Of Spark; None: it was not asked for."""
        self._start = partial(session, master, conf, is_short=is_short)
        self._say = say
        self._ends = ExitStack()
        self._made: SparkSession | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._ends.__exit__(*error)

    def get(self) -> SparkSession:
        """Return the session. Raises InputError where it does not start."""
        if self._made is None:
            begun = time.monotonic()
            self._made = self._ends.enter_context(self._start())
            self.version = self._made.version
            self._say(f"Spark {self.version} started ({time.monotonic() - begun:.1f} s)")
        return self._made


def _start(master: str, conf: Mapping[str, str], scratch: Path) -> SparkSession:
    use_java()
    is_local = master.startswith("local")
    if is_local:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **({"spark.driver.host": "127.0.0.1"} if is_local else {}),
        **conf,
    }
    builder = SparkSession.builder.master(master).appName("magicbyte pipeline")
    for name, value in settings.items():
        builder = builder.config(name, value)
    printed = scratch / "spark.log"
    try:
        with _errors_to(printed):
            made = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise InputError(f"Spark did not start on {master}: {_gist(printed, error)}") from error
    made.sparkContext.setLogLevel("ERROR")
    return made


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """Send what this process, and those that it starts, print to stderr to the file *path*."""
    sys.stderr.flush()
    saved = os.dup(2)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(file)


def _gist(printed: Path, error: Exception) -> str:
    """Return the line of what Spark *printed* that says why it did not start."""
    text = printed.read_text(errors="replace") if printed.exists() else ""
    lines = [line.strip() for line in text.split("\n")]
    said = [line for line in lines if line and not line.startswith("at ")]
    reasons = [line for line in said if "Exception" in line or "rror" in line]
    return (reasons or said[-1:] or [str(error)])[0]
