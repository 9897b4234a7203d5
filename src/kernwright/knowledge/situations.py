"""What is asked of knowledge for one proposal: the problem, where it runs, in what it is written, what limits it."""

from dataclasses import dataclass

from kernwright.core.diagnosis import Diagnosis
from kernwright.core.outcome import BuildFailed, Crashed, Outcome, TimedOut, Wrong
from kernwright.core.problem import Problem

from .failures import crash_class, likely, plain
from .hints import of_failure, of_figures
from .problems import HEAVY, signs_of
from .structure import EXPONENTIALS
from .vocabulary import BOTTLENECKS, SEEN

MOST_SIGNS, MOST_NAMES, MOST_FAMILIES = 12, 12, 5
STRICT, DENSE, EXACT = "strict_float32", ("matmul", "convolution"), ("tf32", "tf32x3", "precision", "matmul")
"""Rules under which a product on tensor cores must be more exact than they are, and what is made of such products."""
WAITING = ("latency", "launch-overhead", "host", "sync")
"""What limits where nobody asks how exact a product is."""
HOST = "cpu"
PORT = "porting"
"""What is asked for where the kernel is written in a language that its successor cannot be."""
ARITHMETIC = ("instruction-mix", "vectorisation", "compute", "tensor-cores-idle")
"""What limits where the cost of an exponential shows; on a host it is a call, which always shows."""
FUSED = 3
"""Operators from which on a problem is about joining them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Of one brief."""

    problem: Problem
    target: str
    languages: tuple[str, ...] = ()
    """In which a candidate can be written."""
    language: str = ""
    """In which the solution that is worked on is written; empty at a start."""
    diagnosis: Diagnosis | None = None
    outcome: Outcome | None = None
    """Of the solution that is worked on."""
    said: str = ""
    """What else may name the matter: its summary, an approach."""

    @property
    def tags(self) -> tuple[str, ...]:
        """In order of weight: bottlenecks, hints, operator families, language, target, the other languages."""
        signs = signs_of(self.problem)
        # How its loops and rows go has nothing to do with why a candidate does not build.
        structure = () if isinstance(self.outcome, BuildFailed) else signs.structure[:MOST_SIGNS]
        families = [*structure, *signs.names[:MOST_NAMES], *signs.families[:MOST_FAMILIES]]
        if len(signs.operators) >= FUSED:
            families.append("fusion")
        if "elementwise" in families and set(HEAVY) & set(families):
            families.append("epilogue")
        host = self.target.partition(":")[0] == HOST
        if not host and self._exact(families):
            families += EXACT
        if EXPONENTIALS & set(signs.operators) and (host or set(ARITHMETIC) & set(self.bottlenecks[:1])):
            families += ("vector-math", "libm") if host else ("exp", "fast-math", "special-functions")
        low = [dtype for dtype in signs.dtypes if dtype not in ("float32", "int64", "bool")]
        own = [self.language] if self.language else []
        hints = [hint for hint in self.hints if hint not in BOTTLENECKS]
        if self.language and self.languages and self.language not in self.languages:
            hints.append(PORT)
        target = self.target if ":" in self.target or not self.target else f"{self.target}:"
        return tuple(dict.fromkeys((*self.bottlenecks, *hints, *families, *low, *own, target, *self.languages)))

    def _exact(self, families: list[str]) -> bool:
        """Whether how exact a product is may be the matter: it is nothing to do with a call that waits or crashes."""
        if signs_of(self.problem).precision != STRICT or set(WAITING) & set(self.bottlenecks[:1]):
            return False
        failure = isinstance(self.outcome, BuildFailed | Crashed | TimedOut | Wrong)
        if failure and not {"precision", "tf32"} & set(self.hints):
            return False
        return bool(set(DENSE) & set(families)) and not {"depthwise", "rnn"} & set(families)

    @property
    def hints(self) -> tuple[str, ...]:
        """What an error or figures point to."""
        seen = of_figures(self.diagnosis.evidence) if self.diagnosis is not None else ()
        if isinstance(self.outcome, BuildFailed):
            return tuple(dict.fromkeys((*of_failure(self.outcome.reason), "compile-error", *seen)))
        if isinstance(self.outcome, Crashed | TimedOut | Wrong):
            return tuple(dict.fromkeys((*of_failure(self.outcome.reason), *seen)))
        return seen

    @property
    def bottlenecks(self) -> tuple[str, ...]:
        """The diagnosis's; of a failure what kind it is."""
        if self.diagnosis is not None and self.diagnosis.bottlenecks:
            return self.diagnosis.bottlenecks
        match self.outcome:
            case BuildFailed():
                return ("build-error",)
            case Wrong():
                return ("numerics",)
            case Crashed() | TimedOut() as outcome:
                return crash_class(outcome)
            case _:
                return ()

    @property
    def text(self) -> str:
        """What words may be looked for: of the diagnosis and the failure; behind `SEEN` of the problem."""
        signs, diagnosis = signs_of(self.problem), self.diagnosis
        parts = [self.said]
        if diagnosis is not None:
            # What the figures rule out is not what is looked for.
            lines = [line for line in diagnosis.text.splitlines() if not any(o in line for o in diagnosis.ruled_out)]
            parts = [*diagnosis.evidence, *self.hints, *lines, *parts]
        if isinstance(self.outcome, BuildFailed | Crashed | TimedOut | Wrong):
            parts = [plain(self.outcome.reason), likely(self.outcome), *self.hints, *parts]
        return SEEN.join((" ".join(parts), " ".join((*signs.operators, signs.prose))))
