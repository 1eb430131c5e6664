"""A Spark session for one command: it starts fast and prints nothing."""

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
from magicbyte.spark._javahome import use_java

FAST_START = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Settings for small inputs: optimizing compilation would double the startup time and not pay off."""


@contextmanager
def session(
    master: str, conf: Mapping[str, str], *, is_short: bool = False
) -> Iterator[SparkSession]:
    """Provide a session on *master* with *conf*, which ends with the context.

    If a session is running already, a new session of its Spark is used, and Spark keeps running.
    Output of Spark and Java goes to a temporary file; nothing is written to the current folder.
    *is_short*: the work is small, so start fast rather than run fast. Raises InputError, with the
    reason, if Spark does not start.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running.newSession()
        return
    scratch = Path(tempfile.mkdtemp(prefix="magicbyte-spark-"))
    try:
        settings = {**FAST_START, **conf} if is_short else conf
        started = _start(master, settings, scratch)
        try:
            yield started
        finally:
            with _errors_to(scratch / "spark.log"):
                started.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class LazySession:
    """A session that starts at first use and ends with the context."""

    def __init__(
        self, master: str, conf: Mapping[str, str], *, is_short: bool, say: Callable[[str], None]
    ) -> None:
        """Arguments as for `session`; *say* gets a sentence when Spark has started."""
        self.version: str | None = None
        """Version of Spark; None before the first use."""
        self._start = partial(session, master, conf, is_short=is_short)
        self._say = say
        self._stack = ExitStack()
        self._session: SparkSession | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self._stack.__exit__(*exc_info)

    def get(self) -> SparkSession:
        """Return the session. Raises InputError if it does not start."""
        if self._session is None:
            started_at = time.monotonic()
            self._session = self._stack.enter_context(self._start())
            self.version = self._session.version
            self._say(f"Spark {self.version} started ({time.monotonic() - started_at:.1f} s)")
        return self._session


def _start(master: str, conf: Mapping[str, str], scratch: Path) -> SparkSession:
    use_java()
    is_local = master.startswith("local")
    if is_local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if is_local and not master.startswith("local-cluster"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
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
    spark_log = scratch / "spark.log"
    try:
        with _errors_to(spark_log):
            started = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise InputError(f"Spark did not start on {master}: {_gist(spark_log, error)}") from error
    started.sparkContext.setLogLevel("ERROR")
    return started


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """Redirect stderr of this process, and of processes that it starts, to the file *path*."""
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


def _gist(spark_log: Path, error: Exception) -> str:
    """Return the line of *spark_log* that names the reason why Spark did not start."""
    text = spark_log.read_text(errors="replace") if spark_log.exists() else ""
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if line and not line.startswith("at ")]
    reasons = [line for line in lines if "Exception" in line or "rror" in line]
    return (reasons or lines[-1:] or [str(error)])[0]
