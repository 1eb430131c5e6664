"""Prints the results of a benchmark as Markdown: the page docs/performance.md."""

from collections.abc import Sequence
from statistics import median

from magicbyte.limits import MIB
from magicbyte.reading._walk import MAX_BATCH_BYTES, MAX_NUMBERS_BATCH_BYTES
from magicbyte_tools.bench import contenders as who
from magicbyte_tools.bench.damage import DAMAGED, SOUND
from magicbyte_tools.bench.damage_profile import PARTS as PARTS_OF_DAMAGE
from magicbyte_tools.bench.data import KINDS
from magicbyte_tools.bench.goals import NOISE, Goal, goals
from magicbyte_tools.bench.header_scan import HeaderScan
from magicbyte_tools.bench.jobs import ProcessJob
from magicbyte_tools.bench.measure import Cell
from magicbyte_tools.bench.profile import PARTS, Profile
from magicbyte_tools.bench.ratios import per_second, spread, wall_ratio
from magicbyte_tools.bench.record_data import SHAPES
from magicbyte_tools.bench.results import Results
from magicbyte_tools.costs.cost_page import table

INTRODUCTION = """\
# Performance

This page shows how fast the engine `{run.engine}` reads, beside others that read the same bytes. Compare the
ratios: all readers run on the same machine, in turn, pass after pass. A ratio is computed inside
each turn, and the table has its median over {run.repetitions} turns. Times themselves say little about another
machine.

    {run.command}

runs the same on your machine, and writes this page. All figures come from that run.

## What is measured

- **Time** is CPU time of the thread that reads, in processes of their own, warmed up: two passes before
  the first that counts; for Java, which compiles what it has run often, passes for three seconds of
  CPU, in a process for each of its modes. By the clock only threads and start-up are compared.
- **Ours** verifies each checksum and makes Arrow record batches of about {group_mb} MiB of entries: offset,
  timestamp, key, value, headers; *views*, where batches are not compressed, are `binary_view` of what was
  read for keys and values; *offsets* are offset and timestamp alone, of {numbers_mb} MiB of entries. Each is released before the next is requested, so its memory is used again;
  *one kept* releases it afterwards. The bytes are in memory beforehand, given all at once, unless it says *file*; *mb.open* is the whole
  library, from a path, with transactions, findings and the other default columns left out.
- **Java** is Kafka's own reader, driven as its consumer drives it: `ensureValid`, a streaming iterator,
  buffers reused. *Exact* copies each column into an array of exact size every 4 MiB, as an Arrow batch
  must have it: the like-for-like peer. *Columns* fills the same arrays and hands nothing out. *File* is
  `FileRecords`, else `MemoryRecords`. Its garbage collector and that of Go run in threads of their own,
  which do not count.
- **Go** is franz-go and **Rust** the crate kafka-protocol, which reads no v0 and v1: their own decoders,
  for Go with its pools and what a fetch of 1 MiB holds at a time, and then *columns* as in Java.
- **aiokafka** and **kafka-python** check the checksum and iterate over their record objects; no
  columns. kafka-python reads the first MiB of a file only.
- **The floor** is the checksum of the stored bytes, decompression, and one copy, by the fastest
  libraries that were found, called from Python batch by batch. No reader can do less.

Before anything is measured, all readers must have found the same rows and the same bytes in each column.

The files are made from a seed: {run.mb} MiB of records each, seed {run.seed}. {shapes} A hundredth of all
keys and values are null. Batches hold up to 16 KiB, which is the producer's default, or 1 MiB. Compressed
payloads are framed as the Java producer's: gzip 6, xerial's snappy in blocks of 32 KiB, LZ4 frames in
independent blocks of 64 KiB and zstd 3, both without the content's size. v0 and v1 hold the same
rows, each message by itself or, with a codec, in wrappers.
"""


