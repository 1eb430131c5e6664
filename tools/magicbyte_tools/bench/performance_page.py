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

How fast the engine `{run.engine}` reads, beside others that read the same bytes. What is compared are
ratios: everybody runs on the same machine, in turn, pass after pass, and a ratio is formed inside
each turn; the table has its median over {run.repetitions} turns. Times themselves say little about another
machine.

    {run.command}

makes the same run on yours, and writes this page. Nothing on it was written by hand.

## What is measured

- **Time** is CPU time of the thread that reads, in processes of their own, warmed up: two passes before
  the first that counts; for Java, which compiles what it has run often, passes for three seconds of
  CPU, in a process for each of its modes. By the clock only threads and start-up are compared.
- **Ours** verifies each checksum and makes Arrow record batches of about {group_mb} MiB of entries: offset,
  timestamp, key, value, headers; *views*, where batches are not compressed, are `binary_view` of what was
  read for keys and values; *offsets* are offset and timestamp alone, of {numbers_mb} MiB of entries. Each is let go before the next is asked for, so its memory is used again;
  *one kept* lets go of it afterwards. The bytes are in memory beforehand, given all at once, unless it says *file*; *mb.open* is the whole
  library, from a path, with transactions, findings and the other default columns left out.
- **Java** is Kafka's own reader, driven as its consumer drives it: `ensureValid`, a streaming iterator,
  buffers reused. *Exact* copies each column into an array of exact size every 4 MiB, as an Arrow batch
  must have it: the like-for-like peer. *Columns* fills the same arrays and hands nothing out. *File* is
  `FileRecords`, else `MemoryRecords`. Its garbage collector has a thread of its own, which does not
  count, as that of Go does not.
- **Go** is franz-go and **Rust** the crate kafka-protocol, which reads no v0 and v1: their own decoders,
  for Go with its pools and what a fetch of 1 MiB holds at a time, and then *columns* as in Java.
- **aiokafka** and **kafka-python** check the checksum and iterate over their record objects; no
  columns. kafka-python reads the first MiB of a file only.
- **The floor** is the checksum of the stored bytes, decompression, and one copy, by the fastest
  libraries that were found, called from Python batch by batch. No reader can do less.

Before anything is measured, everybody must have found the same rows and the same bytes in each column.

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
        f"Of {len(every)} goals: {said}. Accepted is what lies within {NOISE} times its goal, where a goal\n"
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
Nanoseconds of CPU per record that the parts of the columnar engine take, from memory. Kernels frame, verify,
decompress and decode some entries at a time, all in one call for a record batch: a clock is around that, and
checksums and codecs are run once more by themselves. That takes some of them longer, so that what is left may
be too little, or less than nothing. What it would take to spend less:

- **checksums** and **codec** are those of the floor, by the same instructions and libraries; but snappy
  is decompressed by a kernel, as its library lets no other thread run. A batch of 1 MiB is verified and
  decompressed as a whole before its records are read, and has left the nearer caches by then: to read
  records while it is decompressed, block by block, would spare that.
- **frames and records** is what is left of the call: entries are found by their size fields, and their
  records walked and written to columns. Of 100 bytes each takes some 12 ns, seven varints whose every end
  is checked. Of 1000 bytes it is the copy, and that is memory: what is read comes from there anew, and a
  third of what is moved are lines that are read only to be overwritten. Stores past the caches would spare
  that, but took a quarter longer where they were tried; views copy nothing. Of v0 and v1 each message is an
  entry, and its descriptor has 136 bytes: half as many would do, if what follows from other fields were not
  kept there. And each has a checksum of its own, for which x86 has no instruction as it has for that of v2:
  that takes three times as long for messages of 100 bytes, and a third longer for those of 1000.
- **Python** is the rest: under thirty microseconds for a record batch where all of Python is in the processor's
  caches, and four times that behind a kernel that has had 4 MiB through them. Arrow is handed all columns in
  one call, and memory is used again; what is left are some dozen steps between two calls of a kernel. Record
  batches of 8 MiB instead of 4 would halve it, and take twice the memory.
