"""Digests of the partition folders that `magicbyte.restore` writes, recorded after brokers have taken them."""

import hashlib
import json
from pathlib import Path

import magicbyte as mb
from clusters import Cluster, clusters_in
from paths import DATA

RECORDED = DATA.parent / "writing" / "restored_folders.json"
"""Digests by cluster and partition, which `make test-brokers` writes with MAGICBYTE_RECORD=1."""

UNSUITABLE = ("killed", "tiered")
"""Clusters whose oracles do not say all: a consumer never read their end, or read remote segments too."""


def suitable_clusters(*roots: Path) -> list[Cluster]:
    """Return the clusters in *roots*, or in tests/data, whose partitions are restored by tests."""
    clusters = clusters_in(*(roots or (DATA,)))
    return [each for each in clusters if each.name.rpartition("-")[2] not in UNSUITABLE]


def folder_digests(report: mb.RewriteReport) -> dict[str, str]:
    """Return a digest of the names and bytes of all files in each partition folder that *report* names.

    Folders with an entry that was cut are left out: its compressed bytes depend on the library of the codec.
    """
    digests = {}
    for row in report.partitions:
        if "cut" not in row["changed_entries"]:
            name, digest = f"{row['topic']}-{row['partition']}", hashlib.sha256()
            for path in sorted(Path(report.output_path or "", name).iterdir()):
                data = path.read_bytes()
                digest.update(f"{path.name} {len(data)}\n".encode() + data)
            digests[name] = digest.hexdigest()[:16]
    return digests


def recorded() -> dict[str, dict[str, str]]:
    """Return the digests that were recorded, by cluster and partition."""
    digests: dict[str, dict[str, str]] = json.loads(RECORDED.read_text())
    return digests
