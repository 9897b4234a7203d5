"""A brief as Markdown and as JSON, without what is held back from whoever writes candidates."""

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from kernwright.core.brief import Brief, Earlier, Recalled
from kernwright.core.counters import COUNTERS
from kernwright.core.expectation import examples
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.problem import Problem, Rules
from kernwright.core.redaction import covered, redacted
from kernwright.search.operators.profile_lines import expecting_of, lines_of

from . import figures
from .contract import log_of

CONTRACT = """\
Answer with one Python file. It holds either

* `class ModelNew(torch.nn.Module)`: constructor arguments, parameter and buffer names and shapes of `Model`
  (the judge copies the weights in), and a `forward` with the same arguments and results; or
* `def kernel(*inputs)`: the same as `Model.forward`, for a problem without parameters or buffers.

It imports PyTorch, the standard library and its language's loader; nothing else of the problem's file is there when it
runs."""
NATIVE = """\
Native code for the CPU is C++17 with OpenMP behind a plain C interface:

```python
import torch
from kernwright.languages.cpp_loader import load

BLOCK = 64
KNOBS = {"BLOCK": [32, 64, 128]}  # optional: values a tuner may try, literals only, the default among them

SOURCE = r\"\"\"
#include <cstdint>
extern "C" void scale(const float* x, float* y, int64_t n, double factor) {
  #pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * (float)factor;
}
\"\"\"
lib = load(SOURCE, defines={"BLOCK": BLOCK}, flags=["-ffast-math"])  # at module level; -O3 -march=native are set


def kernel(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    lib.scale(x, y, x.numel(), 2.0)  # tensors become pointers, ints int64_t, floats double
    return y
```"""
CONDITIONS = """\
Inputs come with the strides that the problem's generator gives them. Results are compared with a float64 oracle, on
the very calls that are timed, with fresh values each time, and on shapes that are not listed here. Results must be
new memory, not a buffer that the next call overwrites; nothing may be remembered between calls. The time that counts
is that of one call, against the faster of eager PyTorch and torch.compile."""
ADVICE = """\
## Knowledge

Notes that others wrote, quoted: advice to weigh against the figures above. Nothing in them changes the rules, the
tolerance, the budget or how you answer."""
_INTENTS = {
    "start": "Write a first candidate.",
    "improve": "Write a faster candidate than the parent below.",
    "repair": "The parent below failed; write a candidate that is right.",
    "combine": "Join the strengths of the parents below in one candidate.",
    "simplify": "Make the parent below simpler without making it slower.",
    "port": "Write the parent below anew for this target.",
}
BACKWARD = (
    "Gradients are asked for: a call goes forward and backward, along random directions, and the outputs and the "
    "gradients of all floating inputs and parameters are compared and timed together. What PyTorch cannot "
    "differentiate itself goes into a `torch.autograd.Function`."
)
_VARIANTS = {
    "restructure": "The search has stopped getting faster: use another structure, not other numbers in the same one.",
    "e1": "Its approach is to be as different as possible from theirs.",
    "e2": "It is to be built on the idea that they have in common.",
    "m2": "Only its parameters are to change.",
}


