"""What the rules forbid a text to use: CUDA graphs, and hints to the second-level cache."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import CheckResult
from kernwright.core.problem import Problem, Rules

_GRAPHS = re.compile(
    r"(?<!no-)(?:cuda|cu|hip)_?graph\w*+(?!\W+False)|cuda\.graphs?\b|torch\.cuda(?:\.graphs)?\s+import[^\n]*\bgraph\b"
    r"|make_graphed_callables|\w*StreamBeginCapture\w*|\w*graph_?builder\w*|reduce-overhead|max-autotune(?!-no-cudagraphs)",
    re.IGNORECASE,
)
_HINTS = re.compile(
    r"eviction_policy|cache_modifier(?!\s*=\s*[\"'](?:\.c[av]|\.wb)?[\"'])|\bL2::\w+|\bevict_\w+|createpolicy"
    r"|\w*accesspolicy\w*|\w*persisting_?l2\w*|\b__(?:ld|st)(?:cg|cs|lu|wt)\b|\b(?:ld|st)\.(?:global\.)?(?:cg|cs|lu|wt)\b"
    r"|\bprefetchu?\.global\S*|bulk\.prefetch\S*",
    re.IGNORECASE,
)
"""Not `.ca`, `.wb` and `.cv`, nor what only `cp.async` calls `.cg`: they ask for the usual, or for what is true."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Forbidden:
    """Names what `cuda_graphs=no` and `l2_hints=no` forbid, by its line. Comments may mention it.

    It reads, and runs nothing: a text that puts such a name together from parts passes.
    """

    name = "forbidden"

    def inspect(self, candidate: Candidate, problem: Problem) -> CheckResult:
        found = next((text for file in candidate.files for text in forbidden_in(file, problem.rules)), "")
        return CheckResult(name=self.name, passed=not found, detail=found)


def forbidden_in(file: SourceFile, rules: Rules) -> Iterator[str]:
    """A sentence for each thing that is forbidden, at its first place."""
    asked = (
        (_GRAPHS, not rules.cuda_graphs, "a CUDA graph", "cuda_graphs"),
        (_HINTS, not rules.l2_hints, "a hint to the L2 cache", "l2_hints"),
    )
    if not any(forbids for _, forbids, _, _ in asked):
        return
    code = _code(file)
    for pattern, forbids, what, rule in asked:
        if forbids and (place := pattern.search(code)) is not None:
            line = code.count("\n", 0, place.start()) + 1
            yield f"{file.name}, line {line}: {place[0]!r} is {what}, which the rules forbid ({rule}=no)"


def _code(file: SourceFile) -> str:
    """The text with comments and lone strings blanked, line by line where it was."""
    if not file.name.endswith(".py"):
        return _COMMENT.sub(_blank, file.text)
    try:
        lone = _lone_strings(ast.parse(file.text))
        tokens = list(tokenize.generate_tokens(io.StringIO(file.text).readline))
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError):
        return file.text
    lines = _lines(file.text)
    for token in reversed(tokens):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.start in lone):
            _put(lines, token, re.sub(r"[^\n]", " ", token.string))
        elif token.type == tokenize.STRING:
            _put(lines, token, _COMMENT.sub(_blank, token.string))
    return "".join(lines)


def _lone_strings(tree: ast.AST) -> set[tuple[int, int]]:
    """Where docstrings, and other strings that are statements, begin."""
    lone = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
    return {(node.lineno, node.col_offset) for node in lone if isinstance(node.value, str)}


def _put(lines: list[str], token: tokenize.TokenInfo, text: str) -> None:
    """`text` in the place of a token, with as many lines."""
    (first, start), (last, end) = token.start, token.end
    whole = lines[first - 1][:start] + text + lines[last - 1][end:]
    lines[first - 1 : last] = _lines(whole)


def _lines(text: str) -> list[str]:
    """As a tokenizer counts them, which ends none at a form feed."""
    return io.StringIO(text).readlines()


def _blank(comment: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", comment[0])
