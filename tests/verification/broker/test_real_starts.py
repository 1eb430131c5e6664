"""Tests of predictions against what brokers did when they were started on log.dirs.

Brokers of 2.8, 3.9, 4.3 and 4.4 were started on each case. All cases are compared with a real command by
`checks/startup.py` beside the cases; here is one release of each case, in this process.
"""

import importlib.util
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import magicbyte as mb
from paths import shared

CASES = shared() / "logdir-cases"
BUILDER = shared() / "brokers" / "logdir_cases.py"
HOLDS = ("lock-held",)
"""Cases that another process takes part in."""

pytestmark = pytest.mark.skipif(
    not (CASES.is_dir() and BUILDER.is_file()),
    reason="no cases of log.dirs beside the checkout (MAGICBYTE_SHARED)",
)


@cache
def builder() -> ModuleType:
    """Return the module that builds the cases."""
    spec = importlib.util.spec_from_file_location("logdir_cases", BUILDER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(
            str(BUILDER.parent)
        )  # it imports a module beside it, and alters the path
        patch.delitem(sys.modules, "brokers", raising=False)
        spec.loader.exec_module(module)
        sys.modules.pop("brokers", None)
    return module


def cases() -> Iterator[Any]:
    """Yield one release of each case that needs no privileges, in turn."""
    if not (CASES.is_dir() and BUILDER.is_file()):
        return
    outcomes = json.loads((CASES / "outcomes.json").read_text())
    about = json.loads((CASES / "cases.json").read_text())
    for number, name in enumerate(about):
        releases = [release for release in outcomes if name in outcomes[release]]
        is_special = about[name].get("unprivileged") or "read-only" in str(
            about[name]["operations"]
        )
        if releases and not is_special and name not in HOLDS:
            release = releases[number % len(releases)]
            yield pytest.param(
                name, release, outcomes[release][name]["expect"], id=f"{name}-{release}"
            )


@pytest.mark.parametrize(("name", "release", "expected"), list(cases()))
def test_prediction_is_what_the_broker_did(
    name: str, release: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    module = builder()
    case = module.load(CASES)[name]
    short = ".".join(release.split(".")[:2])
    root = tmp_path / "case"
    case.build(root, short)
    found = mb.verify(*(root / path for path in case.paths(short)), kafka_version=release)
    wanted = expected.get("accept") or [expected["verdict"]]
    if "brokers" not in expected:
        verdicts = [broker.verdict for broker in found.brokers]
        assert set(verdicts) & set(wanted), (verdicts, [b.reasons for b in found.brokers])
        if expected["verdict"] in verdicts:
            reasons = {code for broker in found.brokers for code in broker.reasons}
            assert not expected["reasons"] or reasons & set(expected["reasons"])
    if expected["verdict"] == "refuses-to-start":
        return
    rows: dict[str, set[str]] = {}
    for row in found.partitions:
        rows.setdefault(f"{row['topic']}-{row['partition']}", set()).add(row["verdict"])
    for partition, outcome in expected["partitions"].items():
        accepted = outcome.get("accept") or [outcome["verdict"]]
        assert rows.get(partition, set()) & set(accepted), (
            partition,
            rows.get(partition),
            accepted,
        )
