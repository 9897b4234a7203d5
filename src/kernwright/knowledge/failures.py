"""What equal errors have in common, whatever names, places and numbers they mention."""

import re
from functools import lru_cache

from kernwright.core.digest import digest_bytes
from kernwright.core.diagnosis import Bottleneck
from kernwright.core.outcome import BuildFailed, Checked, Crashed, Measured, Outcome, TimedOut, Verified
from kernwright.core.outcome import Built as BuildOnly

LONGEST = 400
_TELLING = re.compile(r"\berror\b|Error\b|Exception\b|Traceback", re.IGNORECASE)
_STEPS = (
    (re.compile(r"0x[0-9a-fA-F]+"), "#"),
    (re.compile(r"(?:[\w.\-]*/)+[\w.\-]*"), "PATH"),
    (re.compile(r"\b[0-9a-f]{16,}\b(\.\w+)?"), "PATH"),
    (re.compile(r"\bworkload '[^']*'|\ba held-out workload"), "workload"),
    (re.compile(r"\binputs [^:]*\bseed \d+"), "inputs"),
    (re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\u2018[^\u2019]*\u2019"), "NAME"),
    (re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", re.IGNORECASE), "#"),
    (re.compile(r"\[[\s#,]*\]|\([\s#,]*\)"), "[#]"),
    (re.compile(r"\s+"), " "),
)
_CAUSES = {
    "near": "tolerance error budget rounding accumulation precision",
    "far": "bounds mask tail index shape held-out",
    "none": "nan infinity overflow uninitialised poisoned memory",
}
_HINTS = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in {
        r"\bnan\b|\binf\b|uninitiali[sz]ed|poison|never written|before (it is|they are) written": "poisoned "
        "uninitialised bounds tail masking shapes",
        r"sigsegv|segmentation|misaligned|illegal (memory )?access|out.of.bounds|alignment|is a multiple of": "alignment "
        "shapes bounds tail strides pointers",
        r"out.?of.?memory|allocate|bad_alloc|\bOOM\b": "memory limits deadline",
        r"out of resource|shared memory|too many registers|exceeds": "registers shared-memory tiles resources stages",
        r"timed? ?out|does not end|deadlock|hang|wait": "deadlock barrier grid-sync deadline",
        r"barrier|syncthreads|__sync": "barrier sync warp-shuffle",
        r"shfl|shuffle|warp|wavefront": "warp-shuffle votes wavefront",
        r"differ|two runs|determinis|repeat": "determinism atomics order",
        r"view|alias|same memory|overlap": "aliasing output-form new memory",
        r"input.* (was|were) (changed|written|modified)|did not (change|move)": "inputs caching state",
        r"vendor|cublas|cudnn|aten::": "vendor-libraries fallback rules",
        r"grows|accumulat|number of (keys|terms|steps)": "accumulation summation precision",
        r"relative|rms|tolerance|allowed|error [\d.e+-]+": "tolerance precision rounding",
        r"knob|literal|default": "knobs literals",
        r"has no attribute|undefined|undeclared|not declared|identifier|NameError|cannot access": "compile-error names",
        r"type|dtype|assert": "compile-error typing",
        r"\barg(ument)?s?\b|signature|parameter": "launch arguments types candidate-form",
        r"cannot open|no such file|include|import": "loader headers candidate-form",
    }.items()
)
"""What a reason says, and what notes on it speak of."""
_HUNG = re.compile(r"timed? ?out|does not end|deadlock|hang|barrier", re.IGNORECASE)
_SAID_BY_PYTHON = re.compile(r"\b(Type|Name|Attribute|Value|Logic|Import|Argument|Key|Assertion)Error\b")
_FACTOR = re.compile(r"error ([\d.e+]+) x the allowed")
_NAN = re.compile(r"\b(nan|inf)\b", re.IGNORECASE)


def failed(outcome: Outcome) -> bool:
    """Whether it says that a candidate cannot be used."""
    return not isinstance(outcome, BuildOnly | Checked | Measured | Verified)


def signature_of(outcome: Outcome) -> str:
    """A digest that equal failures share; empty for what is none."""
    if not failed(outcome):
        return ""
    log = outcome.log if isinstance(outcome, BuildFailed | Crashed) else ""
    return _signature(outcome.kind, _reason(outcome.reason, log))


def likely(outcome: Outcome) -> str:
    """Words for what causes such a failure most often: a number that is a little off has other causes than a NaN."""
    if not failed(outcome):
        return ""
    hints = (words for pattern, words in _HINTS if pattern.search(outcome.reason))
    return " ".join((*hints, _CAUSES.get(_size(outcome.reason), ""))).strip()


def crash_class(outcome: Crashed | TimedOut) -> tuple[Bottleneck, ...]:
    """What notes count such an end to: waiting, a misuse of an interface, else a wrong access to memory."""
    if isinstance(outcome, TimedOut) or _HUNG.search(outcome.reason):
        return ("sync",)
    return ("build-error",) if _SAID_BY_PYTHON.search(outcome.reason) else ("numerics",)


def plain(reason: str) -> str:
    """The reason without names, places and numbers."""
    text = " ".join(reason.split())[:LONGEST]
    for pattern, by in _STEPS:
        text = pattern.sub(by, text)
    return text.strip().lower()


def _reason(reason: str, log: str) -> str:
    """Where the reason says nothing of its own, the last telling line of the log."""
    if _TELLING.search(reason) or not log:
        return reason
    lines = [line for line in log.splitlines() if _TELLING.search(line)]
    return f"{reason} {lines[-1]}" if lines else reason


@lru_cache(maxsize=4096)
def _signature(kind: str, reason: str) -> str:
    return digest_bytes(f"{kind}\n{plain(reason)}\n{_size(reason)}".encode())[:12]


def _size(reason: str) -> str:
    """Whether a wrong number is none at all, far away or only imprecise: these have different causes."""
    found = _FACTOR.search(reason)
    if _NAN.search(reason):
        return "none"
    if not found:
        return ""
    try:
        return "far" if float(found[1]) > 100 else "near"
    except ValueError:
        return ""
