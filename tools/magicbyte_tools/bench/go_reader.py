"""franz-go's reader, for machines that have Go."""

from pathlib import Path

from magicbyte_tools.bench.foreign_programs import attempt, compiled, sources, tool

SOURCES = Path(__file__).with_name("go")


def reader(cache: Path) -> list[str]:
    """Return the command of the Go reader, compiled in *cache* if it is not there."""
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
