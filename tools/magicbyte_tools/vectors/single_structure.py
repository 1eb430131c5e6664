"""Builds the cases of formats other than logs: the file is one structure and gives no rows."""

from dataclasses import dataclass
from typing import Any

from magicbyte_tools.vectors.case import TWIN, ExpectedFault, VectorCase


@dataclass(frozen=True, slots=True)
class FormatCases:
    """Builder of the cases of one format.

    Methods take further fields of the case by keyword; `source` and `made` replace those given here.
    """

    format_id: str
    source: str
    made: str = TWIN

    def whole(self, name: str, data: bytes, why: str, **fields: Any) -> VectorCase:
        """Return the case of *data* that every reader of the format accepts."""
        return self._case(name, data, why, verdict="valid", **fields)

    def broken(
        self,
        name: str,
        data: bytes,
        why: str,
        *,
        caught_by: str = "grammar",
        code: str | None = None,
        error: str | None = None,
        position: int = 0,
        **fields: Any,
    ) -> VectorCase:
        """Return the case of *data* that violates the format.

        *code* and *error* are the runtime's, where it reads such a file alone.
        """
        fault = ExpectedFault(position=position, caught_by=caught_by, code=code, error=error)
        fields = {"verdict": "invalid", "has_fields": caught_by != "grammar", **fields}
        return self._case(name, data, why, fault=fault, **fields)

    def doubtful(
        self, name: str, data: bytes, why: str, *, caught_by: str, **fields: Any
    ) -> VectorCase:
        """Return the case of *data* that a reader may refuse."""
        fault = ExpectedFault(position=0, caught_by=caught_by)
        return self._case(name, data, why, verdict="either", fault=fault, **fields)

    def _case(self, name: str, data: bytes, why: str, **fields: Any) -> VectorCase:
        defaults = {"format": self.format_id, "source": self.source, "made": self.made}
        return VectorCase(name=name, data=data, why=why, **defaults | fields)
