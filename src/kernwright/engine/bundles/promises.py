"""Whether a bundle keeps what its words promise: the name of its plan, the rules, checks that passed, sources."""

import re
import warnings
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from tokenize import detect_encoding

from kernwright.core.candidate import entry_of, parsed
from kernwright.core.errors import UserError
from kernwright.core.outcome import CheckResult
from kernwright.core.plan import FULL, QUICK, Plan
from kernwright.core.problem import Problem
from kernwright.problems.file import PRECISIONS, name_in, problem_in

from .facts import Bundle, Refused, shown

WIDEST = 0.01
"""How wide an interval every plan called `full` has aimed for, at most."""
CHECKS_SINCE = {
    3: frozenset("entry tripwires outputs repeatable single_element held_result own_kernels inputs_untouched".split()),
    5: frozenset("extremes fresh_weights distributions".split()),
    6: frozenset("integers two_forwards".split()),
    20: frozenset({"trained_weights"}),
    44: frozenset({"forbidden"}),
}
"""By the first version of the judge that always had them; they came while the one before was in use. Older ones than
the first left no samples for a bundle to hold."""
CHECKS = frozenset[str]().union(*CHECKS_SINCE.values())
"""Every one of them ran, or nothing was verified by this judge."""
SANITIZE = "sanitize: "
"""What the check by a tool that watches memory begins with; its name follows."""
MOST_VENDOR_SHARE = 0.1
NAME = re.compile(r"[A-Za-z][\w.+-]*(:[\w.+-]+)?", re.ASCII)
"""Of a language, or of a target."""
ASCII = bytes(range(128))


def require_kept(bundle: Bundle) -> None:
    """For a bundle whose judge is known and whose plan makes `verified`.

    Raises:
        Refused: something is not what it is called.
    """
    _plan(bundle.plan)
    _checks(bundle)
    _sources(bundle)


def _plan(plan: Plan) -> None:
    if plan.name == QUICK.name:
        raise Refused("plan", f"the plan {QUICK.name!r} confirms nothing, so nothing is verified by it")
    if plan.name != FULL.name:
        return
    weaker = {
        "baselines": not set(FULL.baselines) <= set(plan.baselines),
        "half_width": not 0 < plan.half_width <= WIDEST,
        "compare": plan.compare != FULL.compare,
        "cold": not plan.cold,
        "sanitize": not plan.sanitize,
    }
    if found := [name for name, is_weaker in weaker.items() if is_weaker]:
        raise Refused(
            "plan",
            f"it is called {FULL.name!r}, and its {found[0]}, {shown(getattr(plan, found[0]))}, is less than that name "
            "promises; give a plan of your own a name of its own",
        )


def _checks(bundle: Bundle) -> None:
    checks = {check.name: check for check in bundle.evaluation.checks}
    if len(checks) != len(bundle.evaluation.checks):
        raise Refused("checks", "one stands there twice")
    version = bundle.evaluation.judge_version
    expected = set[str]().union(*(names for since, names in CHECKS_SINCE.items() if since <= int(version)))
    if not expected:
        raise Refused("evaluation", f"it is by version {shown(version)} of the judge, which left no bundles")
    if missing := sorted(expected - checks.keys()):
        raise Refused("checks", f"{missing[0]!r} is missing")
    _require_known(checks, int(version), bundle.plan)
    for check in checks.values():
        if not check.passed:
            raise Refused("checks", f"{shown(check.name)} did not pass, so nothing was verified")
        _evidence(check)
    rules = bundle.problem.rules
    if rules.deterministic and checks["repeatable"].evidence.get("bitwise") != 1.0:
        raise Refused("checks", "the rules ask for the same bits every time, and 'repeatable' does not say so of them")
    if rules.vendor_libraries == "forbidden":
        share = checks["own_kernels"].evidence.get("vendor_share")
        if share is None or not 0 <= share <= MOST_VENDOR_SHARE:
            raise Refused(
                "checks", f"the rules forbid vendors' libraries, and their share, by 'own_kernels', is {shown(share)}"
            )


def _require_known(names: Iterable[str], version: int, plan: Plan) -> None:
    known = {name: since - 1 for since, names in CHECKS_SINCE.items() for name in names}
    for name in names:
        if name.startswith(SANITIZE) and name.removeprefix(SANITIZE).strip():
            if not plan.sanitize:
                raise Refused("checks", f"{shown(name)} is there, and none of its kind was expected: the plan has none")
        elif known.get(name, version + 1) > version:
            raise Refused("checks", f"{shown(name)} is there, and version {version} of the judge has no such check")


def _evidence(check: CheckResult) -> None:
    ratio, cases = check.evidence.get("error_ratio", 0.0), check.evidence.get("cases", 1.0)
    if not 0 <= ratio <= 1:
        raise Refused(
            "checks", f"{shown(check.name)} passed, and its largest error is {ratio:.3g} times what is allowed"
        )
    if check.name == "outputs" and cases < 1:
        raise Refused("checks", "'outputs' passed, and compared none")


def _sources(bundle: Bundle) -> None:
    _require_python("problem", bundle.problem.source)
    _stated(bundle.problem)
    _require_python("candidate", bundle.candidate.main.text)
    for part, name in (("candidate", bundle.candidate.language), ("evaluation", bundle.evaluation.target)):
        if not NAME.fullmatch(name):
            raise Refused(part, f"{shown(name)} names no language or target")
    if entry_of(bundle.candidate) is None:
        raise Refused("candidate", "its main file defines neither ModelNew nor kernel")


def _stated(problem: Problem) -> None:
    """What the text of the problem says of it, which is read without being run, as for any judgement."""
    try:
        stated = problem_in(Path("problem.py"), problem.source)
    except UserError as error:
        raise Refused("problem", f"its source states none: {shown(str(error))}") from None
    name = name_in(problem.source)
    if name is not None and name != problem.name:
        raise Refused(
            "problem", f"its name is {shown(problem.name)}, and {shown(name)}, as its source says, was expected"
        )
    if problem.rules.precision not in PRECISIONS:
        raise Refused("problem", f"its rules ask for the precision {shown(problem.rules.precision)}, which is none")
    for name in ("workloads", "tolerance", "backward", "entry"):
        if getattr(stated, name) != getattr(problem, name):
            raise Refused("problem", f"its source states another {name}: {shown(getattr(stated, name))}")


def _require_python(part: str, text: str) -> None:
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed(text)
    except (SyntaxError, ValueError) as error:
        where = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        raise Refused(part, f"its source{where} is not Python, which is what the judge ran") from None
    _require_utf8(part, text)


def _require_utf8(part: str, text: str) -> None:
    """A file's first lines can tell Python to read other letters in it than everyone else does."""
    try:
        # Python ends lines at any of these; what looks for the name does not.
        named = detect_encoding(BytesIO(re.sub("\r\n?", "\n", text).encode()).readline)[0]
        same = named in ("utf-8", "utf-8-sig") or (text.isascii() and ASCII.decode(named) == ASCII.decode())
    except (SyntaxError, LookupError, ValueError):
        raise Refused(part, "its source names an encoding that Python cannot read, and UTF-8 was expected") from None
    if not same:
        raise Refused(part, f"its source has Python read it as {shown(named)}, and UTF-8 was expected")
