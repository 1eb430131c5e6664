"""Builds test vectors of formats other than logs: a file is one structure and holds no records."""

from dataclasses import dataclass
from typing import Any

from magicbyte_tools.vectors.case import TWIN, ExpectedFault, VectorCase


@dataclass(frozen=True, slots=True)
class FormatCases:
    """Builds the test vectors of one format.

    Methods take further fields of the VectorCase by keyword, also another `source` or `made`.
    """

    format_id: str
    source: str
    made: str = TWIN

    def whole(self, name: str, data: bytes, why: str, **fields: Any) -> VectorCase:
        """Return the valid test vector of *data*, which every reader of the format must accept."""
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
        """Return the invalid test vector of *data*, which violates the format.

        *code* and *error* are magicbyte's finding code and error class, where it reads such files.
        """
        fault = ExpectedFault(position=position, caught_by=caught_by, code=code, error=error)
        fields = {"verdict": "invalid", "has_fields": caught_by != "grammar", **fields}
        return self._case(name, data, why, fault=fault, **fields)

    def doubtful(
        self, name: str, data: bytes, why: str, *, caught_by: str, **fields: Any
    ) -> VectorCase:
        """Return the test vector of *data* that a reader may accept or refuse."""
        fault = ExpectedFault(position=0, caught_by=caught_by)
        return self._case(name, data, why, verdict="either", fault=fault, **fields)

    def tolerated(
        self,
        name: str,
        data: bytes,
        why: str,
        *,
        caught_by: str,
        code: str,
        error: str | None = None,
        position: int = 0,
        **fields: Any,
    ) -> VectorCase:
        """Return the test vector of *data* that Kafka's class accepts and magicbyte refuses.

        *fields* has the `reason`.
        """
        fault = ExpectedFault(position=position, caught_by=caught_by, code=code, error=error)
        fields = {"is_refused": True, "has_fields": caught_by != "grammar", **fields}
        return self._case(name, data, why, verdict="either", fault=fault, **fields)

    def _case(self, name: str, data: bytes, why: str, **fields: Any) -> VectorCase:
        defaults = {"format": self.format_id, "source": self.source, "made": self.made}
        return VectorCase(name=name, data=data, why=why, **defaults | fields)
