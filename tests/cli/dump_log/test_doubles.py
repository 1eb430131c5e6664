"""Tests of printing doubles as Java 17's `Double.toString` does."""

import pytest

from magicbyte_cli.dump_log.decoders.java_doubles import double_text

JAVA_TEXTS = {
    0.0: "0.0",
    1.0: "1.0",
    -1.5: "-1.5",
    100.0: "100.0",
    1234567.875: "1234567.875",
    9999999.0: "9999999.0",
    1e7: "1.0E7",
    0.001: "0.001",
    9.99e-4: "9.99E-4",
    1e23: "9.999999999999999E22",
    8.41e21: "8.409999999999999E21",
    3.693e21: "3.6929999999999997E21",
    0.0023817561453824965: "0.0023817561453824965",
    1595.7091674804688: "1595.7091674804688",
    730504936725548.2: "7.305049367255482E14",
    -7.754546113249377e18: "-7.7545461132493773E18",
    2.4252628376992095e25: "2.4252628376992094E25",
    1.7425129970107263e26: "1.7425129970107263E26",
    2.0**62: "4.6116860184273879E18",
    2.0**63: "9.223372036854776E18",
    9.4058150808628788e17: "9.4058150808628787E17",
    2.0**-44: "5.6843418860808015E-14",
    1e-321: "1.0E-321",
    5e-324: "4.9E-324",
    1.7976931348623157e308: "1.7976931348623157E308",
    float("inf"): "Infinity",
    float("-inf"): "-Infinity",
}


@pytest.mark.parametrize(("number", "expected"), JAVA_TEXTS.items(), ids=str)
def test_a_double_is_written_as_java_17_writes_it(number: float, expected: str) -> None:
    assert double_text(number) == expected


def test_no_number_and_the_zero_below_are_written_as_java_writes_them() -> None:
    assert double_text(float("nan")) == "NaN"
    assert double_text(-0.0) == "-0.0"