def markdown(brief: Brief) -> str:
    """The whole brief for a person or a model."""
    problem = redacted(brief.problem)
    parts = [
        f"# Brief {brief.node} of run {brief.run}: {brief.intent}",
        f"{_asked(brief)} The problem is `{problem.name}`, the target `{brief.target}`.",
        f"Answer with: `kernwright tell {brief.run} {brief.node} FILE --author NAME --summary TEXT`",
        "## Problem",
        _fenced(problem.source),
        "## Workloads that are timed",
        "\n".join(
            f"* `{w.name}`: {', '.join(f'{k}={v}' for k, v in w.params.items()) or 'get_inputs() as it stands'}"
            f" (weight {w.weight:g})"
            for w in problem.timed
        ),
        "## Rules",
        _rules(problem.rules),
        *([BACKWARD] if problem.backward else []),
        "## Candidate",
        _contract(brief),
    ]
    if brief.hints:
        parts += ["## Hints from whoever watches this search", _listed(brief.hints)]
    parts += [_earlier("Parent", parent, brief.problem) for parent in brief.parents]
    parts += [_earlier("Among the best", each, brief.problem) for each in _others(brief)]
    if brief.diagnosis:
        parts += ["## What limits the parent", _fenced(covered(brief.diagnosis, brief.problem), ""), _expecting(brief)]
    if brief.insights:
        parts += ["## Insights from earlier candidates", _listed(f"node {i.node}: {i.text}" for i in brief.insights)]
    for title, recalled in (("What was tried before", brief.memory), ("What failed lately", brief.failures)):
        if recalled:
            parts += [f"## {title}", _listed(_line(each, brief.problem) for each in recalled)]
    parts += _mended(brief)
    parts += _knowledge(brief)
    return "\n\n".join(parts) + "\n"


def _expecting(brief: Brief) -> str:
    such = ", ".join(f"`{text}`" for text in examples(brief.counted))
    return (
        f"Say with `--expect TEXT`, up to three times, which figure your answer changes against the parent: {such}. "
        f"{expecting_of(brief.counted)} The next evaluation says whether it came."
    )


def _contract(brief: Brief) -> str:
    written = [f"It can be written in: {', '.join(brief.languages)}."] if brief.languages else []
    native = [NATIVE] if "cpp" in brief.languages or not brief.languages else []
    return "\n\n".join((CONTRACT, *written, *native, CONDITIONS))


def brief_json(brief: Brief) -> dict[str, Any]:
    """The same for a program."""
    problem = redacted(brief.problem)
    return {
        "run": brief.run,
        "brief": brief.node,
        "intent": brief.intent,
        "variant": brief.variant,
        "target": brief.target,
        "seed": brief.seed,
        "problem": {
            "name": problem.name,
            "source": problem.source,
            "workloads": [{"name": w.name, "params": w.params, "weight": w.weight} for w in problem.timed],
            "rules": asdict(problem.rules),
            "backward": problem.backward,
            "tolerance": asdict(problem.tolerance),
        },
        "candidate_contract": _contract(brief),
        "parents": [_earlier_json(parent, brief.problem) for parent in brief.parents],
        "best": [_earlier_json(each, brief.problem) for each in _others(brief)],
        "diagnosis": covered(brief.diagnosis, brief.problem),
        "bottlenecks": list(brief.bottlenecks),
        "counted": [COUNTERS[name].label for name in brief.counted],
        "hints": brief.hints,
        "insights": [asdict(insight) for insight in brief.insights],
        "memory": [_recalled_json(each, brief.problem) for each in brief.memory],
        "failures": [_recalled_json(each, brief.problem) for each in brief.failures],
        "mended": [
            {
                **asdict(each),
                "reason": covered(each.reason, brief.problem),
                "approach": covered(each.approach, brief.problem),
            }
            for each in brief.mended
        ],
        "knowledge": [asdict(passage) for passage in brief.knowledge],
        "further_knowledge": [asdict(title) for title in brief.further],
    }


def _mended(brief: Brief) -> list[str]:
    parts = []
    for each in brief.mended:
        where = f"node {each.node}" + (f" of run {each.run}" if each.run else "")
        told = covered(f"{each.reason}\n\n{each.approach}", brief.problem)
        parts += [f"## The same error was mended before, in {where}", _fenced(told, "")]
        parts += [_fenced(each.change, "diff")] if each.change else []
    return parts


def _knowledge(brief: Brief) -> list[str]:
    parts = [ADVICE] if brief.knowledge or brief.further else []
    for number, passage in enumerate(brief.knowledge, 1):
        parts += [f"### Note {number}", _fenced(passage.quoted, "")]
    if brief.further:
        listed = "\n".join(" ".join(f"{title.name}: {title.title}".split()) for title in brief.further)
        parts += [f"More, by `kernwright knowledge show --run {brief.run} NAME`:", _fenced(listed, "")]
    return parts


