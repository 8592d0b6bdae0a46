"""Realistic faults: one small change of one expression, as an edit of the source text."""

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
OPERATORS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "*", ast.Pow: "*"}


class Fault(NamedTuple):
    """Replace the characters ``start:end`` of a file by ``text``."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.kind}: {self.text.strip()[:60]}"


def faults_of(package: Path, root: Path) -> Iterator[Fault]:
    """Yield every fault of a package, of the bodies of its functions alone."""
    files = [package] if package.suffix == ".py" else sorted(package.rglob("*.py"))
    for path in files:
        source = path.read_text()
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line.encode()))
        content = source.encode()
        for function in ast.walk(ast.parse(source)):
            if not isinstance(function, ast.FunctionDef):
                continue
            for statement in function.body:
                for node in ast.walk(statement):
                    if isinstance(node, (ast.expr, ast.If)):
                        for kind, target, text in _changes(node, source):
                            first, last = (starts[line - 1] + column for line, column in _ends(target))
                            if content[first:last].decode() != text:
                                yield Fault(str(path.relative_to(root)), target.lineno, kind, first, last, text)


def sample(package: Path, root: Path, count: int, seed: int) -> list[Fault]:
    """Return ``count`` faults drawn at random, of every kind in turn."""
    kinds: dict[str, list[Fault]] = {}
    for fault in dict.fromkeys(faults_of(package, root)):
        kinds.setdefault(fault.kind, []).append(fault)
    generator = random.Random(f"{seed} {package.name}")
    for faults in kinds.values():
        generator.shuffle(faults)
    drawn: list[Fault] = []
    while len(drawn) < count and any(kinds.values()):
        drawn += [faults.pop() for faults in kinds.values() if faults]
    return drawn[:count]


def apply(fault: Fault, content: bytes) -> bytes:
    return content[: fault.start] + fault.text.encode() + content[fault.end :]


def _ends(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _changes(node: ast.AST, source: str) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the kind of each fault of a node, what it replaces, and the new text."""

    def text(part: ast.AST) -> str:
        return ast.get_source_segment(source, part) or ""

    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        other = COMPARISONS[type(node.ops[0])]
        yield "comparison", node, f"({text(node.left)} {other} {text(node.comparators[0])})"
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield "operator", node, f"({text(node.left)} {OPERATORS[type(node.op)]} {text(node.right)})"
        if isinstance(node.op, (ast.Add, ast.Sub)):
            yield "dropped term", node, f"({text(node.left)})"
    elif isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        yield "and, or", node, f"({word.join(f'({text(value)})' for value in node.values)})"
        yield "skipped condition", node, f"({text(node.values[0])})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "sign", node, f"({text(node.operand)})"
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", node, f"({node.value!r} + 1)" if type(node.value) is int else f"({node.value!r} * 2.0)"
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "switch", node, repr(not node.value)
    elif isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
        first, second = map(text, node.args)
        yield "swapped arguments", node, f"{text(node.func)}({second}, {first})"
    elif isinstance(node, ast.If) and isinstance(node.body[0], (ast.Raise, ast.Return)):
        yield "skipped check", node.test, "False"
