"""What tests share: what is known of the machine, its cores, and its quiet while kernels are timed."""

import ctypes
import fcntl
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

KNOWN = ("noise", "baseline", "probed", "filling")
"""Parts of a home's cache that hold nothing of a run: the machine's noise, and what `torch.compile` built and found."""
SMALL = [0.005, -0.005] * 3
"""Log ratios of fresh pairs of processes."""
LOCKS, LOOK_S = Path("/proc/locks"), 0.01


@pytest.fixture(scope="session")
def informed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Makes a folder a home in which equal kernels differ by one per cent here, and that knows the baselines
    that any test of the session has compiled.

    Such homes are new in all else. Measuring noise and compiling baselines takes ten seconds and more in each, and on a
    busy machine noise is measured again every ten minutes.
    """
    own = tmp_path_factory.getbasetemp()
    known = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "known"

    def inform(home: Path) -> Path:
        for name in KNOWN:
            (known / name).mkdir(parents=True, exist_ok=True)
            (home / "cache").mkdir(parents=True, exist_ok=True)
            (home / "cache" / name).symlink_to(known / name)
        for name, floors in _floors().items():
            part = known / f"{name}.{os.getpid()}"
            part.write_text(floors)
            part.rename(known / "noise" / name)
        return home

    return inform


@cache
def _floors() -> dict[str, str]:
    """Of this machine's processor, of every size of call: names of files, and what they hold."""
    from kernwright.core.registry import reference
    from kernwright.core.resolve import resolve
    from kernwright.evaluation.timing.noise import kept_as
    from kernwright.platforms import TABLE

    platform = reference("platforms", TABLE, "cpu")
    here = resolve(platform)()
    machine = here.open(here.targets()[0]).machine()
    floor = {"at": time.time(), "log_ratios": SMALL}
    floors = json.dumps({str(decade): floor for decade in range(14)})
    return {kept_as(machine, threads, cold, platform): floors for threads in (1, 2) for cold in (True, False)}


@pytest.fixture
def home(informed: Callable[[Path], Path], tmp_path: Path) -> Path:
    """An informed home of this test alone."""
    return informed(tmp_path / "home")


@pytest.fixture(scope="module")
def zoo_judge(tmp_path_factory: pytest.TempPathFactory, informed: Callable[[Path], Path]) -> Iterator[Any]:
    """One judge for all members of the zoo that a file tests, which keeps baselines of their problems."""
    from zoo_judged import Zoo

    with closing(Zoo(informed(tmp_path_factory.mktemp("home")))) as one:
        yield one


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which equal kernels differ by one per cent, for judges of this process whose verdict on noise nobody
    asks for: a dozen processes for each size of call are left out, and on a busy machine again every ten minutes."""
    from kernwright.evaluation.timing.noise import NoiseFloor

    monkeypatch.setattr(NoiseFloor, "_measure", lambda *_: SMALL)


@pytest.fixture
def prepared() -> Iterator[Callable[..., Any]]:
    """Makes the setting of the only workload of a problem with this source; `more` are other fields of the problem."""
    from kernwright.core.problem import Problem, Workload
    from kernwright.evaluation.problem.place import HOST
    from kernwright.evaluation.problem.reference import Reference
    from kernwright.evaluation.problem.setting import prepare

    opened = []

    def make(source: str, place: Any = HOST, **more: Any) -> Any:
        problem = Problem(name="p", source=source, workloads=(Workload(name="w"),), **more)
        opened.append(Reference(problem, place=place))
        return prepare(opened[-1], problem.workloads[0], 0, random.Random(1), vary=True)

    yield make
    for reference in opened:
        reference.close()


@pytest.fixture(autouse=True, scope="module")
def _as_before() -> Iterator[None]:
    """A judge has its process keep freed memory and its thread keep off the core that it times on, for good."""
    cores = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, cores)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(int(os.environ.get("OMP_NUM_THREADS", len(cores))))
    if "kernwright.evaluation.judge" in sys.modules and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


class Quiet:
    """Keeps the other processes of pytest-xdist still while a judge times.

    It times under the machine's lease, alone. Tests hold a share of that, so that none of them runs meanwhile; one that
    is marked `alone` holds all of it. Those that are `judged` or `timed` leave the lease to their judge. What is timed
    follows one another in one process, with the quickest tests in the others, which seldom keep it waiting. A test that
    lacks the mark and has something timed waits for itself, until its limit of time ends it.
    """

    @cached_property
    def _lease(self) -> int:
        from kernwright.core.lease import open_lease  # not before coverage has begun

        return open_lease("cpu")

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)  # so that a test's limit of time begins when it has its share
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if item.get_closest_marker("timed") or item.get_closest_marker("judged"):
            yield
            return
        while self._is_wanted():  # who wants it alone would never get it from several that share it by turns
            time.sleep(LOOK_S)
        fcntl.flock(self._lease, fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH)
        yield
        fcntl.flock(self._lease, fcntl.LOCK_UN)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Judges work side by side, then what needs none; last what is timed, and the quickest beside it."""

        def place(file: str) -> int:
            if _has(config.rootpath / file, "judged"):
                return 0
            return 2 if _has(config.rootpath / file, "timed") else 3 if file.startswith("tests/null/") else 1

        lengths = Counter(_file(item.nodeid) for item in items)
        files = sorted(lengths, key=lambda file: (place(file), -lengths[file], file))
        order = {file: number for number, file in enumerate(files)}
        items.sort(key=lambda item: order[_file(item.nodeid)])

    def _is_wanted(self) -> bool:
        try:
            return re.search(rf"-> FLOCK .* WRITE .*:{os.fstat(self._lease).st_ino} ", LOCKS.read_text()) is not None
        except OSError:
            return False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Whole files to one process each, in their order, and all that have timed tests to the same one."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = _file(nodeid)
            return "timed" if _has(config.rootpath / file, "timed") else file

    config.option.loadscopereorder = False
    return ByFile(config, log)


@cache
def _has(file: Path, mark: str) -> bool:
    """Whether the file marks anything so; pytest-xdist's own process knows tests by nothing but their names."""
    return f"pytest.mark.{mark}" in file.read_text()


def _file(test: str) -> str:
    return test.partition("::")[0]


def pytest_configure(config: pytest.Config) -> None:
    # A script's background job ignores Ctrl-C, and so would all that tests start to send it that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        # OpenMP's threads spin while they wait for one that does not get a core: seconds become minutes.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        config.pluginmanager.register(Quiet(), "quiet")
