"""JSON as Kafka's JSON converters and the library Jackson write it."""

import base64
import json
import math
import re
from typing import Any

from magicbyte_cli.dump_log.decoders.java_doubles import double_text

_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
"""An escaped character; Jackson writes the hexadecimal digits in capitals."""


def json_text(value: Any) -> str:
    """Return *value* as JSON without spaces; bytes become base64."""
    match value:
        case dict():
            return f"{{{','.join(f'{_text(k)}:{json_text(v)}' for k, v in value.items())}}}"
        case list():
            return f"[{','.join(map(json_text, value))}]"
        case str():
            return _text(value)
        case bytes():
            return _text(base64.b64encode(value).decode())
        case float():
            text = double_text(value)
            # Jackson writes NaN and infinities as strings.
            return text if math.isfinite(value) else _text(text)
    return json.dumps(value)


def _text(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return _ESCAPE.sub(lambda match: match[0][:2] + match[0][2:].upper(), escaped)
