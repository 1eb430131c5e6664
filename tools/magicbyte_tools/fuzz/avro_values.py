"""python -m magicbyte_tools.fuzz.avro_values [--values N] [--seed N] [--first N] [--corpus FOLDER]: mutated Avro values.

Draws schemas, half of them with a reader's schema, and values, or takes them from a corpus; mutates the values; and decodes them by the kernel
between guard pages: a byte too far ends the process. Some are decoded in ordinary Python, too: values, faults and
positions are the same. Prints how many values have each fault. Exit status 1 if there was a difference.
"""

import argparse
import faulthandler
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro import AvroDecoder, DecodedValues, parse_schema
from magicbyte.engines.columnar import avro_columns
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte_tools.fuzz.avro_cases import zigzag
from magicbyte_tools.fuzz.memory import GuardedBuffers, draw_memory_settings, kernel_memory
from magicbyte_tools.fuzz.value_seeds import SeedSource, ValueSeeds, draw_avro, from_corpus

GROUP_VALUES = 250
"""Values of one schema, each of them mutated."""
COMPARED_SHARE = 0.2
"""Share of the groups that are decoded in ordinary Python, too, which takes fifty times as long."""

NUMBERS = (
    *(0, 1, -1, 2, 63, 64, -64, 127, 1024, 1025, 1 << 20, 1 << 31, -(1 << 31), (1 << 31) - 1),
    *(1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63)),
)
"""Numbers that a value may state in place of a length, a count, a branch or an index."""


def mutated(content: bytes, random: Random) -> bytes:
    """Return *content* with one to three changes; now and then with none."""
    changed = bytearray(content)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        position = random.randint(0, len(changed))
        match random.randrange(7):
            case 0 if changed:
                changed[position % len(changed)] = random.getrandbits(8)
            case 1 if changed:
                changed[position % len(changed)] ^= 1 << random.randrange(8)
            case 2:
                del changed[position:]
            case 3:
                changed[position:position] = zigzag(random.choice(NUMBERS))
            case 4:
                changed[position : position + 1] = zigzag(random.choice(NUMBERS))
            case 5:
                end = random.randint(position, len(changed))
                changed[position:position] = changed[position:end]
            case 6:
                changed[position : position + random.randint(1, 9)] = b""
    return bytes(changed)


class Differences(Exception):
    """The kernel and ordinary Python decode values differently."""


class AvroFuzzer:
    """Decodes groups of mutated values, and counts their faults."""

    def __init__(self, seed: int, draw_seeds: SeedSource = draw_avro) -> None:
        self._seed = seed
        self._draw_seeds = draw_seeds
        self._guarded = GuardedBuffers()
        self._guarded.alignment = 8
        self.counts: Counter[str] = Counter()

    def run(self, group: int) -> None:
        """Decode the values of *group*. Raises Differences."""
        random = Random(self._seed << 32 | group)
        self._guarded.clear()
        draw_memory_settings(avro_columns, random)
        seeds = self._draw_seeds(random)
        decoder = _decoder(seeds)
        frame_bytes = random.choice((0, 5))
        contents = [
            bytes(frame_bytes) + mutated(random.choice(seeds.values), random)
            for _ in range(GROUP_VALUES)
        ]
        decoding = decoder.decode(self._guarded.binary_array(contents), frame_bytes)
        decoding.array.validate(full=True)
        for reason, count in zip(*np.unique(decoding.error_codes, return_counts=True), strict=True):
            self.counts[Fault(reason).name] += int(count)
        has_limit = bool((decoding.error_codes == Fault.OUTPUT_LIMIT).any())
        if random.random() < COMPARED_SHARE and not has_limit:
            self.counts["compared"] += len(contents)
            values = pa.array(contents, pa.binary())
            _compare(decoding, decoder._decode_in_python(values, frame_bytes))


def _decoder(seeds: ValueSeeds) -> AvroDecoder:
    schema = parse_schema(seeds.schema_content.decode())
    if seeds.reader_schema is None:
        return AvroDecoder(schema)
    return AvroDecoder(schema, parse_schema(seeds.reader_schema.decode()))


def _compare(decoding: DecodedValues, expected_decoding: DecodedValues) -> None:
    for part in ("error_codes", "error_positions"):
        if getattr(decoding, part).tolist() != getattr(expected_decoding, part).tolist():
            raise Differences(part)
    if not is_same(decoding.array, expected_decoding.array):
        raise Differences("values")


def is_same(array: pa.Array, other_array: pa.Array) -> bool:
    """Return whether both arrays have the same type and values; NaN is NaN, and what null covers does not count."""
    if array.type != other_array.type or not array.is_valid().equals(other_array.is_valid()):
        return False
    kind = array.type
    if pa.types.is_struct(kind):
        return all(map(is_same, array.flatten(), other_array.flatten()))
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        # Null lists have no items in either.
        names = ("keys", "items") if pa.types.is_map(kind) else ("values",)
        return array.offsets.equals(other_array.offsets) and all(
            is_same(getattr(array, name), getattr(other_array, name)) for name in names
        )
    if pa.types.is_floating(kind):
        own_numbers, other_numbers = (one.drop_null().to_numpy() for one in (array, other_array))
        return bool(np.array_equal(own_numbers, other_numbers, equal_nan=True))
    return bool(array.equals(other_array))


def fuzz(
    num_values: int, seed: int, first: int = 0, draw_seeds: SeedSource = draw_avro
) -> Counter[str]:
    """Decode *num_values* or a few more; return how many have each fault. Raises Differences with the group."""
    fuzzer = AvroFuzzer(seed, draw_seeds)
    with kernel_memory(fuzzer._guarded, avro_columns):
        for group in range(first, first + -(-num_values // GROUP_VALUES)):
            try:
                fuzzer.run(group)
            except Exception as error:
                error.add_note(f"seed {seed}, group {group}: --seed {seed} --first {group}")
                raise
    return fuzzer.counts


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="magicbyte_tools.fuzz.avro_values", description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="decides every value")
    parser.add_argument("--first", type=int, default=0, help="number of the first group")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="of schemas with values")
    options = parser.parse_args(arguments)
    draw_seeds = draw_avro if options.corpus is None else from_corpus(options.corpus)
    faulthandler.enable()
    try:
        counts = fuzz(options.values, options.seed, options.first, draw_seeds)
    except Differences as difference:
        print(f"difference of {difference}: {' '.join(difference.__notes__)}")
        return 1
    for reason, count in counts.most_common():
        print(f"{reason.lower().replace('_', ' '):20} {count:9,}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