def page(results: Results, picture: str | None = None) -> str:
    """Return the page of *results* as Markdown; *picture* is the path of the plot for its link, or None."""
    shapes = "; ".join(f"`{shape.name}`: {shape.sentence}" for shape in SHAPES.values())
    introduction = INTRODUCTION.format(
        run=results,
        group_mb=MAX_BATCH_BYTES // MIB,
        numbers_mb=MAX_NUMBERS_BATCH_BYTES // MIB,
        shapes=f"{shapes}.",
    )
    parts = [introduction, "## The run\n\n" + _run(results)]
    if results.cells:
        plot = f"![Time to the floor]({picture})\n\n" if picture else ""
        parts.append("## Records per second\n\n" + plot + _speeds(results.cells))
    parts.append("## Goals\n\n" + _goals(list(goals(results))))
    if results.profiles:
        spent = _parts_of(results.profiles, PARTS)
        parts.append("## Where the time goes\n\n" + PROFILES + spent)
    if results.threads:
        parts.append("## Threads\n\n" + _threads(results.threads, results.threads_mb))
    if results.sizes:
        parts.append("## Size of the file, and memory\n\n" + _sizes(results.sizes))
    if results.jobs:
        parts.append("## Whole jobs\n\n" + _whole_jobs(results))
    if results.headers:
        parts.append("## Headers alone\n\n" + _headers(results.headers, results.jobs_mb))
    if results.damage:
        damaged = _damage(results.damage, results.damage_mb)
        if results.damage_profiles:
            spent = _parts_of(results.damage_profiles, PARTS_OF_DAMAGE)
            damaged += "\n" + PROFILE_OF_DAMAGE + spent
        parts.append("## Damage\n\n" + damaged)
    if results.starts:
        text = "Processes that import a package and end, in turn; bytecode is kept.\n\n"
        parts.append("## Starts\n\n" + text + _jobs(results.starts))
    return "\n".join(parts)


def _number(number: float | None, digits: int = 2) -> str:
    return "" if number is None else f"{number:,.{digits}f}"


def _millions(number: float | None, digits: int = 2) -> str:
    return "" if number is None else _number(number / 1e6, digits)


