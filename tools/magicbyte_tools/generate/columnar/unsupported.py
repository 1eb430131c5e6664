"""What a specification says that kernels cannot be made of."""


class Unsupported(ValueError):
    """Something outside of the subset that kernels are made of, and where it stands."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
