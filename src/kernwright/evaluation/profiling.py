"""The profile stage: how a candidate uses the device. It judges nothing, and no tool that is missing ends it."""

import json
import random
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any, Protocol

import torch

from kernwright.core.around import Around
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import entry_of
from kernwright.core.jobs import JUDGE_VERSION, REFERENCE_STAGE, EvalJob
from kernwright.core.outcome import Built, Crashed, Evaluation, Outcome, Rejected
from kernwright.core.ports import Profiler
from kernwright.core.problem import Workload
from kernwright.core.profile import Profile, joined
from kernwright.core.resolve import resolve

from .build import Build, build
from .calls import calls_of
from .checks import SOURCE_CHECKS
from .ended import Ended
from .footprint import memory_needed
from .participants.participant import Participant
from .participants.workshop import Workshop
from .problem.reference import Reference
from .problem.setting import Setting, prepare
from .profile_words import profile_of, text_of
from .roofline import Work, roofline, work_of
from .room import Room
from .runner import tree
from .runner.structure import encode, encode_calls
from .stages import Stages
from .timing.summary import CANDIDATE

TIMED_CALLS = 7
COUNTED_NS, LEAST_COUNTED_CALLS, MOST_COUNTED_CALLS = 20e6, 4, 1000
"""How long calls are counted, at least, and how many."""
SETTLING_CALLS, SETTLING_NS = 24, 1e9
"""How many go before, where they do not take long: until the heap has its shape each takes fresh memory."""
TRACE_S = 60.0
SEPARATE = "namespaces"


class Keeper(Protocol):
    """What of the judge is kept between evaluations."""

    def shop(self, job: EvalJob) -> Workshop: ...
    def room(self, job: EvalJob) -> Room: ...
    def reference(self, job: EvalJob) -> Reference: ...


def profiled(keeper: Keeper, job: EvalJob, progress: Callable[[str], None]) -> Evaluation:
    """An evaluation that holds a profile and says nothing of right or fast.

    Raises:
        UserError: the problem cannot be judged.
        MachineFault: the machine is at fault.
    """
    return _Look(keeper, job, progress).run()