def _run(results: Results) -> str:
    rows = [[name, value] for name, value in results.machine.items()]
    measured = [*results.cells, *results.threads, *results.sizes.values()]
    measured += [results.damage] if results.damage else []
    busy = [cell.busy for cell in measured if cell.busy is not None]
    if busy:
        middle = sorted(busy)[len(busy) // 2]
        share = f"{middle:.0%} of the processors (median over the files; at most {max(busy):.0%})"
        rows.append(["other programs took", share])
    for name, reason in results.left_out.items():
        # What a compiler says has bars in it.
        rows.append([f"left out: {name}", reason.replace("|", "\\|")])
    return table(["Machine", ""], rows)


def _speeds(cells: Sequence[Cell]) -> str:
    order = {kind.name: number for number, kind in enumerate(KINDS)}
    names = [name for name in COLUMNS if any(name in cell.cpu_ns for cell in cells)]
    rows = []
    for cell in sorted(cells, key=lambda cell: order[cell.name]):
        millions = [_millions(per_second(cell, name)) for name in names]
        apart = spread(cell, who.OURS), spread(cell, who.JAVA_EXACT)
        rows.append([cell.name, *millions, ", ".join(f"{x:.0%}" for x in apart if x is not None)])
    text = (
        "Millions of records per second of CPU, one thread. The spread is that of ours and of Java\n"
        "exact: how far the times lie apart, the outermost left out.\n\n"
    )
    return text + table(["File", *names, "spread"], rows)


COLUMNS = (
    who.OURS,
    who.JAVA_EXACT,
    who.JAVA_COLUMNS,
    who.GO,
    who.RUST,
    who.AIOKAFKA,
    who.KAFKA_PYTHON,
    who.FLOOR,
    who.OURS_KEPT,
    who.OURS_VIEWS,
    who.OURS_OFFSETS,
    who.JAVA_OFFSETS,
    who.OURS_FILE,
    who.JAVA_FILE,
    who.OURS_OPEN,
)


def _goals(every: Sequence[Goal]) -> str:
    counts = {
        verdict: sum(goal.verdict == verdict for goal in every)
        for verdict in ("met", "accepted", "missed", "not measured")
    }
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    text = (
        f"Of {len(every)} goals: {said}. Accepted is a result within {NOISE} times its goal, where a goal\n"
        "allows that.\n\n"
    )
    parts = []
    for what in dict.fromkeys(goal.what for goal in every):
        rows = [
            [
                goal.cell,
                _number(goal.measured),
                f"{'≥' if goal.is_least else '≤'} {_number(goal.bound)}",
                f"**{goal.verdict}**" if goal.verdict == "missed" else goal.verdict,
            ]
            for goal in every
            if goal.what == what
        ]
        title = what[0].upper() + what[1:]
        parts.append(f"### {title}\n\n" + table(["", "measured", "goal", ""], rows))
    return text + "\n".join(parts)


PROFILES = """\
The table has the CPU time of each part of the columnar engine, in nanoseconds per record, reading from memory. One call
of a kernel finds, verifies, decompresses and decodes the entries of an Arrow batch. A clock measures the whole call; checksums
and codecs are then run again by themselves, and some take longer that way. So the rest, *frames and records*, may be too small, or
even negative. For each part, this is what it would take to spend less:

- **checksums** and **codec** use the same instructions and libraries as the floor, except for snappy: a kernel decompresses
  it, because its library lets no other thread run. A batch of 1 MiB is verified and decompressed as a whole, and has left the nearer
  caches when its records are read. Reading the records block by block during the decompression would avoid that.
- **frames and records** is the rest of the call: entries are found by their size fields, and their records are written to
  columns. A record of 100 bytes takes about 12 ns, for seven varints whose ends are all checked. For a record of 1000 bytes the copy
  dominates, and memory bounds it: a third of the traffic are cache lines that are read only to be overwritten. Stores that bypass the
  caches would avoid that, but took a quarter longer where they were tried. Views copy nothing. In v0 and v1 each message
  is an entry with a descriptor of 136 bytes; half of that would do if it did not keep what follows from other fields. Each message
  also has a CRC-32, for which x86 has no instruction, unlike for the CRC-32C of v2: checksums take three times as long for
  messages of 100 bytes, and a third longer for those of 1000.
- **Python** is everything outside the call: less than thirty microseconds for an Arrow batch while Python's code is in the
  processor's caches, and four times that after a kernel has moved 4 MiB through them. Arrow gets all columns in one call, and
  memory is used again; about a dozen steps remain between two calls. Arrow batches of 8 MiB instead of 4 would halve the time, and
  take twice the memory.
- **views** and **offsets** of records of 1000 bytes spend most of their time on the checksum, which is as fast as memory. The walk to
  the end of each record takes ten to twenty nanoseconds, because each varint waits for the one before; Python takes about as
  much. Reading more than 4 MiB at a time was tried: from files it takes from a fifth more to several times as much, because the bytes
  have left the caches before they are walked. For the same reason batches of 1 MiB cost some nanoseconds more than those of 16 KiB.
  Verifying them piece by piece while their records are walked would save a part of these. The rest is Python's share.

A consumer that keeps each Arrow batch until it has the next one, as a plain loop does, is slower (*one kept* above): two batches do not
fit into the caches, and one does.

"""

PROFILE_OF_DAMAGE = """\
The table has the CPU time of each part of the library, in nanoseconds per record of the sound file, by clocks around them.
For each part, this is what it would take to spend less:

- **survey** finds where the log ends and how its transactions ended, before records are read. In a sound log headers are
  enough. With damage every byte is read and verified for the survey, and once more for the records: a damaged marker must not count
  as a sound one, and a marker decides about records before it. To verify once, the results of the first pass would have to be kept, or
  rows held back until the end of the log is known.
- **search** looks for the next entry if there is no sound one where the damaged one says that it ends.
- **reads** copy the file out of the page cache.
- **records** are decoded in runs of sound entries. Each run takes some tenths of a millisecond of Python (**runs and batches**),
  however few records it has. With damage in every hundredth entry a run is a third as long as one of 4 MiB.

"""


def _parts_of(profiles: Sequence[Profile], part_names: Sequence[str]) -> str:
    rows = []
    for one in profiles:
        spent = [median(one.spent[part]) for part in part_names]
        rows.append([one.name, *(_number(ns, 1) for ns in (*spent, sum(spent)))])
    return table(["File", *part_names, "all"], rows)


OF_THREADS = """\
Two threads are not twice as fast, mainly because of Python's lock. Kernels and codecs release it; what the table above calls
*Python* holds it. A thread that comes back from a kernel waits until the other one releases the lock, and until the system has
woken it. Memory matters less: two processes at once, which share no lock, took a tenth more CPU each than one alone
where nothing is compressed, and were about 1.9 times as fast as one. There an Arrow batch of 100-byte records takes less than a
millisecond, so both threads ask for the lock about a thousand times a second. Larger Arrow batches would help, or a Python
without that lock. If that matters to you, read in several processes, as Spark does.
"""


def _threads(cells: Sequence[Cell], mb: int) -> str:
    names = list(cells[0].wall_ns)
    rows = []
    for cell in cells:
        gains = [_number(wall_ratio(cell, names[0], name)) for name in names[1:]]
        rows.append([cell.name, *gains, "" if cell.busy is None else f"{cell.busy:.0%}"])
    text = (
        f"Times as fast as {names[0]}, by the clock, each with a decoder and a part of the file for\n"
        f"itself; {mb} MiB of records, as two are done with few before both have begun. CPU time that other programs took\n"
        f"meanwhile is missing from it. Before each read that is measured come {who.SETTLE_S:.1f} s of the same: a second processor\n"
        "that has had nothing to do is slow at first. Of ten reads by two threads after five by one, the first was 1.5\n"
        "times as fast as those, uncompressed and lz4; from the third or fourth on they came to 1.7 and 1.8.\n\n"
    )
    return text + table(["File", *names[1:], "others took"], rows) + "\n" + OF_THREADS


def _speed_and_peak(cell: Cell, name: str) -> list[str]:
    """Return two table cells of contender *name*: millions of records per CPU second, and peak MB."""
    return [_millions(per_second(cell, name)), _millions(cell.peak_bytes.get(name), 0)]


def _sizes(sizes: dict[str, Cell]) -> str:
    names = list(dict.fromkeys(name for cell in sizes.values() for name in cell.cpu_ns))
    rows = []
    for size, cell in sizes.items():
        figures = []
        for name in names:
            figures += _speed_and_peak(cell, name)
        rows.append([size, *figures])
    heads = [head for name in names for head in (f"{name}: M/s", "peak MB")]
    text = "Files of one kind, by MiB of records: `" + next(iter(sizes.values())).name + "`.\n\n"
    return text + table(["MiB", *heads], rows)


def _whole_jobs(results: Results) -> str:
    text = (
        f"These are processes as a user starts them; one file of {results.jobs_mb} MiB of records, lz4. CPU of the process\n"
        "and its children, not of the broker that a consumer reads from.\n\n"
    )
    return text + _jobs(results.jobs)


def _headers(headers: HeaderScan, mb: int) -> str:
    text = (
        f"One file of {mb} MiB of records, lz4, in the page cache: {headers.num_batches:,} batches. A pass is that of the\n"
        f"engine `columnar`, after {who.SETTLE_S:.1f} s of the same; the command is `magicbyte dump --table batches --quick`, as a\n"
        "process, less what it takes for the first batch alone. Bytes are those of all its reads, as Linux counts them.\n"
        "At least three quarters of a pass are the system call that a kernel makes for each header, and one that reads several would\n"
        "read the bytes in between.\n\n"
    )
    rows = [
        ["pass: CPU, µs", _number(headers.pass_us_per_batch)],
        ["command: CPU, µs", _number(headers.command_us_per_batch)],
        ["command: bytes read", _number(headers.bytes_per_batch)],
        ["command: CPU of all of it, s", _number(headers.whole.cpu)],
    ]
    return text + table(["Per batch", ""], rows)


def _damage(cell: Cell, mb: int) -> str:
    rows = [[name, *_speed_and_peak(cell, name)] for name in (SOUND, DAMAGED)]
    text = (
        f"One file of {mb} MiB of records, `{cell.name}`, and a copy with a flipped bit in every hundredth\n"
        'entry, as often in the header as after it, through `mb.open(..., on_damage="skip")` in turn. Millions\n'
        "of records of the sound file per second of CPU; by the clock the damaged one takes\n"
        f"{_number(wall_ratio(cell, DAMAGED, SOUND))} times as long.\n\n"
    )
    return text + table(["File", "M/s", "peak MB"], rows)


def _jobs(jobs: Sequence[ProcessJob]) -> str:
    rows = []
    for job in jobs:
        peak = max((peak for peak in job.peak_bytes if peak is not None), default=None)
        rows.append([job.name, f"{job.cpu:.2f}", f"{job.wall:.2f}", _millions(peak, 0)])
    return table(["Job", "CPU, s", "by the clock, s", "peak MB"], rows)
