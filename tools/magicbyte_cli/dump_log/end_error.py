"""How a run of the tool ends before it has printed all."""


class EndError(Exception):
    """The tool meets an exception here: it prints nothing more, of no file, and its status is 1."""

    def __init__(self, message: str, begun: str = "", *, position: int | None = None) -> None:
        super().__init__(message)
        self.begun = begun
        """What it has printed of the line by then."""
        self.position = position
        """The byte of the segment at which the entry begins that it cannot read, if that is it."""