- **views** and **offsets** of records of 1000 bytes take little but the checksum, which is as fast as memory. The
  walk to each record's end, ten to twenty nanoseconds of varints of which each has to wait for the one before,
  and for views Python take about as much as one another. To read more than 4 MiB at a time was tried: from files
  that takes a fifth more to several times as much, as what was read has left the caches when it is walked. Batches
  of 1 MiB have left the second cache when they are walked, those of 16 KiB have not: some nanoseconds, of which
  it would spare a part to verify them piece by piece as their records are walked. What else there is to spare
  is Python's share.

What is slow besides is a consumer that keeps each record batch until it has the next, as a plain loop does
(*one kept* above): two of them do not fit into caches where one would.

"""

PROFILE_OF_DAMAGE = """\
Nanoseconds of CPU per record of the sound file that the parts of the library take, by clocks around them.
What it would take to spend less:

- **survey**: what settles beforehand where the log ends and how its transactions ended. Headers are
  enough where all is well. With damage every byte is read and verified for it, then once more for
  the records: no damaged marker may pass for a sound one, and what a marker says counts for records
  that lie before it. To verify once, results of the first pass would have to be kept, or rows held
  back until the log's end is known.
- **search** looks for where reading goes on, if no sound entry lies where the damaged one says it ends.
- **reads** copy the file out of the page cache.
- **records** are decoded in runs that damage ends: each run has some tenths of a millisecond of Python
  to itself, in it and around it (**runs and batches**), however few its records are. With damage in
  every hundredth entry a run is a third as long as one that 4 MiB end.

"""


def _parts_of(profiles: Sequence[Profile], part_names: Sequence[str]) -> str:
    rows = []
    for one in profiles:
        spent = [median(one.spent[part]) for part in part_names]
        rows.append([one.name, *(_number(ns, 1) for ns in (*spent, sum(spent)))])
    return table(["File", *part_names, "all"], rows)


OF_THREADS = """\
What is missing to twice is Python's lock first. Kernels and codecs let go of it; what stands under *Python* above
holds it, and a thread that comes back from a kernel waits until the other lets go, and then until the system has woken
it. Memory is the lesser part: two processes at once, which share no lock, took a tenth more CPU each than one alone
where nothing is compressed, and come to some 1.9 times one. There a record batch of 100-byte records is made in less
than a millisecond, so that both come back for the lock some thousand times a second: larger record batches would help, or
a Python without that lock. Who cannot wait for that reads in processes, as Spark does.
"""


def _threads(cells: Sequence[Cell], mb: int) -> str:
    names = list(cells[0].wall_ns)
    rows = []
    for cell in cells:
        gains = [_number(wall_ratio(cell, names[0], name)) for name in names[1:]]
        rows.append([cell.name, *gains, "" if cell.busy is None else f"{cell.busy:.0%}"])
    text = (
        f"Times as fast as {names[0]}, by the clock, each with a decoder and a part of the file for\n"
        f"itself; {mb} MiB of records, as two are done with few before both have begun. What other programs took\n"
        f"meanwhile is missing from it. In front of each read that is measured are {who.SETTLE_S:.1f} s of the same: a second processor\n"
        "that has had nothing to do is slow at first. Of ten reads by two threads behind five by one, the first was 1.5\n"
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
        f"Processes as a user starts them; one file of {results.jobs_mb} MiB of records, lz4. CPU of the process\n"
        "and its children, not of the broker that a consumer reads from.\n\n"
    )
    return text + _jobs(results.jobs)


def _headers(headers: HeaderScan, mb: int) -> str:
    text = (
        f"One file of {mb} MiB of records, lz4, in the page cache: {headers.num_batches:,} batches. A pass is that of the\n"
        f"engine `columnar`, behind {who.SETTLE_S:.1f} s of the same; the command is `magicbyte dump --table batches --quick`, as a\n"
        "process, less what it takes for the first batch alone. Bytes are those of all its reads, as Linux counts them.\n"
        "At least three quarters of a pass are the system call that a kernel makes for each header, and one that reads several would\n"
        "read what lies between.\n\n"
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
        'entry, as often in the header as behind it, through `mb.open(..., on_damage="skip")` in turn. Millions\n'
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
