"""Test that the example in the twin's documentation runs."""

import doctest

import magicbyte_construct


def test_the_example_says_what_happens() -> None:
    assert doctest.testmod(magicbyte_construct) == (0, 4)
