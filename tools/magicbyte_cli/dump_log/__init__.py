"""The lines that Kafka's kafka-dump-log prints, by release."""


class ToolError(Exception):
    """kafka-dump-log ends with an exception here: it prints nothing more, and its status is 1."""

    is_unreadable = False
    """True if the system does not deliver the bytes: then lines continue after them in any case."""

    def __init__(self, message: str, line_start: str = "", *, position: int | None = None) -> None:
        super().__init__(message)
        self.line_start = line_start
        """Part of the line that kafka-dump-log had printed before the exception."""
        self.position = position
        """Byte of the segment at which the entry begins that kafka-dump-log cannot read, if any."""


class UnreadableToolError(ToolError):
    """A file, or bytes of a segment, cannot be read."""

    is_unreadable = True
