"""A brief as a prompt: one Markdown file per intent and per kind of information, put together by Jinja2."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from kernwright.core.brief import REMARKS, Brief, Earlier, Mended, Recalled
from kernwright.core.candidate import Candidate
from kernwright.core.diagnosis import Bottleneck, Diagnosis
from kernwright.core.errors import missing_extra
from kernwright.core.expectation import examples
from kernwright.core.guidance import BYTES_PER_TOKEN, Shown
from kernwright.core.model import Prompt
from kernwright.core.outcome import BuildFailed, Crashed, Evaluation, timings_of
from kernwright.core.problem import Rules
from kernwright.core.profile import Profile
from kernwright.core.redaction import covered, redacted

from .profile_lines import expecting_of, lines_of

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parents[1] / "prompts"
ORDER = (
    "task",
    "hints",
    "languages",
    "solutions",
    "profile",
    "errors",
    "mended",
    "diagnosis",
    "insights",
    "memory",
    "failures",
    "knowledge",
    "library",
    "tries",
    "reply",
)
"""Kinds of information, as they follow the intent; one that has nothing to say is left out."""
NO_CODE = frozenset({"languages"})
"""Left out where text about a candidate is asked for."""
LOG_CHARACTERS = 4000
RIGHT = frozenset({"built", "checked", "measured", "verified"})
_TICKS = re.compile("`+")
_FENCES = {".py": "python", ".cpp": "cpp", ".cu": "cpp", ".h": "cpp", ".cl": "c"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """An earlier candidate as it is shown."""

    node: int
    role: str
    full: bool
    candidate: Candidate
    evaluation: Evaluation | None
    summary: str
    approach: str
    profile: Profile | None = None

    @property
    def files(self) -> Iterator[Mapping[str, str]]:
        """Name, text and the name of its fence."""
        return _files(self.candidate)

    @property
    def figures(self) -> str:
        """Its runtime, where it has one."""
        timings = timings_of(self.evaluation.outcome) if self.evaluation else None
        if timings is None:
            return ""
        s = timings.speedup
        return f"Speedup over the faster of eager and compiled PyTorch: {s.estimate:.3f}x [{s.low:.3f}, {s.high:.3f}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the model wanted to read before its answer, and what it was given."""

    asked: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A candidate that the model had judged before its answer."""

    text: str
    """Its reply."""
    verdict: str
    reason: str
    log: str = ""


def prompt_of(
    brief: Brief, tried: Sequence[Tried] = (), left: int = 0, looked: Sequence[Looked] = (), looks: int = 0
) -> Prompt:
    """The same for the same brief; with what was tried and looked up before the answer, and how many tries are `left`
    and how many looks.

    Raises:
        UserError: Jinja2 is not installed.
    """
    facts = _facts(brief) | {"tried": tried, "left": left, "looked": looked, "looks": looks}
    # Nobody is to write source where text is asked for.
    kinds = [kind for kind in ORDER if not (facts["text_only"] and kind in NO_CODE)]
    names = [_intent(brief.intent, brief.variant), *(f"information/{kind}.md" for kind in kinds)]
    parts = [text for name in names if (text := _tidy(_template(name).render(facts)))]
    return Prompt(system=_tidy(_template("system.md").render()), user="\n\n".join(parts) + "\n")


def agent_prompt_of(brief: Brief) -> Prompt:
    """The same for an agent that leaves files in place of a reply."""
    plain = prompt_of(brief)
    how = _tidy(_template("agent.md").render(based=base_of(brief) is not None))
    return Prompt(system=plain.system, user=f"{how}\n\n{plain.user}")


def diagnosis_prompt_of(brief: Brief, candidate: Candidate, profile: Profile, diagnosis: Diagnosis) -> Prompt:
    """What a model is asked about the profile of the brief's own node."""
    facts = {
        "node": brief.node,
        "target": brief.target,
        "problem": redacted(brief.problem),
        "files": list(_files(candidate)),
        "lines": list(lines_of(profile)),
        "rules": covered(diagnosis.text, brief.problem),
        "classes": get_args(Bottleneck),
    }
    user = _tidy(_template("diagnose.md").render(facts))
    return Prompt(system=_tidy(_template("system.md").render()), user=user + "\n")


def base_of(brief: Brief) -> Earlier | None:
    """The solution that edits apply to: the first that the writer is shown and asked to change; None without one."""
    return brief.parents[0] if brief.parents and _parents_shown(brief) != "none" else brief.best


