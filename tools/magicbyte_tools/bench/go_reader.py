"""Builds the contender that reads by franz-go, on machines with Go."""

from pathlib import Path

from magicbyte_tools.bench.foreign_programs import attempt, compiled, sources, tool

SOURCES = Path(__file__).with_name("go")


def reader(cache: Path) -> list[str]:
    """Return the command of the Go reader; it is compiled into *cache* unless it is there already."""
    go = tool("go")
    own = cache.parent.absolute() / "go"
    environment = {
        "GOPATH": str(own),
        "GOMODCACHE": str(own / "modules"),
        "GOCACHE": str(own / "build"),
        # Go keeps modules read-only, and `make clean` could not delete them.
        "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false",
        # An older Go would fetch a newer one.
        "GOTOOLCHAIN": "local",
    }

    def build(program: Path) -> None:
        command = [go, "build", "-trimpath", "-o", str(program.absolute()), "."]
        attempt(command, folder=SOURCES, environment=environment)

    files = [path.read_bytes() for path in sources(SOURCES)]
    return [str(compiled("go", files, cache, build))]
