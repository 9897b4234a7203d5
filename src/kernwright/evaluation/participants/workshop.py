"""Makes runners: scratch folders, confinement, one launcher kept warm, one device session."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path

from kernwright.core.around import Around
from kernwright.core.candidate import SourceFile
from kernwright.core.commons import VARIABLE
from kernwright.core.plan import Plan
from kernwright.core.ports import DeviceSession, Platform
from kernwright.core.problem import Rules
from kernwright.core.sanitizer import Sanitizer
from kernwright.evaluation.errors.distance import measure_by

from .launch import Confinement, Launcher
from .participant import Participant
from .scratch import make_folder, remove

ARTIFACTS = "artifacts"
"""Subfolder of a scratch folder for what is compiled."""
_PARTS = ("bin", "include", "lib", "lib64", "libexec", "share")
HARNESS = "kernwright.evaluation.runner.harness"
BESIDE_A_DEVICE, TRUSTED_BESIDE_A_DEVICE = 3, 8
"""So many times as much host memory may a runner take that has one, and a baseline's: a device's libraries and
compilers work on the host too. `torch.compile` of a convolution of KernelBench takes 8.7 GiB in its first call, nearly
all of it pinned: inputs, kept aside while kernels are chosen."""

COMPILER = ("torch._dynamo", "torch._inductor.compile_fx")
"""What `torch.compile` imports in its first call, which takes longer than PyTorch itself: once for all problems and
process sets. On a device they are left to each, since a host's part of its library may not be set up before a fork."""
BEHIND = 10
"""How far a watched runner stands behind others where cores are few: a tool has a thread for each core, which would
keep the hosts of calls waiting that others time."""


