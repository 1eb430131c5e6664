"""Tests of limits on hand-written code: import cycles, lengths, copied lines, generated code."""

import re
from functools import cache
from pathlib import Path

import pytest

from paths import CHECKOUT
from slow_tests import LONGEST, SLOW

from . import source_tree as tree

GENERATED, RUNTIME, *OTHERS = (
    CHECKOUT / root for root in ("generated", "runtime", "tools", "spec", "tests")
)
MODULES = tree.modules_below(RUNTIME, *OTHERS[:2])
MAX_EQUAL_LINES = 14

ASSEMBLED = CHECKOUT / "tests" / "vectors" / "score.py"
"""A file that is made of modules of tools/ and lies with the vectors, so that it can be copied with them."""


@cache
def graph() -> dict[str, set[str]]:
    """Return the imports of all modules."""
    return tree.import_graph(MODULES)


def test_modules_import_one_another_without_a_cycle() -> None:
    assert tree.import_cycle(graph()) == []


def test_packages_import_one_another_without_a_cycle() -> None:
    assert tree.import_cycle(tree.package_graph(graph(), MODULES)) == []


def test_modules_that_only_their_own_package_imports_begin_with_an_underscore() -> None:
    """Tests and tools that never ship may import them. Codecs are all named alike."""
    kernels = GENERATED / "magicbyte_formats" / "columnar"
    shipped = tree.modules_below(kernels, RUNTIME, CHECKOUT / "tools")
    shipped = {name: path for name, path in shipped.items() if "magicbyte_tools" not in name}
    runtime = {name for name, path in shipped.items() if path.is_relative_to(RUNTIME)}
    alike = {f"magicbyte.codecs.{name}" for name in ("gzip", "lz4", "snappy", "zstd")}
    of_stubs = {"magicbyte_kernels.kaitai_struct"}
    graph = tree.import_graph(shipped)
    assert list(tree.badly_named_modules(graph, shipped, runtime - alike - of_stubs)) == []


def test_runtime_has_no_long_modules_classes_or_functions() -> None:
    paths = sorted(RUNTIME.rglob("*.py"))
    assert [breach for path in paths for breach in tree.too_long(path)] == []


def test_no_fifteen_lines_stand_twice() -> None:
    paths = [path for root in (RUNTIME, *OTHERS) for path in sorted(root.rglob("*.py"))]
    paths = [path for path in paths if path != ASSEMBLED]
    assert list(tree.equal_lines(paths, MAX_EQUAL_LINES)) == []


def test_generated_files_name_their_generator_in_the_first_line() -> None:
    paths = [path for path in GENERATED.rglob("*.py*") if path.suffix in (".py", ".pyi")]
    paths.append(ASSEMBLED)
    first_lines = {path: path.read_text(encoding="utf-8").partition("\n")[0] for path in paths}
    assert len(paths) > 50
    source = re.compile("# Generated (from spec/|by tools/).+ Do not edit: ")
    assert [path for path, line in first_lines.items() if not source.match(line)] == []


def test_every_slow_test_exists() -> None:
    for name in (*SLOW, *LONGEST):
        path, _, function = name.partition("::")
        file = CHECKOUT / "tests" / path
        assert f"def {function}(" in file.read_text() if function else file.exists(), name


# The checks notice what they are made for.


@pytest.mark.parametrize(
    ("files", "cycle"),
    [
        ({"a.py": "import b", "b.py": "x = 1"}, []),
        ({"a.py": "import b", "b.py": "import a"}, ["a", "b", "a"]),
        ({"a.py": "import b", "b.py": "def f():\n    from a import x"}, ["a", "b", "a"]),
        ({"p/__init__.py": "from p import b", "p/b.py": "from p import x"}, ["p", "p.b", "p"]),
    ],
)
def test_import_cycle_of_modules_is_found(
    files: dict[str, str], cycle: list[str], tmp_path: Path
) -> None:
    modules = written(files, tmp_path)
    found = tree.import_cycle(tree.import_graph(modules))
    assert sorted(found) == sorted(cycle) or sorted(found[1:]) == sorted(cycle[1:])


def test_import_cycle_of_packages_is_found(tmp_path: Path) -> None:
    files = {"p/a.py": "import q.b", "q/b.py": "x = 1", "q/c.py": "import p.d", "p/d.py": ""}
    modules = written({**files, "p/__init__.py": "", "q/__init__.py": ""}, tmp_path)
    graph = tree.import_graph(modules)
    assert tree.import_cycle(graph) == []
    assert set(tree.import_cycle(tree.package_graph(graph, modules))) == {"p", "q"}


def test_module_with_the_wrong_underscore_is_found(tmp_path: Path) -> None:
    files = {"p/a.py": "import p.b, q._d", "p/b.py": "", "q/c.py": "import p.a", "q/_d.py": ""}
    modules = written(files, tmp_path)
    breaches = tree.badly_named_modules(tree.import_graph(modules), modules, {"p.a", "p.b", "q._d"})
    assert [breach.partition(",")[0] for breach in breaches] == [
        "p.b has no underscore",
        "q._d has an underscore",
    ]


@pytest.mark.parametrize(
    ("text", "breaches"),
    [
        ("x = 1\n" * 501, ["module long has 501 lines"]),
        ("class A:\n" + "    x = 1\n" * 300, ["class A has 301 lines"]),
        ("def f():\n" + "    x = 1\n" * 70, ["function f has 71 lines"]),
        ("def f():\n" + "    x = 1\n" * 69 + "class A:\n" + "    x = 1\n" * 299, []),
    ],
)
def test_long_code_is_found(text: str, breaches: list[str], tmp_path: Path) -> None:
    (path := tmp_path / "long.py").write_text(text)
    found = list(tree.too_long(path))
    assert [breach.partition(": ")[2].partition(",")[0] for breach in found] == breaches


def test_equal_lines_are_found_whatever_their_indentation_and_comments(tmp_path: Path) -> None:
    lines = [f"x{n} = {n}" for n in range(15)]
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("\n".join(lines))
    second.write_text("if x:\n" + "\n    # why\n".join(f"    {line}" for line in lines))
    assert len(list(tree.equal_lines([first, second], 14))) == 1
    assert list(tree.equal_lines([first, second], 15)) == []


def written(files: dict[str, str], folder: Path) -> dict[str, Path]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return tree.modules_below(folder)
