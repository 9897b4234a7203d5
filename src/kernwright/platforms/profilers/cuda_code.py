"""NVIDIA machine code as it was compiled: resources of each kernel, and what kinds of instructions it has.

By `cuobjdump` and `nvdisasm`, which need no device: CUDA Binary Utilities documentation, "Instruction Set Reference".
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from kernwright.core.profile import KernelProfile, Profile

from . import tools
from .cuda_limits import RESERVED_BYTES, Launch, Limits, limits_of, occupancy

MOST_CUBINS, MOST_KERNELS = 24, 12
_FUNCTION = re.compile(r"^\.text\.(\S+):$")
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)")
_USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
_INFO = re.compile(r"^\.nv\.info\.(\S+)")
_THREADS = re.compile(
    r"EIATTR_(?:REQNTID|MAX_THREADS)\s+Format:\s+\S+\s+Value:\s+0x([0-9a-f]+) 0x([0-9a-f]+) 0x([0-9a-f]+)"
)
_TENSOR = re.compile(r"^(?:UTC)?[HIDBQO]G?MMA")
_KINDS: tuple[tuple[str, str], ...] = (
    ("LDGSTS", "async copy"),
    ("UBLKCP", "async copy"),
    ("UTMA", "async copy"),
    ("LDL", "local"),
    ("STL", "local"),
    ("LDS", "shared"),
    ("STS", "shared"),
    ("LDSM", "shared"),
    ("STSM", "shared"),
    ("ATOM", "atomic"),
    ("RED", "atomic"),
    ("MUFU", "special function"),
    ("FCHK", "special function"),
    ("SHFL", "shuffle"),
    ("VOTE", "shuffle"),
    ("BAR", "barrier"),
    ("SYNCS", "barrier"),
    ("MEMBAR", "barrier"),
    ("WARPGROUP", "barrier"),
    ("DEPBAR", "barrier"),
    ("F2", "conversion"),
    ("I2", "conversion"),
    ("FRND", "conversion"),
    ("DADD", "float64"),
    ("DMUL", "float64"),
    ("DFMA", "float64"),
    ("HADD", "float16"),
    ("HMUL", "float16"),
    ("HFMA", "float16"),
    ("HMNMX", "float16"),
    ("HSET", "float16"),
    ("FADD", "float32"),
    ("FMUL", "float32"),
    ("FFMA", "float32"),
    ("FMNMX", "float32"),
    ("FSET", "float32"),
    ("FSEL", "float32"),
    ("BRA", "branch"),
    ("BSSY", "branch"),
    ("BSYNC", "branch"),
    ("CALL", "branch"),
    ("RET", "branch"),
    ("EXIT", "branch"),
    ("MOV", "move"),
    ("CS2R", "move"),
    ("S2", "move"),
    ("SEL", "move"),
    ("PRMT", "move"),
    ("R2", "move"),
    ("LDC", "constant"),
    ("ULDC", "constant"),
    ("I", "integer"),
    ("LEA", "integer"),
    ("LOP", "integer"),
    ("SHF", "integer"),
    ("VIADD", "integer"),
    ("SGXT", "integer"),
    ("U", "uniform"),
)
"""The first that an instruction's name begins with; what is none of them is `other`."""


