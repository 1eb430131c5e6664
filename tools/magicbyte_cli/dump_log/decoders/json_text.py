"""JSON as Kafka's converters and Jackson write it."""

import base64
import json
import math
import re
from typing import Any

from magicbyte_cli.dump_log.decoders.java_doubles import double_text

_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
"""An escaped character; of those with a number, Jackson's digits are capitals."""


def json_text(told: Any) -> str:
    """Return *told* as JSON without spaces: bytes as base64, text as it is."""
    match told:
        case dict():
            return f"{{{','.join(f'{_text(k)}:{json_text(v)}' for k, v in told.items())}}}"
        case list():
            return f"[{','.join(map(json_text, told))}]"
        case str():
            return _text(told)
        case bytes():
            return _text(base64.b64encode(told).decode())
        case float():
            return _double(told)
    return json.dumps(told)


def _text(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return _ESCAPE.sub(lambda found: found[0][:2] + found[0][2:].upper(), escaped)


def _double(number: float) -> str:
    text = double_text(number)
    return text if math.isfinite(number) else _text(text)  # to Jackson, what is no number is text
