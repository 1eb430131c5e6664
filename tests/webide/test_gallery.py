"""Tests of the files for Kaitai's format gallery: they obey its rules and lack only our keys."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from magicbyte_tools.generate.kaitai import INSTALLED, NODE, install
from magicbyte_tools.generate.source import SPEC, load
from magicbyte_tools.webide import gallery
from magicbyte_tools.webide.debug_parsers import HERE


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gallery")
    gallery.main(folder)
    return folder


@pytest.fixture(scope="module")
def files(out: Path) -> dict[Path, dict[str, Any]]:
    """Provide the gallery's specifications as parsed YAML, by path."""
    return {path: load(path) for path in sorted(out.rglob("*.ksy"))}


def compile_for_all(out: Path, names: list[str]) -> dict[str, dict[str, Any]]:
    install()
    command = [NODE, HERE / "gallery.mjs", INSTALLED, out, *names]
    found: dict[str, dict[str, Any]] = json.loads(subprocess.check_output(command))
    return found


def test_all_files_compile_for_all_targets_with_absolute_imports(
    out: Path, files: dict[Path, dict[str, Any]]
) -> None:
    found = compile_for_all(out, [f"{gallery.FOLDER}/{path.stem}" for path in files])
    assert len(found) == 15 + 2  # Java and Python also write
    assert {name: one["error"] for name, one in found.items() if one["error"]} == {}
    assert found["python"]["files"] == found["python-write"]["files"] == len(files) > 15
    writers = {name: one["writers"] for name, one in found.items() if one["writers"]}
    assert writers == {"java-write": len(files), "python-write": len(files)}


def test_an_import_that_the_gallery_cannot_resolve_is_found(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "kafka_a.ksy").write_text(
        "meta:\n  id: kafka_a\n  imports:\n    - /log/kafka_absent\n"
    )
    found = compile_for_all(tmp_path, ["log/kafka_a"])
    assert all("kafka_absent.ksy" in one["error"] for one in found.values())


def test_gallery_files_lack_only_our_own_keys(files: dict[Path, dict[str, Any]]) -> None:
    for path, found in files.items():
        assert found == as_in_gallery(load(SPEC / path.name)), path.name


def test_comments_and_layout_are_kept(files: dict[Path, dict[str, Any]]) -> None:
    text = "meta:\n  # why\n  id: a\n\n-ours: true\n-derived:\n  - id: b\n    # gone\nseq: # here\n"
    assert gallery.for_gallery(text) == "meta:\n  # why\n  id: a\n\nseq: # here\n"
    for path in files:
        original = (SPEC / path.name).read_text("utf-8").splitlines()
        kept = re.sub(r"- /log/kafka", "- kafka", path.read_text("utf-8")).splitlines()
        remaining = iter(original)
        assert all(line in remaining for line in kept), path.name


def test_an_item_that_begins_with_our_key_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with a key of ours"):
        gallery.for_gallery("seq:\n  - -ours: true\n    id: a\n")


def test_files_obey_the_rules_of_the_gallery(files: dict[Path, dict[str, Any]]) -> None:
    for path, spec in files.items():
        text = path.read_text("utf-8")
        assert spec["meta"]["id"] == path.stem
        assert spec["meta"]["license"] == "CC0-1.0"
        assert spec["doc"] and spec["meta"]["title"] and spec["meta"]["application"]
        assert text.endswith("\n") and not text.endswith("\n\n")
        assert not any(line != line.rstrip() or "\t" in line for line in text.splitlines())
        assert not [line for line in text.splitlines() if len(line) > 80 and "https://" not in line]
        for name in gallery.LEFT_OUT:
            assert not re.search(rf"\b{name}\b", text), f"{path.name} speaks of {name}"


def test_gallery_has_every_format_that_is_not_excluded(
    out: Path, files: dict[Path, dict[str, Any]]
) -> None:
    names = {path.stem for path in SPEC.glob("*.ksy")}
    assert {path.stem for path in files} == names - set(gallery.LEFT_OUT)
    assert set(gallery.LEFT_OUT) < names
    text = (out / "PULL_REQUEST.md").read_text("utf-8")
    for path in files:
        assert f"| `{path.stem}` |" in text


def as_in_gallery(value: Any, place: str = "") -> Any:
    """Return the YAML *value* without keys of our own, and with imports as absolute names."""
    if isinstance(value, dict):
        return {
            key: as_in_gallery(inner, f"{place}/{key}")
            for key, inner in value.items()
            if not str(key).startswith("-") or re.fullmatch(r"-orig-id|-webide-.*|-\d+", str(key))
        }
    if isinstance(value, list):
        if place == "/meta/imports":
            return [f"/log/{name}" for name in value]
        return [as_in_gallery(inner) for inner in value]
    return value
