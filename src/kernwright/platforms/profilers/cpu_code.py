"""A processor's machine code as it was compiled: what kinds of instructions its loops have, by `objdump`."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kernwright.core.profile import KernelProfile, Profile

from . import tools

MOST_LIBRARIES, MOST_FUNCTIONS = 8, 8
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(?:(?:lock|rep|repz|repnz|bnd|notrack) )*([a-z][a-z0-9.]*)\s*(.*)$")
_TARGET = re.compile(r"^([0-9a-f]+) <")
_RUNTIME = re.compile(r"@plt|^(?:_init|_fini|_start|deregister_tm|register_tm|__do_global|frame_dummy|\.plt)")
_ARITHMETIC = r"^v?(?:add|sub|mul|div|max|min|sqrt|addsub|dp|rcp14|rsqrt14|fn?m(?:add|sub|addsub|subadd)\d*)"
_PACKED = re.compile(_ARITHMETIC + r"p[sdh]$")
_SCALAR = re.compile(_ARITHMETIC + r"s[sdh]$")
_PACKED_INTEGER = re.compile(r"^v?p(?:add|sub|mul|madd|max|min|dp|sad|abs)")
_BRANCH = re.compile(r"^j[a-z]+$|^loop")
_MOVE = re.compile(r"^v?mov|^v?p?broadcast|^v?(?:insert|extract|shuf|perm|unpck|pshuf|palign|blend)")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line of a listing."""

    address: int
    name: str
    operands: str


def look(built: Path) -> Profile:
    """Every function of a build's libraries.

    Raises:
        Silent: there is none, or nothing to read it with.
    """
    libraries = sorted(built.rglob("*.so"), key=lambda path: -path.stat().st_size)[:MOST_LIBRARIES]
    if not libraries:
        raise tools.Silent("the build left no machine code of its own")
    reader = tools.place_of("objdump")
    kernels: list[KernelProfile] = []
    for library in libraries:
        text = tools.said([reader, "-d", "--no-show-raw-insn", "-j", ".text", str(library)])
        kernels += kernels_of(text.splitlines())
    kernels.sort(key=lambda kernel: -sum(kernel.opcodes.values()))
    return together(kernels)


def kernels_of(listing: Iterable[str]) -> list[KernelProfile]:
    """One for each function that does arithmetic, by what is in its loops, or in all of it where it has none."""
    found = []
    for name, instructions in _functions(listing):
        inner = list(_looping(instructions)) or instructions
        kinds = Counter(kind for each in inner if (kind := kind_of(each)))
        if any(kind.startswith(("vector", "scalar", "integer vector")) for kind in kinds):
            counters = {"code_instructions": float(len(instructions))}
            opcodes = {kind: float(count) for kind, count in kinds.items()}
            found.append(KernelProfile(name=tools.plain(name), counters=counters | _shares(opcodes), opcodes=opcodes))
    return found


def kind_of(instruction: Instruction) -> str:
    """`vector 512`, `scalar`, `gather`, `call`, ...; empty for what says nothing."""
    name, operands = instruction.name, instruction.operands
    if "gather" in name or "scatter" in name:
        return "gather"
    if name.startswith("call"):
        return "call"
    if _BRANCH.match(name):
        return "branch"
    packed = _PACKED.match(name)
    if (packed or _SCALAR.match(name)) and re.search(r"div|sqrt", name):
        return "division"
    if packed:
        return f"vector {_bits(operands)}"
    if _SCALAR.match(name):
        return "scalar"
    if _PACKED_INTEGER.match(name):
        return f"integer vector {_bits(operands)}"
    if "cvt" in name:
        return "conversion"
    if name == "nop" or name.startswith("nop"):
        return ""
    return "move" if _MOVE.match(name) else "other"


def together(kernels: list[KernelProfile]) -> Profile:
    """All functions as one; the largest of them by name."""
    opcodes: Counter[str] = Counter()
    for kernel in kernels:
        opcodes.update(kernel.opcodes)
    total = sum(kernel.counters["code_instructions"] for kernel in kernels)
    counters = {"code_instructions": total, **_shares(dict(opcodes))} if kernels else {}
    kept = tuple(kernels[:MOST_FUNCTIONS])
    return Profile(tools=("machine code",), counters=counters, kernels=kept, opcodes=dict(opcodes))


def _shares(opcodes: dict[str, float]) -> dict[str, float]:
    """An instruction on vectors counts as often as it has 32-bit lanes, so that a vector loop outweighs its tail."""
    widths = {kind: int(kind.split()[-1]) for kind in opcodes if kind.startswith(("vector ", "integer vector "))}
    lanes = sum(opcodes[kind] * bits / 32 for kind, bits in widths.items())
    scalar = opcodes.get("scalar", 0.0)
    found = {name: opcodes.get(kind, 0.0) for name, kind in _COUNTED}
    if lanes + scalar:
        found["vector_share"] = lanes / (lanes + scalar)
    return found | ({"vector_bits": float(max(widths.values()))} if widths else {})


_COUNTED = (("gathers", "gather"), ("divisions", "division"), ("calls", "call"))


def _bits(operands: str) -> int:
    return 512 if "%zmm" in operands else 256 if "%ymm" in operands else 128


def _functions(listing: Iterable[str]) -> Iterator[tuple[str, list[Instruction]]]:
    name, inside = "", list[Instruction]()
    for line in listing:
        if function := _FUNCTION.match(line):
            if inside and not _RUNTIME.search(name):
                yield name, inside
            name, inside = function[1], []
        elif found := _INSTRUCTION.match(line):
            inside.append(Instruction(int(found[1], 16), found[2], found[3]))
    if inside and not _RUNTIME.search(name):
        yield name, inside


def _looping(instructions: list[Instruction]) -> Iterator[Instruction]:
    """What stands in loops that hold no other loop."""
    loops = []
    for each in instructions:
        target = _TARGET.match(each.operands) if _BRANCH.match(each.name) else None
        if target and instructions[0].address <= int(target[1], 16) <= each.address:
            loops.append((int(target[1], 16), each.address))
    inner = [
        (start, end)
        for start, end in loops
        if not any((start, end) != other and start <= other[0] and other[1] <= end for other in loops)
    ]
    spans = sorted(set(inner))
    at = 0
    for each in instructions:
        while at < len(spans) and each.address > spans[at][1]:
            at += 1
        if at < len(spans) and spans[at][0] <= each.address:
            yield each
