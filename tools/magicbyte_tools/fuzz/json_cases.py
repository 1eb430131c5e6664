"""Random JSON values and texts of them, legal but unusual ones among them, and JSON Schemas that fit."""

import json
from random import Random
from typing import Any

NUMBERS = (
    *("0", "-0", "1", "-1", "1.5", "1e3", "1E-3", "-2.25e+10", "0.1", "9007199254740993", "1e308"),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e400", "-1e999"),
    *("9" * 40, "9" * 400, "1." + "3" * 30, "5e-324", "-0.0"),
)
TEXTS = (
    *("", "a", "grüße", "日本語", "\U0001f600", 'quo"te', "back\\slash", "line\nfeed", "\0"),
    *("null", "5", "[", "x" * 200),
)
ESCAPES = (r"\u0041", r"\ud83d\ude00", r"\/", r"\b\f\n\r\t", r"\u0000", r"\ud800", r"\udc00x")
NAMES = ("a", "b", "c", "", "é", "a b", "$ref", "type", "order")
SPACES = ("", "", "", " ", "\n\t", "\r\n ")
MAX_DEPTH = 4


class JsonCases:
    """Draws JSON texts from *random*."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def text(self) -> str:
        """Draw a text; some begin with a byte order mark or have many levels."""
        random = self._random
        if random.random() < 0.02:
            depth = random.choice((20, 400))
            opened = random.choice(("[", '{"a":'))
            return opened * depth + "1" + ("]" if opened == "[" else "}") * depth
        mark = "\ufeff" if random.random() < 0.03 else ""
        return mark + self._space() + self._value(0) + self._space()

    def _space(self) -> str:
        return self._random.choice(SPACES)

    def _value(self, depth: int) -> str:
        lot = self._random.random()
        if depth < MAX_DEPTH and lot < 0.25:
            return self._object(depth)
        if depth < MAX_DEPTH and lot < 0.4:
            items = [self._value(depth + 1) for _ in range(self._random.randrange(4))]
            return f"[{self._space()}{(self._space() + ',').join(items)}]"
        if lot < 0.6:
            return self._random.choice(NUMBERS)
        if lot < 0.85:
            return self._string()
        return self._random.choice(("true", "false", "null"))

    def _object(self, depth: int) -> str:
        """Draw an object, in which a name may occur twice."""
        members = (
            f"{json.dumps(self._random.choice(NAMES))}{self._space()}:{self._value(depth + 1)}"
            for _ in range(self._random.randrange(5))
        )
        return f"{{{self._space()}{','.join(members)}{self._space()}}}"

    def _string(self) -> str:
        text = self._random.choice(TEXTS)
        quoted = json.dumps(text, ensure_ascii=self._random.random() < 0.5)
        if self._random.random() < 0.2:
            return f'{quoted[:-1]}{self._random.choice(ESCAPES)}"'
        return quoted

    def schema(self, depth: int = 0) -> Any:
        """Draw a JSON Schema of the forms that become columns, and of others."""
        random = self._random
        lot = random.random()
        if lot < 0.35 and depth < 3:
            names = random.sample(NAMES, random.randrange(5))
            members = {name: self.schema(depth + 1) for name in names}
            return {"type": self._or_null("object"), "properties": members}
        if lot < 0.5 and depth < 3:
            return {"type": self._or_null("array"), "items": self.schema(depth + 1)}
        if lot < 0.85:
            return {
                "type": self._or_null(random.choice(("integer", "number", "boolean", "string")))
            }
        if lot < 0.92 and depth < 3:
            return {random.choice(("oneOf", "anyOf")): [{"type": "null"}, self.schema(depth + 1)]}
        return random.choice(({}, True, {"type": ["string", "integer"]}, {"enum": [1, "a"]}))

    def _or_null(self, name: str) -> Any:
        lot = self._random.random()
        return name if lot < 0.7 else ["null", name] if lot < 0.9 else [name]

    def value_of(self, json_schema: Any) -> Any:
        """Draw a text that fits *json_schema*, at times with a part of another type, or with parts left out."""
        lot = self._random.random()
        if lot < 0.08:
            return "null"
        if lot < 0.1 or not isinstance(json_schema, dict):
            return self._value(3)
        for name in ("oneOf", "anyOf"):
            if name in json_schema:
                return self.value_of(json_schema[name][1])
        types = json_schema.get("type")
        kinds = [one for one in (types if isinstance(types, list) else [types]) if one != "null"]
        match kinds[0] if len(kinds) == 1 else None:
            case "object":
                names = list(json_schema["properties"])
                self._random.shuffle(names)
                members = [
                    f"{json.dumps(name)}:{self.value_of(json_schema['properties'][name])}"
                    for name in names
                    if self._random.random() < 0.8
                ]
                if lot > 0.8:
                    members.append('"more":1')
                return f"{{{','.join(members)}}}"
            case "array":
                count = self._random.randrange(4)
                return f"[{','.join(self.value_of(json_schema['items']) for _ in range(count))}]"
            case "string":
                return self._string()
            case "boolean":
                return self._random.choice(("true", "false"))
            case "integer":
                return self._random.choice(("1", "-7", "5.0", "1e3", *NUMBERS[11:14], "1.5"))
            case "number":
                return self._random.choice(NUMBERS)
        return self._value(2)
