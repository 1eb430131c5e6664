"""python -m magicbyte_tools.fuzz.mutated_values FORM [--values N] [--seed N] [--first N] [--corpus FOLDER]: mutated Protobuf or JSON values.

Draws schemas and values, or takes them from a corpus, mutates the values, and decodes them: each is a value or a fault. Messages and their columns
are between guard pages: a byte too far ends the process. A share of the messages is decoded by google.protobuf alone,
too: values and faults are the same. Whether a text is JSON is what Python's parser
says. Prints how many values have each fault, and the peak memory. Exit status 1 if there was a difference.
"""

import argparse
import faulthandler
import json
import resource
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro import DecodedValues
from magicbyte.decoding.faults import fault_name
from magicbyte.decoding.json_text import JsonShapeDecoder, JsonTextDecoder
from magicbyte.decoding.protobuf import ProtobufDecoder, ProtobufFiles
from magicbyte.engines.columnar import protobuf_columns
from magicbyte.engines.columnar.avro_program import Fault
from magicbyte_tools.fuzz.avro_values import Differences, is_same, mutated
from magicbyte_tools.fuzz.memory import GuardedBuffers, draw_memory_settings, kernel_memory
from magicbyte_tools.fuzz.value_seeds import DRAW, SeedSource, from_corpus

GROUP_VALUES = 1000
"""Values of one schema, each of them mutated."""
COMPARED_VALUES = 100
"""Values of a group that the judge decodes, too."""
FRAME = bytes(5)


class ProtobufGroup:
    """Mutated messages of one schema."""

    def __init__(self, random: Random, guarded: GuardedBuffers, draw_seeds: SeedSource) -> None:
        self._guarded = guarded
        draw_memory_settings(protobuf_columns, random)
        self.seeds = draw_seeds(random)
        files = ProtobufFiles(self.seeds.schema_content, None, "random.proto")
        self._decoder = ProtobufDecoder(files.named(self.seeds.message))

    def decode(self, contents: Sequence[bytes]) -> DecodedValues:
        return self._decoder.decode(self._guarded.binary_array(contents), len(FRAME))

    def compare(self, contents: Sequence[bytes], decoding: DecodedValues) -> None:
        """Raise Differences unless google.protobuf alone decodes *contents* alike."""
        decoder = self._decoder
        decoder._decode_usual = lambda values, starts: decoder._undecoded(values)  # type: ignore[method-assign]
        try:
            expected_decoding = self.decode(contents)
        finally:
            del decoder._decode_usual
        if (decoding.error_codes == Fault.OUTPUT_LIMIT).any():
            return
        if decoding.error_codes.tolist() != expected_decoding.error_codes.tolist():
            raise Differences("error_codes")
        if not is_same(_in_order(decoding.array), _in_order(expected_decoding.array)):
            raise Differences("values")


def _in_order(array: pa.Array) -> pa.Array:
    """Return *array*, whose maps have no order, with the entries of each map as a sorted text."""
    if not _has_map(array.type):
        return array.take(pa.array(range(len(array))))  # without items of nulls
    return pa.array(
        [_sorted_text(row) for row in array.cast(_without_times(array.type)).to_pylist()]
    )


def _has_map(data_type: pa.DataType) -> bool:
    inner = range(data_type.num_fields)
    return pa.types.is_map(data_type) or any(_has_map(data_type.field(one).type) for one in inner)