def solutions_of(brief: Brief) -> list[Solution]:
    """What is shown, each once, slow to fast where the guidance says so."""
    shown = _parents_shown(brief)
    found: dict[int, Solution] = {}
    for earlier, how, role in (
        *((parent, shown, "the parent") for parent in brief.parents),
        *(((brief.best, brief.guidance.best, "the best so far"),) if brief.best else ()),
        *((each, "full", "among the best") for each in brief.elite),
    ):
        if how == "none":
            continue
        old = found.get(earlier.node)
        found[earlier.node] = Solution(
            node=earlier.node,
            role=f"{old.role}, {role}" if old else role if how == "full" else "",
            full=how == "full" or (old is not None and old.full),
            candidate=earlier.candidate,
            evaluation=earlier.evaluation,
            summary=earlier.summary,
            approach=earlier.approach,
            profile=earlier.profile,
        )
    every = list(found.values())
    return sorted(every, key=_speed) if brief.guidance.worst_first else every


def _files(candidate: Candidate) -> Iterator[Mapping[str, str]]:
    for file in candidate.files:
        yield {"name": file.name, "text": file.text, "fence": _FENCES.get(Path(file.name).suffix, "")}


def _parents_shown(brief: Brief) -> Shown:
    """Of a repair, a port or a remark the parent is the subject, whatever the guidance says."""
    shown = brief.guidance.parents
    needed = brief.intent in ("repair", "port", "explain", "critique")
    return "full" if needed and shown == "none" else shown


def _facts(brief: Brief) -> dict[str, Any]:
    base, guidance = base_of(brief), brief.guidance
    solutions = solutions_of(brief)
    profiles = map(_profile, solutions) if guidance.profile else ()
    told = brief.intent == "repair" or guidance.errors
    return {
        "intent": brief.intent,
        "target": brief.target,
        "platform": _optional(f"platforms/{brief.target.partition(':')[0]}.md"),
        "problem": redacted(brief.problem),
        "languages": [(name, _optional(f"languages/{name}.md")) for name in brief.languages],
        "base": "the problem's own code" if base is None else f"solution {base.node} below",
        "base_node": None if base is None else base.node,
        "solutions": solutions,
        "profiles": [each for each in profiles if each["lines"]],
        "errors": [
            _error(parent.node, parent.evaluation, brief)
            for parent in (brief.parents if told else ())
            if parent.evaluation is not None and parent.evaluation.outcome.kind not in RIGHT
        ],
        "diagnosis": covered(brief.diagnosis, brief.problem) if guidance.diagnosis else "",
        "expected_of": _expected_of(brief),
        "expect_such": " or ".join(f"`{text}`" for text in examples(brief.counted)),
        "expect_counted": expecting_of(brief.counted),
        "insights": brief.insights,
        "memory": [_covered(m, brief) for m in brief.memory],
        "failures": [_covered(m, brief) for m in brief.failures],
        "knowledge": list(_fitting(brief)),
        "further": brief.further,
        "mended": [_mended(each, brief) for each in brief.mended],
        "hints": brief.hints,
        "text_only": brief.intent in REMARKS,
    }


def _expected_of(brief: Brief) -> int | None:
    """The solution against which a writer is to say what changes; None where nothing would tell whether it did."""
    if brief.intent not in ("improve", "combine", "simplify") or not brief.guidance.diagnosis or not brief.parents:
        return None
    return brief.parents[0].node if _parents_shown(brief) != "none" else None


def _profile(solution: Solution) -> dict[str, Any]:
    lines: list[str] = []
    evaluation = solution.evaluation
    timings = timings_of(evaluation.outcome) if evaluation else None
    for w in timings.workloads if timings else ():
        times = ", ".join(f"{name} {ns / 1000:.1f} us" for name, ns in w.time_ns.items())
        copy = f"; copying as many bytes {w.copy_ns / 1000:.1f} us" if w.copy_ns else ""
        lines.append(f"`{w.workload}`: {times}{copy}")
    if evaluation is not None and evaluation.resources:
        lines.append("build: " + ", ".join(f"{name} {value:g}" for name, value in sorted(evaluation.resources.items())))
    if solution.profile is not None:
        lines += lines_of(solution.profile)
    return {"node": solution.node, "lines": lines}


def tried_of(text: str, evaluation: Evaluation, brief: Brief) -> Tried:
    """What is told of a candidate that was tried."""
    outcome, timings = evaluation.outcome, timings_of(evaluation.outcome)
    speed = f"speedup {timings.speedup.estimate:.3f}x; " if timings else ""
    reason = covered(speed + outcome.reason, brief.problem)
    return Tried(text=text, verdict=outcome.kind, reason=reason, log=covered(_log(evaluation), brief.problem))


