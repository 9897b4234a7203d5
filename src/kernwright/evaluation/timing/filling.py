"""Which code of vendors' libraries fills memory, and does nothing else: learnt from processes of the judge's own.

To make a tensor of one number is no kernel's work, but on a slow machine it may take most of a call. How long it takes
there cannot be left out: another operator would pass for it. The code can be: it has no operand to read.
"""

import json
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

import torch

from kernwright.core.candidate import SourceFile
from kernwright.core.digest import digest
from kernwright.core.plan import PATIENCE, Plan
from kernwright.evaluation.alone import alone, put
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.participants.workshop import Workshop

from .places import found_again, is_vendor, kept, running

_EACH_DTYPE = """\
import contextlib
import signal

import torch

stops = 0


def count(number, frame):
    global stops
    stops += 1


signal.signal(signal.SIGCONT, count)


def repeat(call, looks):
    with contextlib.suppress(Exception):  # not for each dtype
        end = stops + looks
        while stops < end:
            call()


one, other, out = (torch.frombuffer(bytearray(b"\\1") * (MIB << 20), dtype=torch.uint8) for _ in range(3))
for dtype in {each for each in vars(torch).values() if isinstance(each, torch.dtype)}:
    with contextlib.suppress(Exception):
        a, b, c = (each.view(dtype) for each in (one, other, out))
"""
"""However busy the machine is, each call is looked into as often: it is told to go on after each look."""
FILL = f"""\
MIB = 16  # so that what comes before each fill is short beside it
{_EACH_DTYPE}\
        repeat(lambda: c.fill_(1), 12)
        repeat(lambda: c[: 1 << 20 : 3].fill_(1), 4)
"""
COMPUTE = f"""\
MIB = 1
{_EACH_DTYPE}\
        for x, y, z in ((a, b, c), (a[::2], b[::2], c[::2])):
            repeat(lambda: z.copy_(x), 2)
            repeat(lambda: z.copy_(x[:1].expand_as(z)), 2)
            repeat(lambda: torch.neg(x, out=z), 2)
            repeat(lambda: torch.add(x, y, out=z), 2)
            repeat(lambda: z.masked_fill_(x == y, 1), 2)
"""
"""What is as like to a fill as anything that computes. None of it fills."""
LEAST = 8
"""Looks that make a function one that fills; what comes before has fewer, of all dtypes together."""
APART_NS, PAUSE_S = 200_000, 0.0005
"""Processor time between two looks, else one that is not let run is found where it was."""


def filling(shop: Workshop, plan: Plan, home: Path) -> frozenset[int]:
    """Functions of vendors' libraries, by their addresses here, that were seen where memory is filled and nowhere else.

    Learnt once for a home, a machine and these libraries. Empty where that cannot be told, as where nobody may look
    into a process.
    """
    if shop.filling is None:
        with suppress(Ended):  # it concerns no candidate
            shop.filling = _found_again(path := _path(shop, home)) or _learnt(shop, plan, path)
    return shop.filling or frozenset()


def _path(shop: Workshop, home: Path) -> Path:
    return home / "cache" / "filling" / f"{digest((shop.machine, torch.__file__, torch.__version__))}.json"


def _found_again(path: Path) -> frozenset[int]:
    """Empty where nobody has learnt it, or from other files than those of this process."""
    try:
        functions = [found_again((name, *numbers)) for name, *numbers in json.loads(path.read_text())]
    except (OSError, ValueError, TypeError):
        return frozenset()
    known = frozenset(function for function in functions if function is not None)
    return known if len(known) == len(functions) else frozenset()


def _learnt(shop: Workshop, plan: Plan, path: Path) -> frozenset[int]:
    with alone(path):
        if known := _found_again(path):  # by now another process may have
            return known
        functions = _only_filling(*(_functions(shop, plan, text) for text in (FILL, COMPUTE)))
        code = [kept(function) for function in functions]
        if code and None not in code:
            put(path, code)
    return functions


def _only_filling(fill: Counter[int], compute: Counter[int]) -> frozenset[int]:
    return frozenset(function for function, looks in fill.items() if looks >= LEAST and function not in compute)


def _functions(shop: Workshop, plan: Plan, text: str) -> Counter[int]:
    """Where the process was seen at work while it imported this."""
    found: Counter[int] = Counter()
    main = SourceFile(name="main.py", text=text)
    with shop.runner("filling", (main,), plan, loads=False) as participant:
        message = {"op": "load", "main": main.name, "emulate": None}
        participant.ask("load", message, PATIENCE * plan.limits.load_s, sent=partial(_watch, participant, found))
    return found


def _watch(participant: Participant, found: Counter[int]) -> None:
    runner, looked_ns = participant.runner, 0.0
    while not runner.replied():
        if runner.cpu_ns() - looked_ns < APART_NS:
            time.sleep(PAUSE_S)
            continue
        participant.freeze()
        found.update(at.function for at in running(runner.init_pid) if is_vendor(at.path) and at.function is not None)
        looked_ns = runner.cpu_ns()
        runner.thaw()