def _without_times(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(data_type) or pa.types.is_duration(data_type):
        return pa.int64()
    if pa.types.is_struct(data_type):
        return pa.struct([(one.name, _without_times(one.type)) for one in data_type])
    if pa.types.is_map(data_type):
        return pa.map_(data_type.key_type, _without_times(data_type.item_type))
    if pa.types.is_list(data_type):
        return pa.list_(_without_times(data_type.value_type))
    return data_type


def _sorted_text(value: Any) -> str:
    if isinstance(value, dict):
        return repr({name: _sorted_text(one) for name, one in value.items()})
    if isinstance(value, list):
        entries = [_sorted_text(one) for one in value]
        is_of_map = bool(value) and isinstance(value[0], tuple)
        return repr(sorted(entries) if is_of_map else entries)
    if isinstance(value, tuple):  # an entry of a map
        return repr([_sorted_text(one) for one in value])
    return repr(value)


class JsonGroup:
    """Mutated JSON, as text or in the columns of a schema."""

    def __init__(self, random: Random, guarded: GuardedBuffers, draw_seeds: SeedSource) -> None:
        self.seeds = draw_seeds(random)
        self._decoder: JsonTextDecoder | JsonShapeDecoder = JsonTextDecoder()
        if random.random() < 0.5:
            self._decoder = JsonShapeDecoder(self.seeds.schema_content.decode(), "random.json")

    def decode(self, contents: Sequence[bytes]) -> DecodedValues:
        return self._decoder.decode(pa.array(contents, pa.binary()), len(FRAME))

    def compare(self, contents: Sequence[bytes], decoding: DecodedValues) -> None:
        """Raise Differences unless Python's parser takes the same *contents* for JSON."""
        for content, code in zip(contents, decoding.error_codes.tolist(), strict=True):
            is_json = not code or fault_name(code) == "json-shape"
            if isinstance(self._decoder, JsonShapeDecoder) and code and fault_name(code) == "utf8":
                continue  # half a surrogate pair is JSON
            if is_json != _is_json(content[len(FRAME) :]):
                raise Differences(f"verdict on {content!r}")


def _is_json(content: bytes) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(content.decode("utf-8").removeprefix("\ufeff"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return True


FORMS: dict[str, type[ProtobufGroup] | type[JsonGroup]] = {
    "protobuf": ProtobufGroup,
    "json": JsonGroup,
}


def fuzz(
    form: str, num_values: int, seed: int, first: int = 0, draw_seeds: SeedSource | None = None
) -> Counter[str]:
    """Decode *num_values* or a few more; return how many have each fault. Raises Differences with the group."""
    fault_counts: Counter[str] = Counter()
    guarded = GuardedBuffers()
    guarded.alignment = 8
    with kernel_memory(guarded, protobuf_columns):
        for number in range(first, first + -(-num_values // GROUP_VALUES)):
            try:
                guarded.clear()
                random = Random(seed << 32 | number)
                group = FORMS[form](random, guarded, draw_seeds or DRAW[form])
                _run(group, random, fault_counts)
            except Exception as error:
                error.add_note(
                    f"seed {seed}, group {number}: {form} --seed {seed} --first {number}"
                )
                raise
    return fault_counts


def _run(group: ProtobufGroup | JsonGroup, random: Random, fault_counts: Counter[str]) -> None:
    seeds = group.seeds.values
    contents = [FRAME + mutated(random.choice(seeds), random) for _ in range(GROUP_VALUES)]
    decoding = group.decode(contents)
    decoding.array.validate(full=True)
    for code, count in zip(*np.unique(decoding.error_codes, return_counts=True), strict=True):
        fault_counts[fault_name(code) if code else "none"] += int(count)
    head = slice(COMPARED_VALUES)
    part = DecodedValues(
        decoding.array.take(pa.array(range(len(contents[head])))),
        decoding.error_codes[head],
        decoding.error_positions[head],
    )
    group.compare(contents[head], part)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="magicbyte_tools.fuzz.mutated_values", description=__doc__
    )
    parser.add_argument("form", choices=FORMS, help="of the values")
    parser.add_argument("--values", type=int, default=1_000_000, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="decides every value")
    parser.add_argument("--first", type=int, default=0, help="number of the first group")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="of schemas with values")
    options = parser.parse_args(arguments)
    draw_seeds = None if options.corpus is None else from_corpus(options.corpus)
    faulthandler.enable()
    try:
        fault_counts = fuzz(options.form, options.values, options.seed, options.first, draw_seeds)
    except Differences as difference:
        print(f"difference of {difference}: {' '.join(difference.__notes__)}")
        return 1
    for reason, count in fault_counts.most_common():
        print(f"{reason:20} {count:9,}")
    peak_kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{'peak memory':20} {peak_kilobytes // 1024:9,} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
