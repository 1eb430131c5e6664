"""Generates the records of the benchmark's files from a seed, equal on every machine."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

Headers = tuple[tuple[bytes, bytes], ...]

FIRST_TIMESTAMP = 1_700_000_000_000

NULLS = 0.005
"""Share of null keys among all keys, and of null values."""

WORDS = [
    "alpha",
    "order",
    "shipped",
    "basket",
    "cart",
    "checkout",
    "search",
    "click",
    "view",
    "login",
    "logout",
    "payment",
    "refund",
    "invoice",
    "customer",
    "product",
    "warehouse",
    "delivery",
    "express",
    "standard",
    "priority",
    "discount",
    "coupon",
    "mobile",
    "desktop",
    "tablet",
    "browser",
    "session",
    "region",
    "europe",
    "america",
    "asia",
    "africa",
    "oceania",
    "country",
    "city",
    "street",
    "number",
    "postal",
    "currency",
    "amount",
    "total",
]
EVENTS = ("click", "view", "purchase", "refund", "login", "logout", "search", "add_to_cart")
COUNTRIES = ("DE", "US", "FR", "GB", "NL", "PL", "SE", "IN", "BR", "JP")


class RecordData(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the key, the value and the headers of a record."""

    name: str
    sentence: str
    value: Callable[[random.Random, int, int], str]
    """Returns a record's value, given random numbers, its offset and its timestamp in milliseconds."""
    has_headers: bool = False


def rows(shape: Shape, seed: int) -> Iterator[RecordData]:
    """Yield records of *shape* from offset 0 on, without end."""
    chance = random.Random(f"{seed} {shape.name}")
    timestamp, offset = FIRST_TIMESTAMP, 0
    while True:
        timestamp += chance.randrange(4)
        is_null = chance.random() < NULLS
        key = None if is_null else b"user-%07d" % chance.randrange(3_000_000)
        is_null = chance.random() < NULLS
        value = None if is_null else shape.value(chance, offset, timestamp).encode()
        yield RecordData(
            offset, timestamp, key, value, _headers(chance) if shape.has_headers else ()
        )
        offset += 1


def _headers(chance: random.Random) -> Headers:
    return (
        (b"trace-id", b"%032x" % chance.getrandbits(128)),
        (b"content-type", b"application/json"),
        (b"source", b"svc-%02d" % chance.randrange(40)),
    )


def _event(chance: random.Random, offset: int, timestamp: int) -> str:
    return (
        f'{{"id":{1_000_000 + offset},"user":"u{chance.randrange(200_000):06}",'
        f'"ev":"{chance.choice(EVENTS)}","amt":{chance.random() * 500:.2f},'
        f'"cc":"{chance.choice(COUNTRIES)}","ts":{timestamp},'
        f'"s":"{chance.getrandbits(32):08x}","ok":{"true" if chance.random() < 0.9 else "false"}}}'
    )


def _order(chance: random.Random, offset: int, timestamp: int) -> str:
    items = ",".join(
        f'{{"sku":"SKU-{chance.randrange(40_000):05}","qty":{chance.randrange(1, 9)},'
        f'"price":{chance.random() * 300:.2f},"title":"{" ".join(chance.choices(WORDS, k=5))}"}}'
        for _ in range(chance.randrange(6, 10))
    )
    return (
        f'{{"order_id":"{chance.getrandbits(64):016x}","customer":{{"id":{chance.randrange(10**7)},'
        f'"name":"{chance.choice(WORDS).title()}","country":"{chance.choice(COUNTRIES)}"}},'
        f'"event":"{chance.choice(EVENTS)}","created_at":{timestamp},"number":{offset},'
        f'"session":"{chance.getrandbits(128):032x}","items":[{items}],'
        f'"notes":"{" ".join(chance.choices(WORDS, k=8))}"}}'
    )


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("100B", "JSON of about 112 bytes, a key of 12", _event),
        Shape("1000B", "JSON of about 940 bytes, a key of 12", _order),
        Shape("100B-3h", "as 100B, with three headers of 80 bytes in all", _event, True),
    )
}
