"""A candidate once more under tools that watch its memory, each of which first has to report a planted fault."""

import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from kernwright.core.calls import CallSpec
from kernwright.core.candidate import Candidate, SourceFile, entry_of
from kernwright.core.errors import MachineFault
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import CheckResult
from kernwright.core.plan import Plan
from kernwright.core.problem import Problem, Workload
from kernwright.core.resolve import resolve
from kernwright.core.sanitizer import Sanitizer

from .build import build
from .calls import calls_of
from .controls import misses
from .ended import Ended
from .errors.choices import compare_chosen
from .participants.participant import Participant
from .participants.workshop import Workshop
from .problem.place import place_of
from .problem.reference import Reference
from .problem.setting import Setting, prepare
from .runner import precision

MORE_MEMORY = 4
"""A tool may take so many times as much."""
THREADS_A_CORE = 4
"""Tools analyse what they saw with threads of their own, about one for each core."""
ENOUGH_S, LONGEST_S = 60.0, 60.0
"""After so long no further call begins under a tool, and neither loading nor a call may take longer: a tool can make a
kernel a thousand times slower, and most of what one finds is in the first call."""
_CONTROL = Problem(
    name="a planted fault",
    source="""\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def get_inputs():
    return [torch.randn(64)]
""",
    workloads=(Workload(name="control"),),
)


@dataclass
class _Watched:
    """What is known of the calls of a candidate under a tool."""

    planned: int
    made: int = 0
    wrong: str = ""
    """What is wrong with a result, where they are compared."""
    died: str = ""
    _began: float = field(default_factory=time.monotonic)

    @property
    def over(self) -> bool:
        return self.made > 0 and time.monotonic() - self._began > ENOUGH_S

    def told(self, tool: str) -> str:
        """Of a tool that reported nothing."""
        if self.died:
            return f"not watched to the end: under {tool} {self.died}"
        if self.made < self.planned:
            return f"nothing reported in {self.made} of {self.planned} calls; no more began after {ENOUGH_S:.0f} s"
        return "nothing reported"


def sanitizers_of(job: EvalJob) -> Sequence[Sanitizer]:
    """The tools of the job's language, those that are missing included."""
    offered = getattr(resolve(job.language)(), "sanitizers", None)
    return offered(job.target) if offered is not None else ()


def watch(
    tools: Sequence[Sanitizer], job: EvalJob, shop: Workshop, settings: Sequence[Setting], calls: Sequence[CallSpec]
) -> Iterator[CheckResult]:
    """One result per tool: failed where it reports something, passed with a reason where it could not watch.

    A candidate that wants to can see that it is watched; this finds mistakes, not malice.
    """
    for tool in tools:
        name = f"sanitize: {tool.name}"
        if tool.missing:
            yield CheckResult(name=name, passed=True, detail=f"not watched: {tool.missing}")
            continue
        if any(setting.lean for setting in settings):
            yield CheckResult(name=name, passed=True, detail="not watched: the device has no room for one process more")
            continue
        try:
            watched = shop.under(tool)
            if watched.misses is None:
                watched.misses = misses(job.home, watched, tool, partial(_misses, job, watched, tool))
        except MachineFault as error:  # the tool's, most likely: without it runners start
            shop.session.require_health()
            yield CheckResult(name=name, passed=True, detail=f"not watched: {tool.name} does not start: {error}"[:300])
            continue
        if watched.misses:
            yield CheckResult(name=name, passed=True, detail=f"not watched: {watched.misses}")
            continue
        found, seen = _run(job, watched, settings, calls)
        if found:
            doubt = _doubt(tool, found, job, shop, settings, calls)
            detail = (f"{doubt}; " if doubt else "") + f"{tool.name} reports {found}"
            yield CheckResult(name=name, passed=bool(doubt), detail=detail)
        else:
            made = 0.0 if seen.died else float(seen.made)
            yield CheckResult(name=name, passed=True, detail=seen.told(tool.name), evidence={"calls": made})


def _doubt(
    tool: Sanitizer, found: str, job: EvalJob, shop: Workshop, settings: Sequence[Setting], calls: Sequence[CallSpec]
) -> str:
    """Why what a tool `found` decides nothing; empty where it does."""
    doubt = tool.doubt
    if doubt is None:
        return ""
    texts = [file.text for file in job.candidate.files]
    told = bool(doubt.text) and any(re.search(doubt.text, text) for text in texts)
    if doubt.report and (theirs := re.search(doubt.report, found)):
        told = told or not any(theirs[1] in text for text in texts)
    if not told and doubt.environment:
        without = shop.under(Sanitizer(name=f"without {tool.name}", environment=doubt.environment))
        found, seen = _run(job, without, settings, calls, compared=True)
        told = not (found or seen.died)
    return f"not watched: {doubt.why}" if told else ""