class Workshop:
    """One device of one platform, and the launcher that forks everything untrusted."""

    def __init__(
        self, platform: Platform, target: str, *, session: DeviceSession | None = None, tool: Sanitizer | None = None
    ) -> None:
        """`tool`: what all its runners are watched by; `session`: a device that another workshop has opened."""
        self.session: DeviceSession = session or platform.open(target)
        measure_by(self.session.device, self.session.distance)
        self._platform, self._target, self.tool = platform, target, tool
        modules = (*self.session.modules, self.session.runtime.partition(":")[0])
        self.launcher = Launcher(
            preload=("torch", "numpy", *modules, HARNESS),
            runner=f"{HARNESS}:main",
            environment=tool.environment if tool else {},
        )
        self._watched: dict[str, Workshop] = {}
        self.misses: str | None = None
        """Why the tool cannot be believed; empty where it can, None where that was not tried yet."""
        self.filling: frozenset[int] | None = None
        """Functions of vendors' libraries that fill memory, by their addresses here; None where that was not learnt."""
        self.sizes: dict[str, list[int]] = {}
        """Of the buffers that the latest candidate's workloads took, by its problem: another's of that take as many."""
        self.session.claim_judge_cores()
        self._root = make_folder()
        self._root.chmod(0o711)
        self._count = 0
        self.isolation = ""
        self.missing: tuple[str, ...] = ()

    @property
    def machine(self) -> str:
        """Name of this kind of machine."""
        return self.session.machine()

    @contextmanager
    def runner(
        self,
        name: str,
        files: tuple[SourceFile, ...],
        plan: Plan,
        *,
        built: Path | None = None,
        building: bool = False,
        emulated: bool = False,
        precision: str = Rules().precision,
        language: str = "",
        loads: bool = True,
        around: Around | None = None,
        common: Path | None = None,
    ) -> Iterator[Participant]:
        """A runner with these files in its scratch folder; it has loaded the first unless it is `building`.

        Without `loads` it stands before that: it holds the device, and nothing of the candidate has run.

        `built` holds the artefacts of an earlier build, copied into scratch. One that is building gets no device. One
        that is `emulated` runs what its `language` (module:Class) has instead of the device, or builds for that. One
        with something `around` it is started by that. `common`: what was compiled for all builds, if it is there.
        """
        scratch = self._scratch(files, built)
        # A baseline is the problem's own code: nothing of it is guessed.
        texts = () if name in plan.baselines else tuple(file.text for file in files)
        environment = self._environment(scratch, texts)
        environment |= {"KERNWRIGHT_BUILDING": "1"} if building else {}
        environment |= {"KERNWRIGHT_EMULATE": "1"} if emulated else {}
        shared = (common,) if common is not None and common.is_dir() else ()
        environment |= {VARIABLE: str(common)} if shared else {}
        runtime = "" if building else self.session.runtime
        devices = () if building else tuple(self.session.devices)
        beside = TRUSTED_BESIDE_A_DEVICE if name in plan.baselines else BESIDE_A_DEVICE
        confinement = Confinement(
            scratch=scratch,
            executables=True,
            cores=self.session.runner_cores(plan.threads),
            nice=BEHIND if self.tool is not None else 0,
            memory_bytes=plan.limits.memory_bytes * (beside if devices else 1),
            processes=plan.limits.processes,
            environment=environment,
            readable=(*toolchains(), *shared, *(around.readable if around else ())),
            loopback=around is not None,
            counters=around is not None and around.counters,
            devices=devices,
        )
        try:
            config = {
                "runtime": runtime,
                "threads": plan.threads,
                "precision": precision,
                "copies": self.tool is not None,
            }
            config |= {"around": list(around.command)} if around else {}
            if name == "compile" and not self.session.bursts:
                self.launcher.import_too(COMPILER)
            runner = self.launcher.spawn(confinement, config)
            self.isolation, self.missing = runner.level, tuple(runner.missing)
            participant = Participant(name, runner, self.session, plan.limits, scratch)
            try:
                if loads and not building:
                    participant.load(files[0].name, (language, self._target) if emulated else None)
                elif not building:
                    participant.await_ready()
                yield participant
            finally:
                participant.close()
        finally:
            remove(scratch)

    def under(self, tool: Sanitizer) -> "Workshop":
        """A workshop on the same device whose runners are watched by this tool; kept until this one is closed."""
        if tool.name not in self._watched:
            self._watched[tool.name] = Workshop(self._platform, self._target, session=self.session, tool=tool)
        return self._watched[tool.name]

    def ending(self) -> AbstractContextManager[object]:
        """Around the end of runners, which on a device of its own may disturb others' timing as their start does."""
        return nullcontext() if self.session.memory_bytes is None else self.session.starting()

    def close(self) -> None:
        """End the launcher and every runner, remove all scratch."""
        for watched in self._watched.values():
            watched.close()
        self.launcher.close()
        remove(self._root)

    def _scratch(self, files: tuple[SourceFile, ...], built: Path | None) -> Path:
        self._count += 1
        scratch = self._root / str(self._count)
        (scratch / ARTIFACTS).mkdir(parents=True)
        if built is not None:
            shutil.copytree(built / ARTIFACTS, scratch / ARTIFACTS, dirs_exist_ok=True)
        for file in files:
            (scratch / file.name).write_text(file.text)
        _give(scratch)
        return scratch

    def _environment(self, scratch: Path, texts: Sequence[str]) -> dict[str, str]:
        artifacts = scratch / ARTIFACTS
        environment = {"KERNWRIGHT_ARTIFACTS": str(artifacts), "KERNWRIGHT_TARGET": self._target}
        environment |= self.session.variables(artifacts, texts)
        if compiler := os.environ.get("CXX"):
            environment["CXX"] = compiler
        return environment | dict(self.tool.environment if self.tool else {})


@cache
def toolchains() -> tuple[Path, ...]:
    """Folders of compilers that lie outside the system's own, as the environment names them."""
    found: list[Path] = []
    for name in ("CC", "CXX", "CUDAHOSTCXX"):
        program = shutil.which(os.environ.get(name, ""))
        if program is not None and not program.startswith("/usr/"):
            prefixes = {Path(program).parent.parent, Path(program).resolve().parent.parent}
            found += [prefix / part for prefix in prefixes for part in _PARTS]
    if toolkit := os.environ.get("CUDA_HOME"):
        found += [Path(toolkit), Path(toolkit).resolve()]
    return tuple(path for path in dict.fromkeys(found) if path.is_dir())


def _give(scratch: Path) -> None:
    """Readable and writable by whichever user the runner becomes."""
    for path in (scratch, *scratch.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
