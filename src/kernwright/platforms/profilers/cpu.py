"""Looks at code on a processor: disassembly, the compiler's report, counters and PyTorch's own operators."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kernwright.core.around import Around
from kernwright.core.profile import KernelProfile, Profile, joined

from . import cpu_code, cpu_counters, cpu_report, tools

_LEVEL_BITS = {"x86-64-v4": 512.0, "x86-64-v3": 256.0, "x86-64-v2": 128.0, "x86-64-v1": 128.0}
MOST_OPERATORS = 8


class Cpu:
    """The trusted half: what is counted from outside."""

    name = "cpu"
    inside = "kernwright.platforms.profilers.cpu:CpuInside"

    def peaks(self, target: str) -> Mapping[str, float]:
        """None are told: the roof of the memory is the copy that the judge times."""
        return {}

    def count(self, threads: Sequence[int], work: Callable[[int], None], calls: int) -> Profile:
        """`work(calls)` and `work(2 * calls)`: the difference is what calls alone did."""
        short, _ = cpu_counters.counted(threads, lambda: work(calls))
        long, refused = cpu_counters.counted(threads, lambda: work(2 * calls))
        return cpu_counters.profile_of(short, long, refused, calls)

    def around(self, target: str) -> Around | str:
        """Nothing."""
        return ""

    def read(self, report: str) -> Profile:
        raise NotImplementedError("nothing runs around a call on a processor")


class CpuInside:
    """What runs where the candidate does."""

    def look(self, built: Path, target: str, again: cpu_report.Again) -> Profile:
        """Its machine code, and what the compiler says of its loops."""
        bits = _LEVEL_BITS.get(target.partition(":")[2])
        parts = [Profile(counters={} if bits is None else {"vector_bits_possible": bits})]
        looks: dict[str, Callable[[], Profile]] = {
            "machine code": lambda: cpu_code.look(built),
            "vectorisation report": lambda: cpu_report.look(again, built.parent / "again"),
        }
        for tool, one in looks.items():
            try:
                parts.append(one())
            except tools.Silent as silent:
                parts.append(Profile(missing=(f"{tool}: {silent}",)))
        return joined(parts)

    def trace(self, call: Callable[[], object], folder: Path) -> Profile:
        """PyTorch's own operators that a call uses, by their share of the time."""
        from torch.profiler import ProfilerActivity, profile

        call()
        with profile(activities=[ProfilerActivity.CPU]) as seen:
            call()
        events = seen.key_averages()
        spent = {each.key: (float(each.self_cpu_time_total) * 1e3, float(each.count)) for each in events}
        longest = sorted(spent, key=lambda name: -spent[name][0])[:MOST_OPERATORS]
        kernels = tuple(
            KernelProfile(name=tools.plain(name), counters={"time_ns": spent[name][0], "launches": spent[name][1]})
            for name in longest
            if spent[name][0] > 0
        )
        return Profile(tools=("torch profiler",), kernels=kernels)

    def marked(self, call: Callable[[], object]) -> None:
        call()
