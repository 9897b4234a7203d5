"""Looks at this machine: what judging needs, what it finds, what to do. Imports nothing heavy."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from kernwright.core.errors import MachineFault, UserError
from kernwright.core.resolve import resolve
from kernwright.models.local import KNOWN, installed
from kernwright.models.provider import KEYS, OWN_KEY
from kernwright.platforms import TABLE as PLATFORMS
from kernwright.search.operators.agent_box import box_works

from .permitting import remedy as remedy_of

State = Literal["ok", "warn", "fail"]
TORCH_EXTRA = "pip install 'kernwright[torch]'"
ENOUGH_DISK = 2 << 30
LEAST_DISK = 200 << 20
ENOUGH_MEMORY = 4 << 30
_OPENMP = '#include <omp.h>\nextern "C" int threads() { return omp_get_max_threads(); }\n'
_DEVICE = """
import sys
from kernwright.core.resolve import resolve
session = resolve(sys.argv[1])().open(sys.argv[2])
facts = {**session.environment(), **session.condition()}
print(", ".join(f"{name} {value}" for name, value in facts.items()))
"""
_TORCH = "import torch; print(torch.__version__, torch.version.cuda if torch.cuda.is_available() else 'CPU')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that was looked at."""

    name: str
    state: State
    found: str
    remedy: str = ""


def examine(home: Path, say: Callable[[str], None]) -> Iterator[Line]:
    """Every line, in the order in which things are needed. `fail` means that judging is impossible."""
    yield _system(platform.system())
    yield _python()
    for name, look in (
        ("torch", _torch),
        ("numpy and scipy", _numbers),
        ("compiler", _compiler),
        ("processor", _processor),
        ("accelerators", _accelerators),
        ("load", _load),
        ("isolation", _isolation),
        ("optional", _optional),
        ("models", _models),
        ("agents", _agents),
        ("memory", _memory),
    ):
        say(name)
        yield from look()
    yield _home(home)
    yield from _disk(home)


def _system(system: str) -> Line:
    if system == "Linux":
        return Line(name="system", state="ok", found=f"Linux {platform.release()}, {platform.machine()}")
    return Line(name="system", state="fail", found=system, remedy="Judging needs Linux; use a machine or a container.")


def _python() -> Line:
    found = f"{platform.python_version()} at {sys.executable}"
    return Line(name="Python", state="ok", found=found)


