"""The last line of `magicbyte verify`: what to do first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from magicbyte import CODES, Finding
from magicbyte.findings import worst
from magicbyte.logdir.unread_path import FAILURES, UnreadPath
from magicbyte.verification.broker import BrokerPrediction
from magicbyte_cli.verify_groups import (
    MAX_NAMES,
    PartitionGroup,
    broker_name,
    first_names,
    names_of,
    shown_path,
)


def advice_of_verdicts(names_by_verdict: Mapping[str, Sequence[str]]) -> str | None:
    """Return what to do first about partitions with these verdicts; None if no verdict is bad."""
    names = {verdict: first_names(of_verdict) for verdict, of_verdict in names_by_verdict.items()}
    if refusing := names.get("refuses-to-start"):
        return f"keep a copy of these files; then repair what keeps the broker from starting, in {refusing}"
    losses = []
    if truncated := names.get("truncated"):
        losses.append(f"lose offsets of {truncated}")
    not_served = [
        name
        for verdict in ("missing", "stray", "not-served")
        for name in names_by_verdict.get(verdict, ())
    ]
    if not_served:
        losses.append(f"not serve {first_names(not_served)}")
    if losses:
        return (
            "do not start a broker on these files before you have a copy: it would "
            f"{' and '.join(losses)}; look for the records in other replicas"
        )
    if damaged := names.get("unchanged-damaged"):
        return (
            f"keep a copy of these files, and compare {damaged} with other replicas; a startup "
            "repairs nothing"
        )
    return None


def first_thing(
    brokers: Sequence[BrokerPrediction],
    groups: Sequence[PartitionGroup],
    findings: Sequence[Finding],
    unread_paths: Sequence[UnreadPath],
) -> str | None:
    """Return what to do first; None where nothing was found."""
    for broker in brokers:
        if broker.verdict == "refuses-to-start":
            remedies = [CODES[code].remedy for code in broker.reasons if code in CODES]
            return (
                f"keep a copy of these files; then repair what keeps {broker_name(broker)} from "
                f"starting: {' '.join(remedies[:1])}"
            )
    names_by_verdict: defaultdict[str, list[str]] = defaultdict(list)
    for group in groups:
        names_by_verdict[group.row["verdict"]].append(group.name)
    if advice := advice_of_verdicts(names_by_verdict):
        return advice
    if failed := [unread.path for unread in unread_paths if unread.kind in FAILURES]:
        more = f" and {len(failed) - MAX_NAMES:,} more" if len(failed) > MAX_NAMES else ""
        return f"make these readable, or copy them from elsewhere: {', '.join(map(shown_path, failed[:MAX_NAMES]))}{more}"
    severity = worst(findings)
    if severity in ("error", "warning"):
        gravest = [group for group in groups if worst(group.findings) == severity]
        where = f" of {names_of(gravest)}" if gravest else ""
        safe = "" if severity == "error" else "no offset would be lost; "
        return f"{safe}look at the {severity}s{where}"
    if not findings:
        return None
    for broker in brokers:
        remedies = [CODES[code].remedy for code in broker.reasons if code in CODES]
        if broker.verdict == "unknown" and remedies:
            return f"find out whether {broker_name(broker)} would start: {remedies[0]}"
    return "nothing needs to be done: no offset would be lost"
