"""Nsight Compute: a small decisive set of counters for each kernel of one call.

Metrics: Nsight Compute documentation, "Metrics Reference", and the table of the CLI manual that translates nvprof's.
"""

import csv
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from kernwright.core.around import Around
from kernwright.core.profile import KernelProfile, Profile

from . import tools

MOST_LAUNCHES = 8
"""Each is replayed several times."""
LIMIT_S = 90.0
LARGEST_REPORT = 4 << 20
PERCENT = 0.01
METRICS: Mapping[str, tuple[str, float]] = {
    "gpu__time_duration.sum": ("time_ns", 1.0),
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": ("dram_busy", PERCENT),
    "dram__bytes_read.sum": ("dram_read_bytes", 1.0),
    "dram__bytes_write.sum": ("dram_written_bytes", 1.0),
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": ("l2_busy", PERCENT),
    "lts__t_sector_hit_rate.pct": ("l2_hits", PERCENT),
    "l1tex__t_sector_hit_rate.pct": ("l1_hits", PERCENT),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("core_busy", PERCENT),
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": ("tensor_busy", PERCENT),
    "sm__warps_active.avg.pct_of_peak_sustained_active": ("occupancy", PERCENT),
    "sm__maximum_warps_per_active_cycle_pct": ("occupancy_limit", PERCENT),
    "launch__registers_per_thread": ("registers", 1.0),
    "launch__occupancy_limit_registers": ("blocks_by_registers", 1.0),
    "launch__occupancy_limit_shared_mem": ("blocks_by_shared", 1.0),
    "launch__occupancy_limit_warps": ("blocks_by_threads", 1.0),
    "launch__block_size": ("threads", 1.0),
    "launch__grid_size": ("blocks", 1.0),
    "launch__waves_per_multiprocessor": ("waves", 1.0),
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct": ("loads_used", PERCENT),
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct": ("stores_used", PERCENT),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": ("bank_conflicts", 1.0),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": ("shared_wavefronts", 1.0),
    "smsp__inst_executed.sum": ("instructions", 1.0),
    "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct": ("stall_memory", PERCENT),
    "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct": ("stall_shared", PERCENT),
    "smsp__warp_issue_stalled_mio_throttle_per_warp_active.pct": ("stall_shared", PERCENT),
    "smsp__warp_issue_stalled_lg_throttle_per_warp_active.pct": ("stall_queue", PERCENT),
    "smsp__warp_issue_stalled_barrier_per_warp_active.pct": ("stall_sync", PERCENT),
    "smsp__warp_issue_stalled_membar_per_warp_active.pct": ("stall_sync", PERCENT),
    "smsp__warp_issue_stalled_math_pipe_throttle_per_warp_active.pct": ("stall_math", PERCENT),
    "smsp__warp_issue_stalled_wait_per_warp_active.pct": ("stall_wait", PERCENT),
    "smsp__warp_issue_stalled_no_instruction_per_warp_active.pct": ("stall_fetch", PERCENT),
}
"""Ours by theirs; two that have the same name are added up."""
PLAIN = (
    "gpu__time_duration.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "launch__registers_per_thread",
    "launch__block_size",
    "launch__grid_size",
)
"""What every architecture has, for one on which a name of the others is not known."""
_SHARES = frozenset(name for name, scale in METRICS.values() if scale == PERCENT)
_SUMMED = frozenset({"time_ns", "dram_bytes", "bank_conflicts", "shared_wavefronts", "instructions"})
_UNITS = {
    "usecond": 1e3, "msecond": 1e6, "second": 1e9, "us": 1e3, "ms": 1e6, "s": 1e9,
    "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "KB": 1e3, "MB": 1e6, "GB": 1e9,
}  # fmt: skip
"""Where `--print-units base` is not obeyed."""
_PARAMETERS, _VERSION = Path("/proc/driver/nvidia/params"), Path("/proc/driver/nvidia/version")
PERFMON_DRIVER = 565
"""From here on CAP_PERFMON is right enough: developer.nvidia.com/ERR_NVGPUCTRPERM."""
CLOSED = (
    "the driver shows counters to administrators alone, and candidates run without their rights; open them with the "
    "driver's module option NVreg_RestrictProfilingToAdminUsers=0"
)


def around() -> Around:
    """The command, and one with fewer metrics.

    Raises:
        Silent: it is not installed, or not permitted.
    """
    program = Path(_program())
    restricted = _is_restricted()
    if restricted and not (os.geteuid() == 0 and _driver() >= PERFMON_DRIVER):
        raise tools.Silent(CLOSED)
    return Around(
        command=_command(program, METRICS),
        otherwise=_command(program, PLAIN),
        readable=_folders(program),
        counters=restricted,
        limit_s=LIMIT_S,
    )


