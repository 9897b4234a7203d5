"""Whether the main file can be a candidate at all."""

import re
from pathlib import PurePosixPath

from kernwright.core.candidate import Candidate, entry_of, knobs_of
from kernwright.core.errors import UserError
from kernwright.core.outcome import CheckResult
from kernwright.core.problem import Problem

LARGEST_CHARACTERS = 1 << 20


class Entry:
    """Parses, defines `ModelNew` or `kernel`, has proper knobs and file names, and is not absurdly large."""

    name = "entry"

    def inspect(self, candidate: Candidate, problem: Problem) -> CheckResult:
        fault = self._fault(candidate)
        return CheckResult(name=self.name, passed=fault is None, detail=fault or "")

    def _fault(self, candidate: Candidate) -> str | None:
        for file in candidate.files:
            if PurePosixPath(file.name).name != file.name or not re.fullmatch(r"[\w.+-]+", file.name):
                return f"the file name {file.name!r} must be a plain name without folders"
            if len(file.text) > LARGEST_CHARACTERS:
                return f"{file.name} has {len(file.text)} characters; at most {LARGEST_CHARACTERS} are read"
        try:
            if entry_of(candidate) is None:
                return f"{candidate.main.name} defines neither class ModelNew nor def kernel at module level"
            knobs_of(candidate)
        except SyntaxError as error:
            where = f" (line {error.lineno})" if error.lineno else ""
            return f"{candidate.main.name} is not Python: {error.msg}{where}"
        except (UserError, ValueError) as error:
            return str(error)
        return None
