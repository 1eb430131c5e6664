"""Doubles as `Double.toString` of Java up to 18 writes them.

Java 19 and later, and Python, write the fewest digits that distinguish a double from its neighbours.
Earlier Java does not always: it writes 1.0E23 as 9.999999999999999E22 (JDK-4511638).
"""

import math
import sys

PLAIN_POWERS = range(-3, 7)
"""Powers of ten of the first digit that are written without an exponent."""

LONG_BITS = 64

NUM_FIVES = 27
"""Number of powers of five that fit in a long."""

SINGLE_DIGIT_POWERS = range(-3, 8)
"""Powers of ten of the first digit for which a single digit may suffice."""

LARGEST_LONG_POWER = 62
"""Highest power of two in a long."""


def double_text(number: float) -> str:
    """Return *number* as Java's Double.toString does."""
    if not math.isfinite(number):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(number, "NaN")
    sign = "-" if math.copysign(1, number) < 0 else ""
    if number == 0:
        return f"{sign}0.0"
    digits, power = _digits(abs(number))
    if power not in PLAIN_POWERS:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{sign}{whole}.{digits[power + 1 :] or '0'}"


def _digits(number: float) -> tuple[str, int]:
    """Return the digits of a positive *number*, and the power of ten of the first."""
    mantissa, exponent = _parts(number)
    precision = mantissa.bit_length()
    power = exponent + precision - 1  # power of two of the number's highest bit
    if number.is_integer() and power <= LARGEST_LONG_POWER:
        return _of_long(int(number), power - precision)
    return _generated(mantissa, power)


def _parts(number: float) -> tuple[int, int]:
    """Return m and e with *number* = m * 2**e, for a positive *number*."""
    exponent = max(math.frexp(number)[1], sys.float_info.min_exp) - sys.float_info.mant_dig
    return int(math.ldexp(number, -exponent)), exponent


def _of_long(number: int, spare: int) -> tuple[str, int]:
    """Return the digits of an integer *number*, without digits that *spare* bits can change."""
    dropped = len(str(1 << spare - 1)) - 1 if spare > 0 else 0
    if dropped:
        number, rest = divmod(number, 10**dropped)
        number += rest >= 10**dropped // 2
    digits = str(number)
    return digits.rstrip("0"), len(digits) - 1 + dropped


def _generated(mantissa: int, power: int) -> tuple[str, int]:
    """Return digits, until they are closer to the number than to its neighbours.

    After each digit, the remainder of the number is rest / one, and half the distance to a neighbour
    is half / one. Java keeps rest and half in longs if they fit at the start. If *half* overflows
    later, the digits end; if the sum of both overflows, they continue.
    """
    odd = mantissa >> (mantissa & -mantissa).bit_length() - 1
    first = _estimated(mantissa, power)
    num_tiny = max(0, odd.bit_length() - power - 1)
    fives, fives_of_one = max(0, -first), max(0, first)
    twos = fives + num_tiny + power - (odd.bit_length() - 1)
    twos_of_one = fives_of_one + num_tiny
    twos_of_half = fives + num_tiny + power - mantissa.bit_length() - (odd == 1)
    least = min(twos, twos_of_one, twos_of_half)
    twos, twos_of_one, twos_of_half = twos - least, twos_of_one - least, twos_of_half - least
    bits_of_rest = odd.bit_length() + twos + _bits_of_fives(fives)
    bits_of_one = twos_of_one + 1 + _bits_of_fives(fives_of_one + 1)
    are_longs = max(bits_of_rest, bits_of_one) < LONG_BITS
    rest, one, half = (
        odd * 5**fives << twos,
        5**fives_of_one << twos_of_one,
        5**fives << twos_of_half,
    )

    def next_digit() -> tuple[int, bool, bool]:
        nonlocal rest, half
        digit, rest = divmod(rest, one)
        rest, half = 10 * rest, 10 * half
        reach = rest + half
        if are_longs:
            half, reach = _long(half), _long(reach)
            if half <= 0:
                return digit, True, True
        return digit, rest < half, reach > 10 * one

    digit, is_low, is_high = next_digit()
    digits = [digit]
    if digit == 0 and not is_high:
        digits, first = [], first - 1
    if first not in SINGLE_DIGIT_POWERS:
        is_low = is_high = False  # get another digit, since one must follow the point
    while not (is_low or is_high):
        digit, is_low, is_high = next_digit()
        digits.append(digit)
    nearer = 2 * rest - 10 * one
    if is_high and (not is_low or nearer > 0 or (nearer == 0 and digits[-1] % 2)):
        return _raised(digits, first)
    return "".join(map(str, digits)), first


def _estimated(mantissa: int, power: int) -> int:
    """Return the power of ten of the first digit, or one more."""
    leading = mantissa / (1 << mantissa.bit_length() - 1)
    return math.floor((leading - 1.5) * 0.289529654 + 0.176091259 + power * 0.301029995663981)


def _bits_of_fives(power: int) -> int:
    """Return Java's estimate of the number of bits of 5**power."""
    if power >= NUM_FIVES:
        return 3 * power
    return (5**power).bit_length() if power else 0


def _long(number: int) -> int:
    """Return *number* wrapped to a long."""
    sign = 1 << LONG_BITS - 1
    return (number + sign) % (2 * sign) - sign


def _raised(digits: list[int], first: int) -> tuple[str, int]:
    """Return *digits*, the decimal digits of a number, with the last digit increased by one."""
    raised = str(int("".join(map(str, digits))) + 1)
    return raised[: len(digits)], first + len(raised) - len(digits)