def _command(program: Path, metrics: Iterable[str]) -> tuple[str, ...]:
    return (
        *(str(program), "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics)),
        *("--clock-control", "none", "--cache-control", "all", "--replay-mode", "kernel"),
        *("--profile-from-start", "off", "--target-processes", "all", "--launch-count", str(MOST_LAUNCHES)),
        *("--log-file", "{report}"),
    )


def _program() -> str:
    """Its own folder's before the toolkit's, which looks for that folder and finds it nowhere inside a confinement."""
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    newest = sorted(Path("/opt/nvidia/nsight-compute").glob("*"), reverse=True)
    own = next((str(path) for folder in newest if (path := folder / "ncu").is_file()), "")
    return own or tools.place_of("ncu", (toolkit / "bin",))


def _folders(program: Path) -> tuple[Path, ...]:
    """What the program needs beside itself: it is a script, or a link, into the folder that it was installed to."""
    places = [program.parent, program.resolve().parent, *Path("/opt/nvidia/nsight-compute").glob("*")]
    beside = [place.parent for place in places if place.name == "bin"]
    installed = [each for place in beside for each in place.glob("nsight-compute*")]
    return tuple(dict.fromkeys(path for path in (*places, *installed) if path.is_dir() and str(path) != "/usr/bin"))


def _is_restricted() -> bool:
    """Whether the driver shows counters only to who has the right to them."""
    try:
        return bool(re.search(r"^RmProfilingAdminOnly:\s*1", _PARAMETERS.read_text(), re.MULTILINE))
    except OSError:
        return False


def _driver() -> int:
    """Its version's first number; 0 where that is not told."""
    try:
        found = re.search(r"Kernel Module.*?\s(\d{3,4})\.\d+", _VERSION.read_text())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def profile_of(report: str) -> Profile:
    """Of what the program wrote: CSV with a line of names, one of units, and one for each launch.

    Raises:
        Silent: it says that it may not, or nothing that can be read.
    """
    lines = report[:LARGEST_REPORT].splitlines()
    errors = [line.partition("==ERROR==")[2].strip() for line in lines if line.startswith("==ERROR==")]
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        if any("ERR_NVGPUCTRPERM" in line for line in errors):
            raise tools.Silent(CLOSED)
        last = next((f", but last: {line.strip()[:200]}" for line in reversed(lines) if line.strip()), "")
        raise tools.Silent(errors[0][:200] if errors else f"it wrote no table{last}")
    table = [line for line in lines[start:] if not line.startswith("==")]
    try:
        rows = list(csv.reader(table))
    except csv.Error as error:
        raise tools.Silent(f"its table cannot be read ({error})") from None
    if len(rows) < 3 or "Kernel Name" not in rows[0]:
        raise tools.Silent(errors[0][:200] if errors else "it saw no kernel")
    names, units = rows[0], rows[1]
    launches = [row for row in rows[2 : 2 + MOST_LAUNCHES] if len(row) == len(names) == len(units)]
    if not launches:
        raise tools.Silent("its table has no whole line")
    return together(_kernel(names, units, row) for row in launches)


def _kernel(names: list[str], units: list[str], row: list[str]) -> KernelProfile:
    counters: dict[str, float] = {}
    for name, unit, text in zip(names, units, row, strict=True):
        if name not in METRICS or (value := _number(text)) is None:
            continue
        ours, scale = METRICS[name]
        scaled = value * scale * (_UNITS.get(unit, 1.0) if scale == 1.0 else 1.0)
        counters[ours] = counters.get(ours, 0.0) + scaled
    read, written = counters.pop("dram_read_bytes", None), counters.pop("dram_written_bytes", None)
    if read is not None and written is not None:
        counters["dram_bytes"] = read + written
    return KernelProfile(name=tools.plain(row[names.index("Kernel Name")]), counters=counters)


def together(kernels: Iterable[KernelProfile]) -> Profile:
    """Sums of what adds up; of shares and sizes those of the kernels by their time, the longest by name."""
    kernels = tuple(kernels)
    whole = sum(kernel.counters.get("time_ns", 0.0) for kernel in kernels) or 1.0
    counters: dict[str, float] = {}
    for kernel in kernels:
        part = kernel.counters.get("time_ns", 0.0) / whole
        for name, value in kernel.counters.items():
            if name in _SUMMED:
                counters[name] = counters.get(name, 0.0) + value
            elif name in _SHARES:
                counters[name] = counters.get(name, 0.0) + value * part
    longest = max(kernels, key=lambda kernel: kernel.counters.get("time_ns", 0.0))
    others = {name: value for name, value in longest.counters.items() if name not in counters}
    counters.pop("time_ns", None)  # of replays, one by one: no time of a call
    return Profile(tools=("Nsight Compute",), counters=counters | others, kernels=kernels)


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if value - value == 0 and value >= 0 else None
