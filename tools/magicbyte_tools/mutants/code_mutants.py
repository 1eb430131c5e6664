"""Mutants of Python: off by one, a comparison swapped, a check dropped.

Two kinds of code are not mutated, since they are not rules of a format: f-strings, which are text of
messages, and the constants in COSTS, which are sizes of reads and buffers.
"""

import ast
import re
from collections.abc import Iterator

from magicbyte_tools.mutants.mutant import Mutant, numbered

SWAPPED = {"<": "<=", ">": ">=", "==": "!=", "in": "not in", "is": "is not"}
SWAPPED |= {other: operator for operator, other in SWAPPED.items()}

OPERATOR = re.compile(r"<=|>=|==|!=|<|>|is\s+not|not\s+in|is|in")

COSTS = frozenset(
    [
        *("LEN_FIRST_PIECE", "LEN_LAST_PIECE", "LEN_STEP", "LEN_SMALL", "LEN_RESERVE"),
        *("MAX_CHECKPOINT_BYTES", "MAX_COMPANION_BYTES", "MAX_NUMBER_LENGTH"),
    ]
)
"""Constants for sizes of reads, decompressed chunks, allocations and magicbyte's own files."""

LEAVING = (ast.Raise, ast.Return, ast.Continue, ast.Break)


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """Yield each mutant of *source*, the Python code of *file*."""
    yield from numbered(_Finder(file, source).within(ast.parse(source), ()))


class _Finder:
    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.source = source.encode()
        self.line_starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.line_starts.append(self.line_starts[-1] + len(line))

    def within(self, node: ast.AST, scope: tuple[str, ...]) -> Iterator[Mutant]:
        """Yield the mutants of the nodes in *node*; *scope* names the enclosing classes and functions."""
        for child in ast.iter_child_nodes(node):
            if _is_no_rule(child):
                continue
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                # Only the body: annotations, defaults and decorators are not rules of a format.
                body = ast.Module(body=child.body, type_ignores=[])
                yield from self.within(body, (*scope, child.name))
                continue
            yield from self._of(child, ".".join(scope) or "module")
            if not isinstance(child, ast.AnnAssign):
                yield from self.within(child, scope)
            elif child.value is not None:
                yield from self.within(ast.Expr(child.value), scope)

    def _of(self, node: ast.AST, place: str) -> Iterator[Mutant]:
        match node:
            case ast.Compare():
                yield from self._comparisons(node, place)
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                begin, end = self._span(node)
                changed = f"({number} + 1)"
                yield self._mutant(place, "off by one", begin, end, changed)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                begin, end = self._span(node.left)[1], self._span(node.right)[0]
                between = self.source[begin:end].decode()
                other = "-" if isinstance(node.op, ast.Add) else "+"
                changed = re.sub(r"[+-]", other, between, count=1)
                yield self._mutant(place, "sign", begin, end, changed, of=node)
            case ast.If() if self._checks(node):
                begin, end = self._span(node.test)
                yield self._mutant(place, "check dropped", begin, end, "False")

    def _checks(self, node: ast.If) -> bool:
        """Return whether the body of *node* ends with raise, return, continue, break, yield or a call."""
        last = node.body[-1]
        is_call = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call | ast.Yield)
        return isinstance(last, LEAVING) or is_call

    def _comparisons(self, node: ast.Compare, place: str) -> Iterator[Mutant]:
        operand: ast.expr = node.left
        for right in node.comparators:
            begin, end = self._span(operand)[1], self._span(right)[0]
            between = self.source[begin:end].decode()
            operator = OPERATOR.search(between)
            assert operator is not None
            swapped = SWAPPED[" ".join(operator[0].split())]
            changed = between[: operator.start()] + swapped + between[operator.end() :]
            yield self._mutant(place, "comparison", begin, end, changed, of=node)
            operand = right

    def _mutant(
        self,
        place: str,
        operator: str,
        begin: int,
        end: int,
        changed: str,
        of: ast.expr | None = None,
    ) -> Mutant:
        """Return the mutant whose bytes [begin, end) are *changed*; its name shows the expression *of*."""
        shown_begin, shown_end = self._span(of) if of else (begin, end)
        source, new = self.source, changed.encode()
        before = source[shown_begin:shown_end].decode()
        after = (source[shown_begin:begin] + new + source[end:shown_end]).decode()
        text = (source[:begin] + new + source[end:]).decode()
        change = " ".join(f"{before} -> {after}".split())
        return Mutant(self.file, place, operator, change, text)

    def _span(self, node: ast.expr) -> tuple[int, int]:
        """Return the positions of the first byte of *node* in the source, and of the byte after it."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin = self.line_starts[node.lineno - 1] + node.col_offset
        return begin, self.line_starts[node.end_lineno - 1] + node.end_col_offset


def _is_no_rule(node: ast.AST) -> bool:
    """Return whether *node* is an f-string, an assignment to a constant in COSTS, or a limit `max_bytes`."""
    match node:
        case ast.JoinedStr():
            return True
        case ast.Assign(targets=[target]):
            names = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
            return names <= COSTS
        case ast.keyword(arg="max_bytes", value=ast.BinOp(op=ast.LShift())):
            return True
    return False
