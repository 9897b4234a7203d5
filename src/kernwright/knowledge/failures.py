"""What equal errors have in common, whatever names, places and numbers they mention."""

import re
from functools import lru_cache

from kernwright.core.diagnosis import Bottleneck
from kernwright.core.digest import digest_bytes
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
_HUNG = re.compile(r"timed? ?out|does not end|deadlock|\bhang|barrier", re.IGNORECASE)
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
    return _CAUSES.get(_size(outcome.reason), "")


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