class _Look:
    def __init__(self, keeper: Keeper, job: EvalJob, progress: Callable[[str], None]) -> None:
        self._keeper, self._job = keeper, job
        self._rng = random.Random(secrets.randbits(64))
        self._stage = Stages(progress)
        self._profiler: Profiler | None = resolve(job.profiler)() if job.profiler else None
        self._work = Work(None, None, None, "")
        self._parts: list[Profile] = []
        self._resources: dict[str, float] = {}

    def run(self) -> Evaluation:
        job, began = self._job, perf_counter()
        shop = self._keeper.shop(job)
        outcome: Outcome = Built(reason="profiled, not judged")
        try:
            self._watch(shop)
        except Ended as ended:
            outcome = ended.outcome
            shop.session.require_health()
        seconds = perf_counter() - began - self._stage.seconds().get("wait", 0.0)
        parts = (*self._parts, Profile(seconds=seconds))
        return Evaluation(
            candidate=job.candidate.id,
            problem=job.problem.id,
            plan=job.plan.name,
            target=job.target,
            machine=shop.machine,
            judge_version=JUDGE_VERSION,
            outcome=outcome,
            isolation=shop.isolation,
            environment=dict(shop.session.environment()),
            resources=self._resources,
            stage_s=self._stage.seconds(),
            profile=joined(parts) if self._parts else None,
        )

    def _watch(self, shop: Workshop) -> None:
        job, session = self._job, shop.session
        for check in SOURCE_CHECKS:
            if not (result := check.inspect(job.candidate, job.problem)).passed:
                raise Ended(Rejected(reason=result.detail))
        with self._stage(REFERENCE_STAGE):
            calls = calls_of(self._keeper.reference(job))
        with self._stage.leased(session.building()), self._stage("build"):
            built = build(job.candidate, job.language, job, shop, calls)
        self._resources = dict(built.resources)
        if self._profiler is None:
            self._parts.append(Profile(missing=(f"nothing profiles {job.target}",)))
            return
        self._tried("machine code", shop, lambda profiler: self._look(profiler, shop, built, calls))
        reference = self._keeper.reference(job)
        with self._stage(REFERENCE_STAGE):
            self._work = work_of(reference, self._workload())
        self._parts.append(Profile(counters=roofline(self._work, self._profiler.peaks(job.target))))
        if job.look == "code" or not session.present:
            return
        needed = memory_needed(reference, session.apart_bytes)
        self._keeper.room(job).made(needed, self._stage.leased, lambda: self._run(shop, built))

    def _tried(self, what: str, shop: Workshop, work: Callable[[Profiler], None]) -> None:
        """A candidate that ends under one tool may live under another."""
        assert self._profiler is not None
        try:
            work(self._profiler)
        except Ended as ended:
            reason = getattr(ended.outcome, "reason", ended.outcome.kind)
            self._parts.append(Profile(missing=(f"{what}: {text_of(reason, 240)}",)))
            shop.session.require_health()

    def _look(self, profiler: Profiler, shop: Workshop, built: Build, calls: Sequence[CallSpec]) -> None:
        job = self._job
        message = {
            "op": "look",
            "profiler": profiler.inside,
            "name": job.candidate.language,
            "language": job.language,
            "target": job.target,
            "files": [file.name for file in job.candidate.files],
        }
        runner = shop.runner("looker", job.candidate.files, job.plan, built=built.folder, building=True)
        with self._stage.leased(shop.session.building()), self._stage("read code"), runner as looker:
            spec = json.dumps(encode_calls(calls)).encode()
            reply = looker.ask("profile", message, job.plan.limits.build_s, spec=spec)
            self._parts.append(profile_of(reply.get("profile")))

    def _run(self, shop: Workshop, built: Build) -> None:
        with self._stage.leased(shop.session.shared()), self._stage(REFERENCE_STAGE):
            setting = self._setting()
        self._parts.append(Profile(workload=setting.workload.name))
        self._tried("call", shop, lambda profiler: self._called(profiler, shop, built, setting))
        self._tried("counters", shop, lambda profiler: self._around(profiler, shop, built, setting))

    def _setting(self) -> Setting:
        workload = self._workload()
        index = self._job.problem.workloads.index(workload)
        return prepare(self._keeper.reference(self._job), workload, index, self._rng, vary=True, bases=1)

    def _workload(self) -> Workload:
        """The one that weighs most."""
        return max(self._job.problem.timed, key=lambda workload: workload.weight)

    def _called(self, profiler: Profiler, shop: Workshop, built: Build, setting: Setting) -> None:
        """Time, roofs, counters from outside, a profiler inside."""
        session = shop.session
        with self._runner(shop, built) as runner:
            with self._stage.leased(session.shared()), self._stage("load"):
                self._opened(runner, setting)
                copy_ns = runner.copy_ns(setting.index)
            with self._stage.leased(session.exclusive()), self._stage("profile"):
                time_ns = self._time_ns(runner, setting, bursts=session.bursts)
                work = replace(self._work, least_bytes=float(setting.traffic_bytes))
                roofs = roofline(work, profiler.peaks(self._job.target), time_ns)
                self._parts.append(Profile(counters={"copy_ns": copy_ns, "time_ns": time_ns, **roofs}))
                if not session.bursts:
                    self._count(profiler, runner, setting, time_ns)
                message = self._message("trace", profiler, setting)
                reply = runner.ask("profile", message, min(TRACE_S, self._job.plan.limits.load_s))
                self._parts.append(profile_of(reply.get("profile")))

    def _count(self, profiler: Profiler, runner: Participant, setting: Setting, time_ns: float) -> None:
        calls = int(min(MOST_COUNTED_CALLS, max(LEAST_COUNTED_CALLS, COUNTED_NS / max(time_ns, 1.0))))
        settling = int(min(SETTLING_CALLS, max(1.0, SETTLING_NS / max(time_ns, 1.0))))
        runner.burst(setting.index, 0, setting.bases[0].values, settling)
        cores: list[float] = []

        def work(count: int) -> None:
            busy, began = runner.runner.cpu_ns(), perf_counter_ns()
            runner.burst(setting.index, 0, setting.bases[0].values, count)
            cores.append((runner.runner.cpu_ns() - busy) / (perf_counter_ns() - began))

        processes = tree.descendants(runner.runner.init_pid)
        threads = [thread for process in processes for thread in tree.threads(process)]
        self._parts.append(profiler.count(threads, work, calls))
        if cores:
            allowed = float(self._job.plan.threads)
            self._parts.append(Profile(counters={"cores_used": cores[-1], "threads_allowed": allowed}))

    def _around(self, profiler: Profiler, shop: Workshop, built: Build, setting: Setting) -> None:
        """Once more, from the start, under a program that watches it."""
        around = profiler.around(self._job.target)
        if isinstance(around, str):
            self._parts += [Profile(missing=(around,))] if around else []
            return
        seen = self._read(profiler, shop, built, setting, around)
        if not seen.counters and around.otherwise:
            less = replace(around, command=around.otherwise, otherwise=())
            seen = joined((seen, self._read(profiler, shop, built, setting, less)))
        self._parts.append(seen)

    def _read(self, profiler: Profiler, shop: Workshop, built: Build, setting: Setting, around: Around) -> Profile:
        """What the program wrote, also where it, or the candidate under it, came to a bad end."""
        try:
            return profiler.read(self._watched(profiler, shop, built, setting, around))
        except Ended as ended:
            if not isinstance(ended.outcome, Crashed):
                raise
            seen = profiler.read(ended.outcome.log)
            return joined((seen, Profile(missing=(f"counters: {text_of(ended.outcome.reason, 240)}",))))

    def _watched(self, profiler: Profiler, shop: Workshop, built: Build, setting: Setting, around: Around) -> str:
        session, limit_s = shop.session, around.limit_s
        with ExitStack() as stack:
            with self._stage("start under counters"):
                runner = stack.enter_context(self._runner(shop, built, around))
            if runner.runner.level != SEPARATE:
                raise Ended(Rejected(reason=f"candidates are watched where they have {SEPARATE} of their own"))
            with self._stage.leased(session.shared()), self._stage("load under counters"):
                self._opened(runner, setting)
            with self._stage.leased(session.exclusive()), self._stage("counters"):
                runner.ask("profile", self._message("mark", profiler, setting), limit_s)
                reply = runner.ask("profile", {"op": "finish"}, limit_s)
        return str(reply.get("report", ""))

    def _runner(self, shop: Workshop, built: Build, around: Around | None = None) -> Any:
        job = self._job
        return shop.runner(
            CANDIDATE,
            job.candidate.files,
            job.plan,
            built=built.folder,
            precision=job.problem.rules.precision,
            language=job.language,
            loads=False,
            around=around,
        )

    def _opened(self, runner: Participant, setting: Setting) -> None:
        entry = entry_of(self._job.candidate)
        assert entry is not None
        runner.load(self._job.candidate.files[0].name)
        runner.open(setting, entry)
        values = setting.bases[0].values
        runner.fill(setting.index, 0, values)
        runner.warm(setting.index, 0, values)

    def _time_ns(self, runner: Participant, setting: Setting, *, bursts: bool) -> float:
        values = setting.bases[0].values
        clock = "device" if bursts else "call"
        calls = (runner.call(setting.index, 0, values, clock=clock)[0] for _ in range(TIMED_CALLS))  # type: ignore[arg-type]
        return median(clocks.device_ns for clocks in calls)

    def _message(self, op: str, profiler: Profiler, setting: Setting) -> dict[str, Any]:
        plain = [encode(value) for value in setting.bases[0].values if not isinstance(value, torch.Tensor)]
        return {"op": op, "profiler": profiler.inside, "workload": setting.index, "set": 0, "values": plain}