def _misses(job: EvalJob, watched: Workshop, tool: Sanitizer) -> str:
    """Why a tool cannot be believed here; empty where it reports what is planted."""
    files = (SourceFile(name="candidate.py", text=tool.control),)
    language = tool.control_language or job.language
    control = replace(
        job,
        problem=_CONTROL,
        candidate=Candidate(language=resolve(language).name, files=files),
        language=language,
        champion=None,
    )
    reference = Reference(_CONTROL, place=place_of(watched.session))
    try:
        setting = prepare(reference, _CONTROL.workloads[0], 0, random.Random(0), vary=False)
        found, seen = _run(control, watched, [setting], calls_of(reference))
    finally:
        reference.close()
        precision.pin(job.problem.rules.precision)  # whoever loads a problem pins that one's
    if found:
        return ""
    return f"{tool.name} does not report a planted fault here" + (f" ({seen.died})" if seen.died else "")


def _run(
    job: EvalJob,
    watched: Workshop,
    settings: Sequence[Setting],
    calls: Sequence[CallSpec],
    *,
    compared: bool = False,
) -> tuple[str, _Watched]:
    """What the tool reports, or where results are `compared` what is wrong with them; and what was called."""
    tool, plan = watched.tool, _stretched(job.plan)
    assert tool is not None
    job, entry = replace(job, plan=plan), entry_of(job.candidate)
    assert entry is not None
    said, seen = "", _Watched(sum(len(setting.bases) for setting in settings))
    try:
        built = build(job.candidate, job.language, job, watched, calls)
        runner = watched.runner(
            "candidate",
            job.candidate.files,
            plan,
            built=built.folder,
            precision=job.problem.rules.precision,
            around=tool.around,
        )
        with runner as participant:
            try:
                _call(participant, settings, entry, seen, compared=compared)
            finally:
                participant.runner.finish(plan.limits.call_s)
                said = participant.runner.log()
    except Ended as error:
        seen.died = getattr(error.outcome, "reason", error.outcome.kind)
        said += getattr(error.outcome, "log", "")
    reports = reports_of(tool, said)
    return (reports[0] if reports else seen.wrong), seen


def reports_of(tool: Sanitizer, said: str) -> list[str]:
    """What a tool reports, those first of which nothing says that it cannot follow them."""
    matches = re.finditer(tool.reports, said) if tool.reports else ()
    reports = [
        " in ".join(" ".join(part.split()) for part in match.groups() or (match[0],) if part)[:300] for match in matches
    ]
    doubted = tool.doubt.report if tool.doubt is not None else ""
    return sorted(reports, key=lambda report: bool(doubted and re.search(doubted, report)))


def _call(participant: Participant, settings: Sequence[Setting], entry: str, seen: _Watched, *, compared: bool) -> None:
    """One call for each draw while there is time, the first of every workload before the second of one."""
    for number in range(max((len(setting.bases) for setting in settings), default=0)):
        for setting in settings:
            if number >= len(setting.bases):
                continue
            if seen.over or seen.wrong:
                return
            if number == 0:
                participant.open(setting, entry)
            _draw(participant, setting, number, seen, compared=compared)


def _draw(participant: Participant, setting: Setting, number: int, seen: _Watched, *, compared: bool) -> None:
    base = setting.bases[number]
    participant.fill(setting.index, 0, base.values)
    if number == 0:
        participant.warm(setting.index, 0, base.values)
    if compared:
        outputs = participant.call(setting.index, 0, base.values)[1]
        verdict = compare_chosen(outputs, base, setting)
        seen.wrong = "" if verdict.passed else verdict.detail
    elif number:
        participant.call(setting.index, 0, base.values)
    seen.made += 1


def _stretched(plan: Plan) -> Plan:
    limits = plan.limits
    return replace(
        plan,
        limits=replace(
            limits,
            build_s=limits.build_s * 4,
            load_s=max(limits.load_s, LONGEST_S),
            call_s=max(limits.call_s, LONGEST_S),
            memory_bytes=limits.memory_bytes * MORE_MEMORY,
            processes=limits.processes + THREADS_A_CORE * (os.cpu_count() or 1),
        ),
    )
