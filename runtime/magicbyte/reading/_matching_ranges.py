"""Ranges of numbers in which a condition may hold, found by asking about smaller and smaller ranges."""

from collections.abc import Callable, Iterable, Sequence

Span = tuple[int, int]
"""First and last number of a range, both included."""

MayMatch = Callable[[Sequence[Span]], list[bool]]
"""Returns for each range whether the condition may hold for a number in it."""

MAX_RANGES = 16
"""Ranges of the result: reading one takes a plan of its own. More are joined where the least is between them."""

MAX_PARTS = 16 * MAX_RANGES
"""Parts after which a search ends, as for a list of thousands of offsets."""

MAX_ROUNDS = 20
"""Rounds of questions after which a search ends: 16 divide all numbers of 64 bits into single ones. Arrow knows
less about ranges than about single numbers, and may find that each single number at an end does not match."""

PARTS_OF_ONE = 16
"""Parts that a range is divided into: one question to Arrow costs as much as 16 parts of one."""


LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1

ALL_NUMBERS = [
    (LOWEST, -1),
    (0, 0),
    *((1 << power, (1 << power + 4) - 1) for power in range(0, 60, 4)),
    (1 << 60, HIGHEST),
]
"""All numbers of 64 bits. Small numbers are in small ranges, so that few rounds find them."""


def matching_ranges(may_match: MayMatch, spans: Sequence[Span]) -> list[Span]:
    """Return the ranges within *spans*, in order, which have all numbers for which the condition may hold.

    The result has few ranges, which may have more numbers.
    """
    matches = may_match(spans)
    candidates = _with_inner_joined(
        span for span, is_match in zip(spans, matches, strict=True) if is_match
    )
    for _ in range(MAX_ROUNDS):
        if len(candidates) > MAX_PARTS:
            break
        edges = _inexact_edges(may_match, candidates)
        if not edges:
            break
        divided = {part: list(_divided(part)) for part in edges}
        smaller = [each for pieces in divided.values() for each in pieces]
        matching = {
            each for each, is_match in zip(smaller, may_match(smaller), strict=True) if is_match
        }
        candidates = _with_inner_joined(
            each
            for part in candidates
            for each in divided.get(part, [part])
            if part not in divided or each in matching
        )
    return joined(candidates)


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return *spans*, which are in order, with those joined that follow each other; of many, the nearest ones, too."""
    return _nearest_joined(_chains(spans))


def _chains(candidates: Iterable[Span]) -> Iterable[list[Span]]:
    """Yield the longest lists of *candidates* that follow each other without a number between them."""
    chain: list[Span] = []
    for part in candidates:
        if chain and chain[-1][1] + 1 < part[0]:
            yield chain
            chain = []
        chain.append(part)
    if chain:
        yield chain


def _with_inner_joined(candidates: Iterable[Span]) -> list[Span]:
    """Return *candidates* with those joined that have another part next to them on both sides."""
    joined: list[Span] = []
    for chain in _chains(candidates):
        inner = [(chain[1][0], chain[-2][1])] if len(chain) > 3 else chain[1:-1]
        joined += [chain[0], *inner, *chain[1:][-1:]]
    return joined


def _inexact_edges(may_match: MayMatch, candidates: Sequence[Span]) -> list[Span]:
    """Return the *candidates* that do not begin, or do not end, with a number for which the condition may hold.

    Only a side without another part next to it counts.
    """
    sides: list[tuple[Span, int]] = []
    for number, part in enumerate(candidates):
        if part[0] == part[1]:
            continue
        if not number or candidates[number - 1][1] + 1 < part[0]:
            sides.append((part, part[0]))
        if number + 1 == len(candidates) or part[1] + 1 < candidates[number + 1][0]:
            sides.append((part, part[1]))
    matches = may_match([(end, end) for _, end in sides]) if sides else []
    inexact = [part for (part, _), is_exact in zip(sides, matches, strict=True) if not is_exact]
    return list(dict.fromkeys(inexact))


def _divided(span: Span) -> Iterable[Span]:
    low, high = span
    step = max(-(-(high - low + 1) // PARTS_OF_ONE), 1)
    while low <= high:
        yield low, min(low + step - 1, high)
        low += step


def _nearest_joined(chains: Iterable[list[Span]]) -> list[Span]:
    """Return the ranges of *chains*; beyond MAX_RANGES, those with the least between them are joined."""
    joined_spans = [(chain[0][0], chain[-1][1]) for chain in chains]
    while len(joined_spans) > MAX_RANGES:
        nearest = min(
            range(1, len(joined_spans)),
            key=lambda at: joined_spans[at][0] - joined_spans[at - 1][1],
        )
        joined_spans[nearest - 1 : nearest + 1] = [
            (joined_spans[nearest - 1][0], joined_spans[nearest][1])
        ]
    return joined_spans
