"""Tests of values that Avro's Java library has read, by its recorded answers."""

from collections import Counter

from java_avro import judged_values, recorded


def test_values_are_read_as_avros_java_library_has_read_them() -> None:
    digests = [value.digest for value in judged_values()]
    assert digests == recorded()
    counts = Counter(digest if digest in "!?" else "value" for digest in digests)
    assert counts["value"] > 2500
    assert counts["!"] > 500
