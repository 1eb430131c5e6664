"""Builds segments as remote storage plugins store them, from segments of real brokers."""

import base64
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zstandard

from log_reader import spans

KINDS = {
    "offset": "index",
    "timestamp": "timeindex",
    "producerSnapshot": "snapshot",
    "leaderEpoch": "leader_epoch_checkpoint",
    "transaction": "txnindex",
}
"""Names of companion files in a manifest and in LocalTieredStorage."""


def batches_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (base offset, bytes) of each v2 batch of a segment."""
    for begin, end in spans(data):
        yield int.from_bytes(data[begin : begin + 8]), data[begin:end]


def local_tiered(folder: Path, segment_id: str, data: bytes, epochs: dict[int, int]) -> Path:
    """Write the batches *data* as a segment of LocalTieredStorage; return the path of its `.log`.

    *epochs* maps each leader epoch to its start offset.
    """
    folder.mkdir(parents=True, exist_ok=True)
    base, _ = next(batches_of(data))
    log = folder / f"{base:020}-{segment_id}.log"
    log.write_bytes(data)
    lines = [0, len(epochs), *(f"{epoch} {start}" for epoch, start in epochs.items())]
    text = "".join(f"{line}\n" for line in lines)
    log.with_suffix(".leader_epoch_checkpoint").write_text(text)
    return log


def segments_of(remote: Path, partition: str) -> list[Path]:
    """Return the paths of a partition's `.log` files in LocalTieredStorage, by base offset."""
    return sorted(remote.glob(f"*/{partition}-{'?' * 22}/*.log"))


Change = Callable[[dict[str, Any]], None]


def aiven(
    folder: Path,
    segment: Path,
    *,
    chunk_bytes: int = 1000,
    compress: bool = True,
    change: Change = lambda manifest: None,
    manifest: bool = True,
) -> Path:
    """Upload *segment*, of LocalTieredStorage, and its companions as Aiven's plugin would.

    *change* alters the manifest. Return the path of the `.log` object.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name, data = segment.name.removesuffix(".log"), segment.read_bytes()
    plain = [data[at : at + chunk_bytes] for at in range(0, len(data), chunk_bytes)]
    stored = [zstandard.compress(chunk) if compress else chunk for chunk in plain]
    log = folder / f"{name}.log"
    log.write_bytes(b"".join(stored))
    indexes, places = b"", {}
    for field, kind in KINDS.items():
        beside = segment.with_name(f"{name}.{kind}")
        part = beside.read_bytes() if beside.exists() else None
        places[field] = None if part is None else {"position": len(indexes), "size": len(part)}
        indexes += part or b""
    (folder / f"{name}.indexes").write_bytes(indexes)
    sizes = [len(chunk) for chunk in stored]
    index: dict[str, Any] = {"originalChunkSize": chunk_bytes, "originalFileSize": len(data)}
    if len(set(sizes[:-1])) <= 1:
        index |= {
            "type": "fixed",
            "transformedChunkSize": sizes[0],
            "finalTransformedChunkSize": sizes[-1],
        }
    else:
        index |= {"type": "variable", "transformedChunks": chunk_table(sizes)}
    made = {
        "version": "1",
        "chunkIndex": index,
        "segmentIndexes": places,
        "compression": compress,
        "remoteLogSegmentMetadata": {"startOffset": int(name[:20])},
    }
    change(made)
    if manifest:
        (folder / f"{name}.rsm-manifest").write_text(json.dumps(made))
    return log


def chunk_table(sizes: list[int]) -> str:
    """Encode the chunk *sizes* in bytes as Aiven's manifest does: deltas, zstd, base64."""
    body = struct.pack(">i", len(sizes))
    if len(sizes) == 1:
        body += struct.pack(">i", sizes[0])
    elif sizes:
        least = min(sizes[:-1])
        width = max(1, ((max(sizes[:-1]) - least).bit_length() + 7) // 8)
        body += struct.pack(">iB", least, width)
        body += b"".join((size - least).to_bytes(width, "big") for size in sizes[:-1])
        body += struct.pack(">i", sizes[-1])
    return base64.b64encode(zstandard.compress(body)).decode()


def aiven_partition(remote: Path, out: Path, partition: str, **options: Any) -> Path:
    """Upload all remote segments of *partition* with `aiven`; return the partition's folder."""
    segments = segments_of(remote, partition)
    topic, _, number = partition.rpartition("-")
    topic_id = segments[0].parent.name[-22:]
    folder = out / f"{topic}-{topic_id}" / number
    for segment in segments:
        aiven(folder, segment, **options)
    return folder
