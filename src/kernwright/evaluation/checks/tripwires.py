"""Patterns that known cheats had. A hit adds evidence; it never decides."""

import re

from kernwright.core.candidate import Candidate
from kernwright.core.outcome import CheckResult
from kernwright.core.problem import Problem

_PATTERNS = {
    "clock": r"perf_counter|elapsed_time|time\.time\b|clock_gettime",
    "memory of others": r"/proc/self|gc\.get_objects|sys\._getframe|inspect\.stack|process_vm_readv",
    "comparison": r"allclose|assert_close|__eq__|__torch_function__",
    "escape": r"os\._exit|setsid|os\.fork|os\.kill|atexit|signal\.",
    "network": r"\bsocket\b|urllib|requests\b|pip install",
    "cache by identity": r"data_ptr\(\)\s*(in|==)|\bid\(|_version\b",
    "thread": r"threading|ThreadPool|std::thread|pthread_create",
    "exec": r"\bexec\(|\beval\(|base64|__import__",
}


class Tripwires:
    """Counts hits by kind."""

    name = "tripwires"

    def inspect(self, candidate: Candidate, problem: Problem) -> CheckResult:
        text = "\n".join(file.text for file in candidate.files)
        hits = {kind: float(len(re.findall(pattern, text))) for kind, pattern in _PATTERNS.items()}
        found = {kind: count for kind, count in hits.items() if count}
        detail = f"text mentions {', '.join(found)}; advice only" if found else ""
        return CheckResult(name=self.name, passed=True, detail=detail, evidence=found)
