"""python -m magicbyte_tools.generate [--check]: write generated/, or print what would change."""

import difflib
import sys
from pathlib import Path

from magicbyte_tools.generate import columnar, message_schemas, parsers, stubs, wire
from magicbyte_tools.generate.kaitai import CHECKOUT, Compiled, compile_specs
from magicbyte_tools.generate.origin import FIXED, header, messages_header
from magicbyte_tools.generate.source import SPEC, Spec, load

GENERATED = CHECKOUT / "generated" / "magicbyte_formats"

ABOUT = '"""Kafka\'s record formats as Python, generated from spec/."""\n'


def outputs(specifications: Path = SPEC, generated: Path = GENERATED) -> dict[Path, str]:
    """Return the text of every file that is generated from the folder *specifications*, by path."""
    sources = sorted(specifications.glob("*.ksy"))
    compiled = compile_specs(sources)
    kaitai = generated / "kaitai"
    files = {
        generated / "__init__.py": FIXED + ABOUT,
        generated / "py.typed": "",
        generated / "wire.py": header(sources) + wire.module(specs(compiled)),
        kaitai / "__init__.py": FIXED + stubs.PACKAGE,
    }
    for source in sources:
        name, origin = source.stem, header([source])
        spec = compiled[name]["spec"]
        text = compiled[name]["files"]["python"][f"{name}.py"]
        files[kaitai / f"{name}.py"] = origin + parsers.module(text, spec)
        files[kaitai / f"{name}.pyi"] = origin + stubs.module(name, specs(compiled))
    folder = generated / "columnar"
    files[folder / "__init__.py"] = FIXED + columnar.PACKAGE
    for name in columnar.entry_formats(specs(compiled)):
        origin = header(sources)
        entry = columnar.read_entry(name, specs(compiled))
        files[folder / f"{name}.py"] = origin + columnar.description(entry)
        files[folder / f"{name}_kernels.py"] = origin + columnar.kernel_module(entry)
    for name in columnar.row_file_formats(specs(compiled)):
        origin = header([specifications / f"{name}.ksy"])
        row_file = columnar.read_row_file(name, specs(compiled)[name])
        files[folder / f"{name}.py"] = origin + columnar.row_file_module(row_file)
    folder = generated / "messages"
    files[folder / "__init__.py"] = FIXED + message_schemas.PACKAGE
    for source in sorted((specifications / "messages").glob("*.yaml")):
        text = messages_header(source) + message_schemas.module(load(source))
        files[folder / f"{source.stem}.py"] = text
    return files


def specs(compiled: Compiled) -> dict[str, Spec]:
    """Return the specifications in *compiled*, as the Kaitai compiler read them, by name."""
    return {name: compiled_spec["spec"] for name, compiled_spec in compiled.items()}


def main(check: bool) -> int:
    """Write generated files that differ, and delete those without a source; with *check*, only report them."""
    texts = outputs()
    stale = sorted(
        p for p in GENERATED.rglob("*") if p.suffix in {".py", ".pyi"} and p not in texts
    )
    changed = [p for p in texts if not p.exists() or p.read_text("utf-8") != texts[p]]
    if check:
        return report(stale + changed, texts)
    for path in stale:
        path.unlink()
        print(f"{path.relative_to(CHECKOUT)} deleted")
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path], "utf-8", newline="\n")
        print(path.relative_to(CHECKOUT))
    return 0


def report(differing: list[Path], texts: dict[Path, str]) -> int:
    """Print the differences between the files in generated/ and *texts*; return the exit status."""
    for path in differing:
        name = str(path.relative_to(CHECKOUT))
        old = path.read_text("utf-8") if path.exists() else ""
        new = texts.get(path, "")
        lines = difflib.unified_diff(
            old.splitlines(True), new.splitlines(True), name, f"{name} (generated)"
        )
        sys.stdout.writelines(lines)
        if not old and not new:
            print(f"{name}: {'not expected' if path.exists() else 'missing'}")
    if differing:
        print("generated/ does not match spec/: run `make generate`.")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