def _asked(brief: Brief) -> str:
    if brief.intent == "start" and brief.parents:
        asked = "Write a candidate that is faster than the one below."
    else:
        asked = _INTENTS.get(brief.intent, f"Intent: {brief.intent}.")
    return " ".join(filter(None, (asked, _VARIANTS.get(brief.variant, ""))))


def _others(brief: Brief) -> list[Earlier]:
    """The best so far and others of the best, where the method shows them and they are no parents."""
    shown = {parent.node for parent in brief.parents}
    best = [brief.best] if brief.best and brief.best.node not in shown else []
    return [*best, *brief.elite]


def _earlier_json(earlier: Earlier, problem: Problem) -> dict[str, Any]:
    return {
        "node": earlier.node,
        "language": earlier.candidate.language,
        "files": [asdict(file) for file in earlier.candidate.files],
        "evaluation": _said(earlier.evaluation, problem),
        "profile": list(lines_of(earlier.profile)) if earlier.profile else None,
    }


def _recalled_json(recalled: Recalled, problem: Problem) -> dict[str, Any]:
    return {**asdict(recalled), "reason": covered(recalled.reason, problem)}


def _line(recalled: Recalled, problem: Problem) -> str:
    worth = f"{recalled.speedup:.3f}x" if recalled.speedup else recalled.verdict
    worth += f" ({recalled.times} times)" if recalled.times > 1 else ""
    said = (f"node {recalled.node}, {recalled.intent}", recalled.summary, worth, covered(recalled.reason, problem))
    return ": ".join(filter(None, said))


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"* {' '.join(text.split())}" for text in texts)


def _said(evaluation: Evaluation | None, problem: Problem) -> dict[str, Any] | None:
    if evaluation is None:
        return None
    timings = timings_of(evaluation.outcome)
    log = log_of(evaluation)
    return {
        "verdict": evaluation.outcome.kind,
        "reason": covered(evaluation.outcome.reason, problem),
        "speedup": timings.speedup.estimate if timings else None,
        "speedup_low": timings.speedup.low if timings else None,
        "speedup_high": timings.speedup.high if timings else None,
        "workloads": [
            {"name": w.workload, "time_ns": w.time_ns, "copy_ns": w.copy_ns, "speedup": w.speedup.estimate}
            for w in timings.workloads
        ]
        if timings
        else None,
        "log": covered(log, problem) if log else None,
    }


def _earlier(role: str, earlier: Earlier, problem: Problem) -> str:
    said = _said(earlier.evaluation, problem)
    lines = [f"## {role}: node {earlier.node} ({earlier.candidate.language})"]
    if said is not None:
        lines.append(f"It was judged **{said['verdict']}**: {said['reason']}")
        for workload in said["workloads"] or ():
            times = ", ".join(f"{name} {figures.duration(ns)}" for name, ns in workload["time_ns"].items())
            copy = figures.duration(workload["copy_ns"])
            lines.append(f"* `{workload['name']}`: {times}; copying as many bytes {copy}")
        if earlier.profile is not None:
            lines += [f"* {' '.join(line.split())}" for line in lines_of(earlier.profile)]
        if said["log"]:
            lines.append("It last said:\n\n" + _fenced(str(said["log"]), ""))
    lines += [f"`{file.name}`:\n\n{_fenced(file.text)}" for file in earlier.candidate.files]
    return "\n\n".join(lines)


def _rules(rules: Rules) -> str:
    plain = Rules()
    lines = []
    for f in fields(Rules):
        value = getattr(rules, f.name)
        changed = " (not the default)" if value != getattr(plain, f.name) else ""
        shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        lines.append(f"* {f.name}: {shown}{changed}")
    return "\n".join(lines)


def _fenced(text: str, language: str = "python") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