def _log(evaluation: Evaluation) -> str:
    outcome = evaluation.outcome
    return outcome.log[-LOG_CHARACTERS:] if isinstance(outcome, BuildFailed | Crashed) else ""


def _error(node: int, evaluation: Evaluation, brief: Brief) -> dict[str, Any]:
    outcome, problem = evaluation.outcome, brief.problem
    checks = [
        {"name": check.name, "detail": covered(check.detail, problem)}
        for check in evaluation.checks
        if not check.passed
    ]
    return {
        "node": node,
        "verdict": outcome.kind,
        "reason": covered(outcome.reason, problem),
        "checks": checks,
        "log": covered(_log(evaluation), problem),
    }


def _covered(recalled: Recalled, brief: Brief) -> dict[str, Any]:
    return {
        "node": recalled.node,
        "summary": recalled.summary,
        "verdict": recalled.verdict,
        "reason": covered(recalled.reason, brief.problem),
        "speedup": recalled.speedup,
        "times": recalled.times,
    }


def _mended(mended: Mended, brief: Brief) -> dict[str, Any]:
    where = f"solution {mended.node}" + (f" of run {mended.run}" if mended.run else "")
    return {
        "where": where,
        "reason": covered(mended.reason, brief.problem),
        "approach": covered(mended.approach, brief.problem),
        "change": mended.change,
    }


def _fitting(brief: Brief) -> Iterator[Any]:
    left = brief.guidance.knowledge_tokens * BYTES_PER_TOKEN
    for passage in brief.knowledge:
        left -= passage.size
        if left < 0:
            return
        yield passage


def _speed(solution: Solution) -> float:
    timings = timings_of(solution.evaluation.outcome) if solution.evaluation else None
    return timings.speedup.estimate if timings else 0.0


def _intent(intent: str, variant: str) -> str:
    own = f"intents/{intent}.{variant}.md"
    return own if variant and (FOLDER / own).is_file() else f"intents/{intent}.md"


@cache
def _optional(name: str) -> str:
    path = FOLDER / name
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


@cache
def _environment() -> "Environment":
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ModuleNotFoundError:
        raise missing_extra("The operator 'llm'", "models") from None
    made = Environment(  # Markdown, not HTML: nothing is to be escaped; text from outside is fenced instead
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        auto_reload=False,  # the files are the package's own: nobody changes them while it runs
    )
    made.filters |= {
        "fenced": fenced,
        "inline": inline,
        "parameters": _parameters,
        "recalled": _line,
        "rules": _rules,
    }
    return made


def _template(name: str) -> Any:
    return _environment().get_template(name)


def fenced(text: str, language: str = "") -> str:
    """The text in a fence longer than any inside, so that it cannot end it."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def inline(text: str) -> str:
    """One line of it, which can begin no heading, list or fence."""
    return " ".join(text.split()).replace("```", "'''")


def _parameters(params: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in params.items()) or "get_inputs() as it stands"


def _rules(rules: Rules) -> str:
    shown = {True: "yes", False: "no"}
    lines = []
    for field in fields(Rules):
        value = getattr(rules, field.name)
        lines.append(f"* {field.name}: {shown[value] if isinstance(value, bool) else value}")
    return "Rules:\n" + "\n".join(lines)


def _line(recalled: Mapping[str, Any]) -> str:
    worth = f"{recalled['speedup']:.3f}x" if recalled["speedup"] else recalled["verdict"]
    what = f"{recalled['summary']}: " if recalled["summary"] else ""
    why = f"; {recalled['reason']}" if recalled["reason"] else ""
    often = f" ({recalled['times']} times)" if recalled["times"] > 1 else ""
    return inline(f"solution {recalled['node']}: {what}{worth}{often}{why}")


def _tidy(text: str) -> str:
    """Without blank lines at the ends. Inside they stay: they may be part of somebody's source."""
    return text.strip("\n").rstrip()


def variants() -> Iterable[tuple[str, str]]:
    """(intent, variant) of every intent's prompt; the variant is empty for the intent's own."""
    for path in sorted((FOLDER / "intents").glob("*.md")):
        intent, _, variant = path.stem.partition(".")
        yield intent, variant


def kinds() -> Sequence[str]:
    """Of information that have a prompt file."""
    return sorted(path.stem for path in (FOLDER / "information").glob("*.md"))