def _torch() -> Iterator[Line]:
    if _installed("torch") is None:
        yield Line(name="torch", state="fail", found="not installed", remedy=f"Install it: {TORCH_EXTRA}")
        return
    try:
        done = subprocess.run([sys.executable, "-c", _TORCH], capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        yield Line(
            name="torch", state="fail", found="importing it takes over 120 s", remedy="Free the disk and memory."
        )
        return
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        yield Line(name="torch", state="fail", found=f"it does not import: {last}", remedy="Install it again.")
        return
    name, _, device = done.stdout.strip().partition(" ")
    yield Line(name="torch", state="ok", found=f"{name}, {'CPU only' if device == 'CPU' else f'CUDA {device}'}")


def _numbers() -> Iterator[Line]:
    found = {name: _installed(name) for name in ("numpy", "scipy")}
    missing = [name for name, held in found.items() if held is None]
    if missing:
        remedy = f"Install it: {TORCH_EXTRA}"
        yield Line(name="numbers", state="fail", found=f"no {' and no '.join(missing)}", remedy=remedy)
    else:
        yield Line(name="numbers", state="ok", found=", ".join(f"{name} {held}" for name, held in found.items()))


def _compiler() -> Iterator[Line]:
    wanted = os.environ.get("CXX")
    found = shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, ("g++", "c++", "clang++"))), None)
    remedy = "Install g++ or clang++, or set CXX; without one neither C++ kernels nor torch.compile work."
    if found is None:
        what = f"CXX names {wanted!r}, which is not there" if wanted else "none"
        yield Line(name="compiler", state="warn", found=what, remedy=remedy)
        return
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cpp"
        source.write_text(_OPENMP)
        command = [found, "-std=c++17", "-fopenmp", "-fPIC", "-shared", "-o", f"{source}.so", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    title = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.partition("\n")[0]
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it said nothing"])[0]
        yield Line(name="compiler", state="warn", found=f"{title} fails with OpenMP: {why}", remedy=remedy)
    else:
        yield Line(name="compiler", state="ok", found=f"{title}; builds C++17 with OpenMP")


def _processor() -> Iterator[Line]:
    if platform.system() != "Linux":
        return
    kind = resolve(PLATFORMS["cpu"])()
    for target in kind.targets():
        session = kind.open(target)
        facts = session.environment()
        shown = ", ".join(facts[key] for key in ("cpu", "caches") if facts.get(key))
        cores = int(facts.get("cores", "0"))
        if cores == 1:
            remedy = "Judge and kernel share one core; figures are noisier. Give it two."
            yield Line(name=target, state="warn", found=f"1 core, {shown}", remedy=remedy)
        else:
            cold = "" if session.flushes(True) else "; its last cache is too large to be emptied, so it stays warm"
            yield Line(name=target, state="ok", found=f"{cores} cores, {shown}{cold}")


def _accelerators() -> Iterator[Line]:
    """Each is opened in a process of its own: its driver may crash, and takes memory as long as the process lives."""
    kinds = [resolve(PLATFORMS[name])() for name in PLATFORMS if name != "cpu"]
    found = [target for kind in kinds for target in kind.targets()]
    obstacles = [(kind.name, kind.obstacle()) for kind in kinds if kind.obstacle()]
    for name, obstacle in obstacles:
        yield Line(name=name, state="warn", found="none that can be seen", remedy=obstacle)
    if not found and not obstacles:
        what = "none; kernels for GPUs are built here, and checked where something can stand in, but not timed"
        yield Line(name="accelerators", state="ok", found=what)
    for target in found:
        command = [sys.executable, "-c", _DEVICE, PLATFORMS[target.partition(":")[0]], target]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            remedy = "Restart the machine."
            yield Line(name=target, state="warn", found="it does not answer within 120 s", remedy=remedy)
            continue
        text = done.stdout.strip()
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1].partition(": ")[2]
            yield Line(name=target, state="warn", found="it cannot be used", remedy=last)
        else:
            yield Line(name=target, state="ok", found=text)


def _load() -> Iterator[Line]:
    if not hasattr(os, "getloadavg"):
        return
    busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    if busy > 0.5 * cores:
        remedy = "Other work widens intervals; let the machine rest before you judge."
        yield Line(name="load", state="warn", found=f"{busy:.1f} on {cores} cores", remedy=remedy)
    else:
        yield Line(name="load", state="ok", found=f"{busy:.1f} on {cores} cores")


def _isolation() -> Iterator[Line]:
    if platform.system() != "Linux":
        return
    from kernwright.evaluation.participants.launch import Confinement, Launcher

    # A runner's interpreter is isolated: it may lack what this one finds.
    preload = [name for name in ("torch", "numpy") if _installed(name)]
    try:
        with (
            tempfile.TemporaryDirectory(prefix="kernwright-") as scratch,
            Launcher(preload=preload, runner="kernwright.evaluation.runner.idle:main") as launcher,
        ):
            runner = launcher.spawn(Confinement(scratch=Path(scratch)), {})
            level, missing = runner.level, runner.missing
            runner.close()
    except UserError as error:
        yield Line(name="isolation", state="fail", found="no runner starts", remedy=str(error))
        return
    except (MachineFault, OSError) as error:
        remedy = "Mend what failed above, if anything did; else report this."
        yield Line(name="isolation", state="fail", found=f"no runner starts: {error}", remedy=remedy)
        return
    found = f"{level}{': ' + '; '.join(missing) if missing else ''}"
    if level == "namespaces":
        yield Line(name="isolation", state="ok", found=found)
    else:
        remedy = f"Judge only kernels that you trust, or {remedy_of(missing)}."
        yield Line(name="isolation", state="warn", found=found, remedy=remedy)


