"""What the rules forbid a text to use."""

import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.outcome import CheckResult
from kernwright.core.problem import Problem, Rules
from kernwright.core.resolve import resolve

WORDS = "kernwright.languages.rule_words:RULE_WORDS"
"""By rule: what it forbids, in words, and how a text says it; languages know that."""
_SHOWN = 60
"""Characters that a message tells of what is forbidden."""


class Forbidden:
    """Names what is forbidden by its line. Python's comments may mention it.

    It reads, and runs nothing: a text that puts such a name together from parts passes.
    """

    name = "forbidden"

    def inspect(self, candidate: Candidate, problem: Problem) -> CheckResult:
        found = next(forbidden_in(candidate.files, problem.rules), "")
        return CheckResult(name=self.name, passed=not found, detail=found)


def forbidden_in(files: Sequence[SourceFile], rules: Rules) -> Iterator[str]:
    """A sentence for each thing that is forbidden, at its first place in each file; the first one is the main file."""
    words: Mapping[str, tuple[str, re.Pattern[str]]] = resolve(WORDS)
    asked = [(rule, *known) for rule, known in words.items() if not getattr(rules, rule)]
    for number, file in enumerate(files if asked else ()):
        code = _without_comments(file.text) if number == 0 or file.name.endswith(".py") else file.text
        for rule, what, pattern in asked:
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
