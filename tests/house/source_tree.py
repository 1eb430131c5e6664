"""Checks of rules for hand-written code by its syntax trees: cycles, lengths, copied lines."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

MAX_LINES = {"module": 500, "class": 300, "function": 70}


def modules_below(*roots: Path) -> dict[str, Path]:
    """Return {dotted name: path} of the modules below *roots*."""
    modules = {}
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            modules[name.removesuffix(".__init__")] = path
    return modules


def statements(text: str | bytes) -> Iterator[ast.AST]:
    """Yield all statements of the Python *text*: a tenth of its nodes, so `ast.walk` takes longer than parsing."""
    nodes: list[ast.AST] = [ast.parse(text)]
    while nodes:
        node = nodes.pop()
        yield node
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            nodes += getattr(node, name, ())


def import_graph(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Return, for each of *modules*, the ones that it imports anywhere in its code."""
    graph = {}
    for name, path in modules.items():
        targets = set()
        for node in statements(path.read_bytes()):
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno}: a relative import"
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    targets.add(submodule if submodule in modules else str(node.module))
        graph[name] = targets & modules.keys() - {name}
    return graph


def package_graph(
    graph: Mapping[str, set[str]], modules: Mapping[str, Path]
) -> dict[str, set[str]]:
    """Return the packages that each package imports, other than its parents and subpackages."""

    def package(name: str) -> str:
        return name if modules[name].name == "__init__.py" else name.rpartition(".")[0]

    packages: dict[str, set[str]] = defaultdict(set)
    for name, targets in graph.items():
        here = package(name)
        for there in map(package, targets):
            if not f"{there}.".startswith(f"{here}.") and not f"{here}.".startswith(f"{there}."):
                packages[here].add(there)
    return packages


def import_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return a cycle of imports that ends with its first name, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def badly_named_modules(
    graph: Mapping[str, set[str]], modules: Mapping[str, Path], shared: Set[str]
) -> Iterator[str]:
    """Yield the modules among *shared* whose names do not say whether others may import them.

    A module begins with an underscore if, and only if, its own package alone imports it.
    """
    for name in sorted(shared):
        package, _, own_name = name.rpartition(".")
        if modules[name].name == "__init__.py":
            continue
        others = sorted(
            importer
            for importer, targets in graph.items()
            if name in targets and not f"{importer}.".startswith(f"{package}.")
        )
        if own_name.startswith("_") and others:
            yield f"{name} has an underscore, and {others[0]} of another package imports it"
        elif not own_name.startswith("_") and not others:
            yield f"{name} has no underscore, and no other package imports it"


def too_long(path: Path) -> Iterator[str]:
    """Yield a message for the module at *path* and each class and function over its limit."""
    text = path.read_text(encoding="utf-8")
    sizes = [("module", path.stem, text.count("\n"))]
    for node in statements(text):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            sizes.append((kind, node.name, (node.end_lineno or 0) - node.lineno + 1))
    for kind, name, num_lines in sizes:
        if num_lines > MAX_LINES[kind]:
            yield f"{path}: {kind} {name} has {num_lines} lines, more than {MAX_LINES[kind]}"


def equal_lines(paths: list[Path], most: int) -> Iterator[str]:
    """Yield a message for each run of more than *most* equal lines at two places in *paths*.

    Imports, comments, lines of punctuation alone, and indentation are ignored.
    """
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in paths:
        text = path.read_text(encoding="utf-8")
        imports = {
            number
            for node in statements(text)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for number in range(node.lineno, (node.end_lineno or 0) + 1)
        }
        lines = [
            (number, line.strip())
            for number, line in enumerate(text.splitlines(), 1)
            if number not in imports and re.search(r"^[^#]*\w", line)
        ]
        for run in zip(*(lines[n:] for n in range(most + 1)), strict=False):
            places[tuple(line for _, line in run)].append(f"{path}:{run[0][0]}")
    for same in places.values():
        if len(same) > 1:
            yield f"{most + 1} lines stand at {' and at '.join(same)}"
