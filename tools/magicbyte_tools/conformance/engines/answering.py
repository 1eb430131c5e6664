"""Runner's side of the conformance protocol, for runners in Python."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Answer = dict[str, Any]
Reader = Callable[[str, Path, Mapping[str, Any]], Answer]
"""Reads a case, given format, path and settings, and returns the JSON answer to print."""


def hexadecimal(data: bytes | None) -> str | None:
    return None if data is None else bytes(data).hex()


def unsupported(reason: str) -> Answer:
    return {"unsupported": reason}


def serve(format_reader: Reader, arguments: Sequence[str]) -> None:
    """Print *format_reader*'s answers. *arguments*: `FORMAT FILE...`, or `--lines` for requests on stdin."""
    if arguments == ["--lines"]:
        for line in sys.stdin.buffer:
            request = json.loads(line)
            settings = {key: request[key] for key in request if key not in ("format", "file")}
            _print_answer(format_reader(request["format"], Path(request["file"]), settings))
        return
    if len(arguments) < 2:
        sys.exit(f"usage: {Path(sys.argv[0]).stem} FORMAT FILE... | --lines")
    settings = json.loads(os.environ.get("CONFORMANCE_SETTINGS", "{}"))
    for file in arguments[1:]:
        _print_answer(format_reader(arguments[0], Path(file), settings))


def _print_answer(answer: Answer) -> None:
    print(json.dumps(answer, separators=(",", ":")), flush=True)