def look(built: Path, target: str) -> Profile:
    """Every kernel of a build's artefacts.

    Raises:
        Silent: there is no such code, or nothing to read it with.
    """
    cubins = sorted(built.rglob("*.cubin"), key=lambda path: -path.stat().st_size)[:MOST_CUBINS]
    if not cubins:
        raise tools.Silent("the build left no machine code for a GPU")
    folders = (Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin",)
    lister, reader = (tools.place_of(name, folders) for name in ("nvdisasm", "cuobjdump"))
    kernels: list[KernelProfile] = []
    for cubin in cubins:
        opcodes = opcodes_of(tools.said([lister, "-c", str(cubin)]).splitlines())
        usage = usage_of(tools.said([reader, "-res-usage", str(cubin)]), target)
        threads = threads_of(tools.said([reader, "-elf", str(cubin)]).splitlines())
        told = _told(cubin)
        for name, resources in usage.items():
            counters = _with_launch(resources, threads.get(name, 0) or told.get("threads", 0), told, limits_of(target))
            kernels.append(profile_of(name, counters, opcodes.get(name, {})))
    return together(_told_apart(kernels)[:MOST_KERNELS])


def _told_apart(kernels: list[KernelProfile]) -> list[KernelProfile]:
    """Variants of a kernel for other shapes or types by a number; those that are the same code once."""
    found: dict[str, list[KernelProfile]] = {}
    for kernel in kernels:
        same = found.setdefault(kernel.name, [])
        if all((kernel.counters, kernel.opcodes) != (other.counters, other.opcodes) for other in same):
            same.append(kernel)
    numbered = {name: enumerate(same, 1) for name, same in found.items()}
    every = [(n, k) for same in numbered.values() for n, k in same]
    every.sort(key=lambda item: -item[1].counters.get("code_instructions", 0.0))
    return [k if n == 1 else replace(k, name=f"{k.name} #{n}") for n, k in every]


def opcodes_of(listing: Iterable[str]) -> dict[str, dict[str, float]]:
    """By function, how many instructions of each kind a listing of `nvdisasm -c` has."""
    found: dict[str, Counter[str]] = {}
    inside: Counter[str] = Counter()
    for line in listing:
        if function := _FUNCTION.match(line):
            inside = found.setdefault(function[1], Counter())
        elif (instruction := _INSTRUCTION.match(line)) and (kind := kind_of(instruction[1])):
            inside[kind] += 1
    return {name: {kind: float(count) for kind, count in counts.items()} for name, counts in found.items()}


def kind_of(opcode: str) -> str:
    """`global 128`, `tensor HGMMA`, `shared`, ...; empty for what does nothing."""
    name, *modifiers = opcode.split(".")
    if name in ("NOP", "LDGDEPBAR"):
        return ""
    if _TENSOR.match(name):
        return f"tensor {name}"
    if name in ("LDG", "STG", "LD", "ST"):
        wide = next((m for m in modifiers if m in ("128", "256", "64")), "32")
        return f"global {wide}"
    return next((kind for prefix, kind in _KINDS if name.startswith(prefix)), "other")


def usage_of(text: str, target: str) -> dict[str, dict[str, float]]:
    """By function, registers, shared and spilled bytes, of `cuobjdump -res-usage`."""
    limits = limits_of(target)
    # Since compute capability 9.0 the figure holds what the system takes.
    reserved = RESERVED_BYTES if limits is not None and limits.shared_bytes >= 228 << 10 else 0
    found = {}
    for name, registers, stack, shared, local in _USAGE.findall(text):
        found[name] = {
            "registers": float(registers),
            "spill_bytes": float(stack) + float(local),
            "shared_bytes": max(0.0, float(shared) - reserved),
        }
    return found


def threads_of(listing: Iterable[str]) -> dict[str, int]:
    """By function, the threads of a block where the code says so, of `cuobjdump -elf`."""
    found: dict[str, int] = {}
    name, block = "", ""
    for line in listing:
        if section := _INFO.match(line):
            name, block = section[1], ""
        elif name:
            block = (block + line + "\n")[-400:]
            if said := _THREADS.search(block):
                x, y, z = (int(part, 16) for part in said.groups())
                found[name] = x * y * z
                name = ""
    return found


def profile_of(name: str, counters: Mapping[str, float], opcodes: Mapping[str, float]) -> KernelProfile:
    """With what follows from the kinds of instructions."""
    total = sum(opcodes.values())
    wide = sum(opcodes.get(kind, 0.0) for kind in ("global 128", "global 256", "async copy"))
    narrow = sum(opcodes.get(kind, 0.0) for kind in ("global 32", "global 64"))
    derived = {
        "code_instructions": total,
        "local_accesses": opcodes.get("local", 0.0),
        "tensor_instructions": sum(count for kind, count in opcodes.items() if kind.startswith("tensor")),
    }
    if wide + narrow:
        derived["wide_share"] = wide / (wide + narrow)
    known = {**counters, **(derived if total else {})}
    return KernelProfile(name=tools.plain(name), counters=known, opcodes=dict(opcodes))


_LEAST = frozenset({"occupancy_limit", "wide_share", "blocks_by_registers", "blocks_by_shared", "blocks_by_threads"})
_SUMMED = frozenset({"code_instructions", "local_accesses", "tensor_instructions"})


def together(kernels: Iterable[KernelProfile]) -> Profile:
    """Counters of all: sums of counts, the least occupancy, the most of everything else."""
    kernels = tuple(kernels)
    counters: dict[str, float] = {}
    opcodes: Counter[str] = Counter()
    for kernel in kernels:
        opcodes.update(kernel.opcodes)
        for name, value in kernel.counters.items():
            old = counters.get(name)
            joined = min if name in _LEAST else max
            counters[name] = value if old is None else old + value if name in _SUMMED else joined(old, value)
    return Profile(tools=("machine code",), counters=counters, kernels=kernels, opcodes=dict(opcodes))


def _with_launch(
    resources: dict[str, float], threads: float, told: Mapping[str, float], limits: Limits | None
) -> dict[str, float]:
    shared = resources["shared_bytes"] + told.get("shared_bytes", 0.0)
    counters = resources | {"shared_bytes": shared}
    if threads:
        counters["threads"] = float(threads)
        if limits is not None:
            launch = Launch(threads=int(threads), registers=int(resources["registers"]), shared_bytes=int(shared))
            counters |= occupancy(limits, launch)
    return counters


def _told(cubin: Path) -> dict[str, float]:
    """What a compiler wrote down beside the code: warps and dynamic shared memory of a launch."""
    beside = cubin.with_suffix(".json")
    try:
        told = json.loads(beside.read_text()) if beside.stat().st_size < 1 << 20 else {}
    except (OSError, ValueError):
        return {}
    numbers = {name: told.get(name) for name in ("num_warps", "shared")} if isinstance(told, dict) else {}
    sane = {name: float(n) for name, n in numbers.items() if isinstance(n, int) and 0 <= n < 1 << 24}
    return {
        "threads": 32 * sane.get("num_warps", 0.0),
        "shared_bytes": sane.get("shared", 0.0),
    }
