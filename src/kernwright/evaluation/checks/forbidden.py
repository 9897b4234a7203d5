"""What the rules forbid a text to use: CUDA graphs, and hints to the second-level cache."""

import io
import re
import tokenize
from collections.abc import Iterator, Sequence

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import CheckResult
from kernwright.core.problem import Problem, Rules

_OFF = r"(?!\w{0,40}[\"'\]]{0,2}\s{0,9}(?::\s?bool\s?)?[:=]\s{0,9}[\"']?(?:False|0)\b)"
_GRAPHS = re.compile(
    rf"(?<![a-z])(?<!no-)(?<!disable_)(?:cuda|cu|hip)_?graph(?!s?_unsafe){_OFF}|cuda\.graphs?\b|accelerator\.Graph\b"
    r"|torch\.cuda(?:\.graphs)?\s{1,9}import\s{0,9}\(?[\w\s,]{0,200}\bgraph\b"
    r"|make_graphed_callables|StreamBeginCapture|begin_capture|capture_begin|ScopedCapture|(?<![a-z])graph_?builder"
    r"|reduce-overhead|max-autotune(?!-no-cudagraphs)",
    re.IGNORECASE,
)
_DEFAULT = r"(?![\"']?\s{0,9}(?::\s?tl\.constexpr\s?)?[:=]\s{0,9}[\"'](?:\.c[agv]|\.wb)?[\"'])"
_HINTS = re.compile(
    rf"(?:eviction_policy|cache_modifier){_DEFAULT}|[\"']\.(?:cs|lu|wt)[\"']"
    r"|\bL2::(?:evict|cache_hint|\d+B)|(?<!L1::)\bevict_(?:first|last|unchanged)\b|createpolicy|applypriority"
    r"|access_?policy|persisting_?l2|access_property|annotated_ptr|L2_PROMOTION_L2|MaxL2FetchGranularity"
    r"|\b__(?:ld|st)(?:cs|lu|wt)\b|\bcuda\.(?:ld|st)(?:cs|lu|wt)\b|\b(?:LOAD|STORE)_(?:CS|LU|WT)\b"
    r"|\b(?:ld|st)(?:\.\w{1,9}){0,3}\.(?:cs|lu|wt)\b|\b(?:prefetchu?|discard)(?:\.global)?\.L2|bulk\.prefetch",
    re.IGNORECASE,
)
"""What keeps out of the first-level cache (`.cg`) or asks for what is true (`.cv`) says nothing of the second."""
_SHOWN = 60
"""Characters that a message tells of what is forbidden."""


class Forbidden:
    """Names what `cuda_graphs=no` and `l2_hints=no` forbid, by its line. Python's comments may mention it.

    It reads, and runs nothing: a text that puts such a name together from parts passes. No pattern looks farther than
    a few hundred characters from where it begins, since texts may be long and made to be slow.
    """

    name = "forbidden"

    def inspect(self, candidate: Candidate, problem: Problem) -> CheckResult:
        found = next(forbidden_in(candidate.files, problem.rules), "")
        return CheckResult(name=self.name, passed=not found, detail=found)


def forbidden_in(files: Sequence[SourceFile], rules: Rules) -> Iterator[str]:
    """A sentence for each thing that is forbidden, at its first place in each file; the first one is the main file."""
    asked = [
        (pattern, what, rule)
        for pattern, what, rule in (
            (_GRAPHS, "a CUDA graph", "cuda_graphs"),
            (_HINTS, "a hint to the L2 cache", "l2_hints"),
        )
        if not getattr(rules, rule)
    ]
    for number, file in enumerate(files if asked else ()):
        code = _without_comments(file.text) if number == 0 or file.name.endswith(".py") else file.text
        for pattern, what, rule in asked:
            if (place := pattern.search(code)) is not None:
                line = code.count("\n", 0, place.start()) + 1
                shown = place[0][:_SHOWN]
                yield f"{file.name}, line {line}: {shown!r} is {what}, which the rules forbid ({rule}=no)"


def _without_comments(text: str) -> str:
    """Line by line as it was; all of a text that is not Python."""
    lines = io.StringIO(text).readlines()
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column] + "\n"
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError):
        return text
    return "".join(lines)