def _optional() -> Iterator[Line]:
    for package, extra, use in (("optuna", "tune", "the tuner"), ("numba", "torch", "kernels written with Numba")):
        held = _installed(package)
        if held:
            yield Line(name=package, state="ok", found=held)
        else:
            remedy = f"For {use}: pip install 'kernwright[{extra}]'"
            yield Line(name=package, state="warn", found="not installed", remedy=remedy)


def _models() -> Iterator[Line]:
    """Names of variables alone: a key's value is nobody's business here."""
    held = _installed("pydantic-ai-slim")
    if held is None or _installed("jinja2") is None:
        remedy = "For kernels by language models: pip install 'kernwright[models]'"
        yield Line(name="models", state="warn", found="not installed", remedy=remedy)
        return
    keys = [f"{name} ({variable})" for name, names in KEYS.items() for variable in names if os.environ.get(variable)]
    if os.environ.get(OWN_KEY):
        keys.append(f"--base-url ({OWN_KEY})")
    remedy = "" if keys else "Put a key in OPENAI_API_KEY or another provider's variable, or use --base-url."
    found = f"pydantic-ai {held}; " + (f"keys: {', '.join(keys)}" if keys else "no key")
    yield Line(name="models", state="ok", found=found, remedy=remedy)
    for name in installed():
        about = f"{KNOWN[name].about}; use it with --model local:{name}. {KNOWN[name].expect}"
        yield Line(name=f"local:{name}", state="ok", found=about)


def _agents() -> Iterator[Line]:
    held = _installed("mcp")
    remedy = "" if held else "For tools that coding agents call: pip install 'kernwright[mcp]'"
    found = f"mcp {held}" if held else "not installed"
    yield Line(name="mcp", state="ok" if held else "warn", found=found, remedy=remedy)
    if box_works():
        yield Line(name="agents", state="ok", found="those that --agent starts run in a box, by bubblewrap")
    else:
        what = "those that --agent starts are not boxed: they act with your rights (what they write is judged as ever)"
        remedy = "Install bubblewrap (bwrap) and permit user namespaces, or start only agents that you trust."
        yield Line(name="agents", state="warn", found=what, remedy=remedy)


def _memory() -> Iterator[Line]:
    from kernwright.evaluation.memory import available_bytes

    free = available_bytes()
    if free is None:
        return
    state: State = "ok" if free >= ENOUGH_MEMORY else "warn"
    remedy = "" if state == "ok" else "A runner may use 4 GiB; large problems will not fit. Close other programs."
    yield Line(name="memory", state=state, found=f"{free / (1 << 30):.1f} GiB available", remedy=remedy)


def _home(home: Path) -> Line:
    folder = home
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Line(name="home", state="ok", found=str(home) + ("" if home.exists() else " (made when it is needed)"))
    remedy = "Make it writable, or choose another folder with --home or $KERNWRIGHT_HOME."
    return Line(name="home", state="fail", found=f"{home} cannot be written", remedy=remedy)


def _disk(home: Path) -> Iterator[Line]:
    while not home.exists():
        home = home.parent
    for name, folder in (("disk (home)", home), ("disk (temporary)", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(folder).free
        state: State = "ok" if free >= ENOUGH_DISK else "warn" if free >= LEAST_DISK else "fail"
        remedy = "" if state == "ok" else f"Free space there; {ENOUGH_DISK >> 30} GiB are enough."
        yield Line(name=name, state=state, found=f"{free / (1 << 30):.1f} GiB free at {folder}", remedy=remedy)


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
